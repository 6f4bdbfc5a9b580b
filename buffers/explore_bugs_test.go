//go:build race || invariants

package buffers

import "testing"

// TestBugsPlantedInTheLinkAreFound replaces one part at a time by one that is
// wrong in a way that a test with real threads would rarely or never see.
func TestBugsPlantedInTheLinkAreFound(t *testing.T) {
	for _, bug := range []struct {
		name, words string
		plant       func(c *linkCode)
	}{
		{"marks are read before writeSeq", "something overtook it", func(c *linkCode) { c.look = lookMarksFirst }},
		{"marks are read before the end of data and closed", "something overtook it", func(c *linkCode) { c.look = lookEndLast }},
		{"elements pushed after the look are taken", "something overtook it", func(c *linkCode) { c.look = lookAgainLater }},
		{"slots are searched for marks without newest", "was seen before mark", func(c *linkCode) { c.look = lookSlotBySlot }},
		{"the id is not read again", "was seen as", func(c *linkCode) { c.look = lookOnce }},
		{"the id of the old mark stays while its place is written", "was seen as", func(c *linkCode) { c.mark = markOverwrites }},
		{"the id is written before the positions", "was seen as", func(c *linkCode) { c.mark = markIDFirst }},
		{"the mark comes after the next element", "something overtook it", plantLateMark},
		{"what is held back does not count", "was seen as", func(c *linkCode) {
			c.mark = func(l *parcels, id uint64, _ int) { l.PublishMark(id, 0) }
		}},
		{"the end of data takes no position", "was seen as", func(c *linkCode) { c.mark = markAtEnd }},
		{"the end of data comes before the last element", "behind the end of data", plantEarlyEnd},
		{"a buffer is given back before it is read", "was filled again", func(c *linkCode) {
			c.giveBack = func(l *parcels, b *buf, read func()) {
				l.GiveBack(b)
				read()
			}
		}},
	} {
		code := realLink
		bug.plant(&code)
		var scripts []script
		for _, p := range programs {
			for _, capacity := range []int{1, 2} {
				scripts = append(scripts, linkScript(code, capacity, 0, p.program, p.looks))
			}
		}
		mustBreak(t, bug.name, bug.words, reduced, scripts...)
	}
}

func lookMarksFirst(l *parcels, after uint64) (s Sight) {
	l.side.look(&s, after)
	s.WriteSeq = l.data.Look()
	return s
}

func lookEndLast(l *parcels, after uint64) Sight {
	s := l.Look(after)
	at(load, &l.side.endSeq)
	s.EndSeq, s.Ended = l.side.end()
	at(load, &l.side.closed)
	s.Closed = l.side.closed.Load()
	return s
}

func lookAgainLater(l *parcels, after uint64) Sight {
	s := l.Look(after)
	s.WriteSeq = l.data.Look()
	return s
}

func lookSlotBySlot(l *parcels, after uint64) (s Sight) {
	s.WriteSeq = l.data.Look()
	at(load, &l.side.endSeq)
	s.EndSeq, s.Ended = l.side.end()
	for id := after + 1; id <= after+Window; id++ {
		if m, ok := l.side.marks[id%Window].read(id); ok {
			s.marks[s.count] = m
			s.count++
		}
	}
	return s
}

func lookOnce(l *parcels, after uint64) (s Sight) {
	s.WriteSeq = l.data.Look()
	at(load, &l.side.endSeq)
	s.EndSeq, s.Ended = l.side.end()
	at(load, &l.side.newest)
	newest := l.side.newest.Load()
	for id := after + 1; id <= newest; id++ {
		w := &l.side.marks[id%Window]
		at(load, &w.id)
		if w.id.Load() != id {
			continue
		}
		at(load, &w.barrierSeq)
		m := Mark{ID: id, BarrierSeq: w.barrierSeq.Load()}
		at(load, &w.ringSeq)
		m.RingSeq = w.ringSeq.Load()
		s.marks[s.count] = m
		s.count++
	}
	return s
}

// markWith is PublishMark with its stores in another order: 0 takes the id away,
// b and r write the positions, i the id and n newest.
func markWith(l *parcels, id uint64, unpushed int, order string) {
	m := Mark{ID: id, RingSeq: l.WriteSeq(), BarrierSeq: l.WriteSeq() + uint64(unpushed)}
	if _, ended := l.End(); ended {
		m.BarrierSeq++
	}
	w := &l.side.marks[id%Window]
	for _, op := range order {
		switch op {
		case '0':
			at(store, &w.id)
			w.id.Store(0)
		case 'b':
			at(store, &w.barrierSeq)
			w.barrierSeq.Store(m.BarrierSeq)
		case 'r':
			at(store, &w.ringSeq)
			w.ringSeq.Store(m.RingSeq)
		case 'i':
			at(store, &w.id)
			w.id.Store(m.ID)
		case 'n':
			at(store, &l.side.newest)
			l.side.newest.Store(m.ID)
		}
	}
}

func markOverwrites(l *parcels, id uint64, unpushed int) { markWith(l, id, unpushed, "brin") }
func markIDFirst(l *parcels, id uint64, unpushed int)    { markWith(l, id, unpushed, "0inbr") }

func markAtEnd(l *parcels, id uint64, unpushed int) {
	l.side.publishMark(Mark{id, l.WriteSeq(), l.WriteSeq() + uint64(unpushed)})
}

// plantLateMark keeps a mark until the next element is pushed.
func plantLateMark(c *linkCode) {
	late := make(map[*parcels]Mark)
	mark := func(l *parcels, id uint64, unpushed int) {
		late[l] = Mark{id, l.WriteSeq(), l.WriteSeq() + uint64(unpushed)}
	}
	push, end := c.push, c.end
	flush := func(l *parcels) {
		if m, ok := late[l]; ok {
			delete(late, l)
			l.side.publishMark(m)
		}
	}
	c.mark = mark
	c.push = func(l *parcels, p parcel) bool {
		defer flush(l)
		return push(l, p)
	}
	c.end = func(l *parcels) {
		flush(l)
		end(l)
	}
}

// plantEarlyEnd publishes the end of data where it belongs, but before the last
// push has published its element.
func plantEarlyEnd(c *linkCode) {
	c.push = func(l *parcels, p parcel) bool {
		seq := l.WriteSeq()
		if seq == 0 {
			at(store, &l.side.endSeq)
			l.side.endSeq.Store(seq + 1)
			defer func() {
				at(store, &l.side.endSeq)
				l.side.endSeq.Store(0)
			}()
		}
		return l.data.TryPush(p) // Link would find the bug itself
	}
}
