package table

// freezer is the part of a core that freezes views.
type freezer struct {
	cur  tag // the phase of writes from now on
	view view
}

type view struct {
	active bool
	seq    uint32
}

func (f *freezer) init() { f.cur = phaseOne }

func (c *core) beforeWrite(s *segment, i uint32) {}

func (c *core) finish(s *segment) {}

// touch is the first write to slot i in the current phase.
func (c *core) touch(s *segment, i uint32) {
	c.beforeWrite(s, i)
	g := tagAt(s.base, i)
	*g = *g&^born | c.cur
	s.dirty |= c.cur
}

func (c *core) delete(s *segment, i uint32) { c.remove(s, i) }
