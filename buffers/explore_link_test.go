//go:build race || invariants

package buffers

import (
	"testing"
)

// parcel is an element, buf a buffer: who has the buffer may write it.
type (
	parcel struct {
		value int
		buf   *buf
	}
	buf struct{ value int }
)

type parcels = Link[parcel, *buf]

// linkCode is the code under test, or one with a bug planted.
type linkCode struct {
	push     func(*parcels, parcel) bool
	mark     func(l *parcels, id uint64, unpushed int)
	end      func(*parcels)
	look     func(l *parcels, after uint64) Sight
	giveBack func(l *parcels, b *buf, read func())
}

var realLink = linkCode{
	push: (*parcels).TryPush,
	mark: func(l *parcels, id uint64, unpushed int) { l.PublishMark(id, unpushed) },
	end:  func(l *parcels) { l.PublishEnd() },
	look: (*parcels).Look,
	giveBack: func(l *parcels, b *buf, read func()) {
		read()
		l.GiveBack(b)
	},
}

// linkRun is a producer that does what its program says and a consumer that
// looks, captures and pops, with what both know of the truth.
type linkRun struct {
	code  linkCode
	fail  func(string, ...any)
	link  *parcels
	start uint64

	// The producer's.
	pushed int
	held   []parcel // emitted and not pushed
	events bool     // there were elements without a buffer: they have no credit
	ended  bool
	marks  []Mark // as they had to be published, completed or not
	lastID uint64

	// The consumer's.
	popped  int
	atEnd   bool // the end of data was consumed
	seen    map[uint64]bool
	highest uint64 // mark seen
}

// linkScript runs program against a consumer that looks so often. Program:
//
//	p  push an element with a buffer, if there is one
//	h  emit an element that is held back; r push it, if there is room
//	m  mark, with the next id; M with the one that takes the last one's place
//	e  end of data; c closed
func linkScript(code linkCode, capacity int, start uint64, program string, looks int) script {
	return func(fail func(string, ...any)) scene {
		var bufs []*buf
		for range capacity {
			bufs = append(bufs, new(buf))
		}
		r := &linkRun{code: code, fail: fail, start: start, seen: map[uint64]bool{},
			link: NewLink[parcel](capacity, start, bufs...)}
		produce := func() {
			for _, op := range program {
				r.produce(op)
			}
		}
		consume := func() {
			for range looks {
				r.consume()
			}
		}
		finish := func() {
			r.consume() // what is left over, at leisure
			for len(r.held) > 0 {
				r.produce('r')
				r.consume()
			}
			r.consume()
			for _, m := range r.marks {
				if m.ID+Window > r.lastID && !r.seen[m.ID] {
					fail("mark %d was never seen", m.ID)
				}
			}
			if r.popped != r.pushed || r.atEnd != r.ended || r.link.Credit() != capacity {
				fail("%d of %d popped, end %v, %d of %d buffers back",
					r.popped, r.pushed, r.atEnd, r.link.Credit(), capacity)
			}
		}
		return scene{[]func(){produce, consume}, finish}
	}
}

func (r *linkRun) produce(op rune) {
	switch op {
	case 'p':
		if len(r.held) > 0 {
			return // it would overtake them
		}
		b, ok := r.link.TakeBuffer()
		if !ok {
			return // backpressure: this one is not emitted
		}
		at(store, &b.value)
		b.value = r.pushed
		r.held = append(r.held, parcel{r.pushed, b})
		if r.produce('r'); len(r.held) > 0 && !r.events {
			r.fail("push %d failed in spite of its credit", r.pushed)
		}
	case 'h':
		r.held = append(r.held, parcel{value: r.pushed + len(r.held)})
		r.events = true
	case 'r':
		if r.code.push(r.link, r.held[0]) {
			r.pushed++
			r.held = r.held[1:]
		}
	case 'm', 'M':
		if r.lastID++; op == 'M' {
			r.lastID += Window - 1
		}
		m := Mark{r.lastID, r.start + uint64(r.pushed), r.start + uint64(r.pushed+len(r.held))}
		if r.ended {
			m.BarrierSeq++
		}
		r.marks = append(r.marks, m)
		r.code.mark(r.link, m.ID, len(r.held))
	case 'e':
		r.ended = true
		r.code.end(r.link)
	case 'c':
		r.link.PublishClosed()
	}
}

// position is that of the next thing to be consumed: the end of data has one.
func (r *linkRun) position() uint64 {
	if r.atEnd {
		return r.link.ReadSeq() + 1
	}
	return r.link.ReadSeq()
}

func (r *linkRun) consume() {
	sight := r.code.look(r.link, r.highest)
	for _, m := range sight.Marks() {
		r.sawMark(m)
	}
	for _, m := range r.marks {
		if sight.Closed && m.ID+Window > r.lastID && !r.seen[m.ID] {
			r.fail("closed, but mark %d was not seen", m.ID)
		}
	}
	for p, ok := r.link.TryPop(); ok; p, ok = r.link.TryPop() {
		if p.value != r.popped {
			r.fail("element %d is %d", r.popped, p.value)
		}
		r.popped++
		if b := p.buf; b != nil {
			r.code.giveBack(r.link, b, func() {
				at(load, &b.value)
				if b.value != p.value {
					r.fail("the buffer of element %d was filled again with %d", p.value, b.value)
				}
			})
		}
	}
	if sight.Ended && r.link.ReadSeq() == sight.EndSeq {
		r.atEnd = true
	} else if sight.Ended && r.link.ReadSeq() > sight.EndSeq {
		r.fail("element consumed from behind the end of data")
	}
}

// sawMark checks a mark against the truth, against what was consumed, and that
// none was passed over; and captures what it cuts off.
func (r *linkRun) sawMark(m Mark) {
	for _, truth := range r.marks {
		if truth.ID == m.ID && truth != m {
			r.fail("mark %+v was seen as %+v", truth, m)
		}
		if truth.ID < m.ID && truth.ID+Window > r.lastID && !r.seen[truth.ID] {
			r.fail("mark %d was seen before mark %d", m.ID, truth.ID)
		}
	}
	if r.seen[m.ID] || m.ID <= r.highest {
		r.fail("mark %d was seen again after mark %d", m.ID, r.highest)
	}
	r.seen[m.ID], r.highest = true, m.ID
	if r.position() > m.BarrierSeq {
		r.fail("mark %d at %d was seen at %d: something overtook it", m.ID, m.BarrierSeq, r.position())
		return
	}
	if r.atEnd {
		return
	}
	want := r.popped
	for seq, p := range r.link.Range(r.link.ReadSeq(), m.RingSeq) {
		if p.value != want || seq != r.start+uint64(want) {
			r.fail("captured %d at %d, want %d", p.value, seq, want)
		}
		want++
	}
	if r.start+uint64(want) != m.RingSeq {
		r.fail("captured to %d, not to %d", want, m.RingSeq)
	}
}

// programs are those that the real code must survive and the bugs must not.
var programs = []struct {
	program string
	looks   int
}{
	{"ppp", 3}, {"pmp", 3}, {"mpm", 2}, {"mmp", 2}, {"mmmp", 2},
	{"mM", 2}, {"mpM", 2}, {"mpMp", 2}, {"mhMr", 2}, {"mmM", 2}, {"hmrp", 2}, {"phmmr", 2},
	{"pe", 3}, {"pme", 2}, {"em", 2}, {"pemc", 2}, {"mec", 3}, {"emMc", 2},
}

func TestEveryInterleavingOfALink(t *testing.T) {
	total := 0
	for _, p := range programs {
		runs := 0
		for _, capacity := range []int{1, 2, 4} {
			for _, start := range []uint64{0, 1<<32 - 1} {
				runs += mustHold(t, p.program, linkScript(realLink, capacity, start, p.program, p.looks), reduced)
			}
		}
		t.Logf("%-6s %d looks: %d interleavings", p.program, p.looks, runs)
		total += runs
	}
	t.Logf("link: %d interleavings explored, up to neighbours that commute", total)
}
