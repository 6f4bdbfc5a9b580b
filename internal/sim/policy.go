package sim

import "math/rand/v2"

// policy picks who steps next. ready is not empty and in the order in which
// the steppers were started.
type policy interface {
	name() string
	pick(ready []*runner) *runner
}

// drawPolicy draws one of the policies and its parameters.
func drawPolicy(r *rand.Rand) policy {
	switch r.IntN(5) {
	case 0:
		return &uniform{r}
	case 1:
		return &priorities{r: r, changes: 1 + r.IntN(20)}
	case 2:
		return &starve{r: r, every: 50 + r.IntN(2000)}
	case 3:
		return &bursts{r: r, mean: 2 + r.IntN(60)}
	}
	return &turns{}
}

// uniform gives everybody the same chance.
type uniform struct{ r *rand.Rand }

func (p *uniform) name() string                 { return "uniform" }
func (p *uniform) pick(ready []*runner) *runner { return ready[p.r.IntN(len(ready))] }

// priorities always steps the most important one that can be stepped, and now
// and then makes the one it has picked the least important. It finds bugs that
// need few changes of order (PCT: Burckhardt et al., ASPLOS 2010).
type priorities struct {
	r       *rand.Rand
	changes int   // in each 1000 steps
	lowest  int64 // below all that was given out
}

func (p *priorities) name() string { return "priorities" }

func (p *priorities) pick(ready []*runner) *runner {
	best := ready[0]
	for _, c := range ready {
		if c.priority == 0 {
			c.priority = 1 + p.r.Int64N(1<<40)
		}
		if c.priority > best.priority {
			best = c
		}
	}
	if p.r.IntN(1000) < p.changes {
		p.lowest--
		best.priority = p.lowest
	}
	return best
}

// starve keeps one back as long as another can be stepped, and the next one
// after some time.
type starve struct {
	r     *rand.Rand
	every int
	left  int
	back  *runner
}

func (p *starve) name() string { return "starve" }

func (p *starve) pick(ready []*runner) *runner {
	if p.left == 0 {
		p.left, p.back = p.every, ready[p.r.IntN(len(ready))]
	}
	p.left--
	c := ready[p.r.IntN(len(ready))]
	for c == p.back && len(ready) > 1 {
		c = ready[p.r.IntN(len(ready))]
	}
	return c
}

// bursts steps one many times in a row.
type bursts struct {
	r    *rand.Rand
	mean int
	last *runner
}

func (p *bursts) name() string { return "bursts" }

func (p *bursts) pick(ready []*runner) *runner {
	if p.last == nil || p.r.IntN(p.mean) == 0 {
		p.last = ready[p.r.IntN(len(ready))]
		return p.last
	}
	for _, c := range ready {
		if c == p.last {
			return c
		}
	}
	p.last = ready[p.r.IntN(len(ready))]
	return p.last
}

// turns steps one after the other, as a fair machine would.
type turns struct{ last int }

func (p *turns) name() string { return "turns" }

func (p *turns) pick(ready []*runner) *runner {
	next := ready[0]
	for _, c := range ready {
		if c.index > p.last {
			next = c
			break
		}
	}
	p.last = next.index
	return next
}
