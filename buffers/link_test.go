package buffers

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// sees describes a look: writeSeq, marks, end.
func sees(s Sight) string {
	text := fmt.Sprintf("to %d", s.WriteSeq)
	for _, m := range s.Marks() {
		text += fmt.Sprintf(" #%d(%d,%d)", m.ID, m.RingSeq, m.BarrierSeq)
	}
	if s.Ended {
		text += fmt.Sprintf(" end %d", s.EndSeq)
	}
	if s.Closed {
		text += " closed"
	}
	return text
}

func TestWhatALookSees(t *testing.T) {
	type link = *Link[int, int]
	push := func(n int) func(link) {
		return func(l link) {
			for range n {
				l.TryPush(1)
			}
		}
	}
	mark := func(id uint64, unpushed int) func(link) { return func(l link) { l.PublishMark(id, unpushed) } }
	end := func(l link) { l.PublishEnd() }
	closed := func(l link) { l.PublishClosed() }
	for _, c := range []struct {
		claim string
		start uint64
		after uint64
		ops   []func(link)
		want  string
	}{
		{"nothing", 0, 0, nil, "to 0"},
		{"a mark counts what was pushed and what was not", 10, 0, []func(link){push(2), mark(1, 3)}, "to 12 #1(12,15)"},
		{"marks come in order, gaps and all", 0, 0, []func(link){mark(3, 0), push(1), mark(4, 0), push(1), mark(6, 0)},
			"to 2 #3(0,0) #4(1,1) #6(2,2)"},
		{"marks seen before are left out", 0, 3, []func(link){mark(3, 0), mark(4, 0)}, "to 0 #4(0,0)"},
		{"a mark in the place of an older one", 0, 0, []func(link){mark(1, 0), mark(2, 0), mark(5, 0)},
			"to 0 #2(0,0) #5(0,0)"},
		{"marks older than the window are over even if their place was not taken", 0, 0,
			[]func(link){mark(1, 0), mark(2, 0), mark(9, 0)}, "to 0 #9(0,0)"},
		{"the highest id there is", 0, 0, []func(link){mark(math.MaxUint64-1, 0)}, fmt.Sprintf("to 0 #%d(0,0)", uint64(math.MaxUint64-1))},
		{"the end takes a position and no slot", 5, 0, []func(link){push(1), mark(1, 0), end, mark(2, 0)},
			"to 6 #1(6,6) #2(6,7) end 6"},
		{"an end at once", 0, 0, []func(link){end}, "to 0 end 0"},
		{"closed leaves the marks", 0, 0, []func(link){mark(7, 0), end, mark(8, 0), closed}, "to 0 #7(0,0) #8(0,1) end 0 closed"},
	} {
		t.Run(c.claim, func(t *testing.T) {
			l := NewLink[int, int](8, c.start)
			for _, op := range c.ops {
				op(l)
			}
			if got := sees(l.Look(c.after)); got != c.want {
				t.Errorf("sees %q, want %q", got, c.want)
			}
		})
	}
}

func TestBuffersAreTheCredit(t *testing.T) {
	l := NewLink[string](4, 0, "a", "b", "c")
	var taken []string
	for b, ok := l.TakeBuffer(); ok; b, ok = l.TakeBuffer() {
		taken = append(taken, b)
		if !l.TryPush(b) {
			t.Fatalf("no room for %s in spite of its buffer", b)
		}
	}
	if fmt.Sprint(taken) != "[a b c]" || l.Credit() != 0 {
		t.Fatalf("took %v, credit %d", taken, l.Credit())
	}
	l.Look(0)
	b, _ := l.TryPop()
	l.GiveBack(b)
	if again, ok := l.TakeBuffer(); !ok || again != "a" {
		t.Errorf("took %q, %v, want a", again, ok)
	}
	if l.Free() != 2 || l.Len() != 2 || l.Cap() != 4 {
		t.Errorf("free %d, len %d, cap %d", l.Free(), l.Len(), l.Cap())
	}
}

func TestReplayedElementsComeFirstAtTheirPositions(t *testing.T) {
	for _, start := range []uint64{3, 1 << 32, math.MaxUint64 - 5} {
		l := NewLink[uint64, int](2, start)
		replay := []uint64{start - 3, start - 2, start - 1} // more than the capacity
		l.Replay(replay)
		l.TryPush(start)
		l.PublishMark(1, 0)
		l.TryPush(start + 1)
		if s := l.Look(0); s.WriteSeq != start+2 || l.Len() != 2 {
			t.Fatalf("writeSeq %d, len %d", s.WriteSeq, l.Len())
		}
		for read := start - 3; read != start+2; read++ {
			if l.ReadSeq() != read {
				t.Fatalf("readSeq %d, want %d", l.ReadSeq(), read)
			}
			for from := read; from != start+3; from++ {
				for to := from; to != start+3; to++ {
					checkRange(t, l, from, to)
				}
			}
			p, peeked := l.Peek()
			if !peeked || *p != read {
				t.Fatalf("peek at %d: %v", read, peeked)
			}
			if v, ok := l.TryPop(); !ok || v != read {
				t.Fatalf("pop at %d: %d, %v", read, v, ok)
			}
		}
		if _, ok := l.TryPop(); ok || replay[0] != 0 || replay[2] != 0 {
			t.Errorf("after the last one: %v, replayed elements %v", ok, replay)
		}
	}
}

func checkRange(t *testing.T, l *Link[uint64, int], from, to uint64) {
	t.Helper()
	if to > l.WriteSeq() {
		violation(t, "beyond writeSeq", func() { l.Range(from, to) })
		return
	}
	want := from
	for seq, v := range l.Range(from, to) {
		if seq != want || *v != want {
			t.Fatalf("range [%d, %d): %d at %d, want %d", from, to, *v, seq, want)
		}
		want++
	}
	if want != to {
		t.Fatalf("range [%d, %d) stopped at %d", from, to, want)
	}
	for range l.Range(from, to) {
		break // stopping early is fine
	}
}

func TestALinkRefusesWhatBreaksItsProtocol(t *testing.T) {
	for _, c := range []struct {
		claim string
		do    func(l *Link[int, int])
	}{
		{"an element after the end of data", func(l *Link[int, int]) { l.PublishEnd(); l.TryPush(1) }},
		{"two ends of data", func(l *Link[int, int]) { l.PublishEnd(); l.PublishEnd() }},
		{"closed before the end of data", func(l *Link[int, int]) { l.PublishClosed() }},
		{"an ack before the end of data", func(l *Link[int, int]) { l.Ack() }},
		{"a mark twice", func(l *Link[int, int]) { l.PublishMark(2, 0); l.PublishMark(2, 0) }},
		{"a mark out of order", func(l *Link[int, int]) { l.PublishMark(2, 0); l.PublishMark(1, 0) }},
		{"the mark after which there is none", func(l *Link[int, int]) { l.PublishMark(math.MaxUint64, 0) }},
		{"mark zero", func(l *Link[int, int]) { l.PublishMark(0, 0) }},
		{"something held back after the end of data", func(l *Link[int, int]) { l.PublishEnd(); l.PublishMark(1, 1) }},
		{"one buffer too many", func(l *Link[int, int]) { l.GiveBack(3); l.GiveBack(4) }},
		{"a range turned around", func(l *Link[int, int]) { l.Replay(make([]int, 3)); l.Range(98, 97) }},
		{"a range from before the replay", func(l *Link[int, int]) { l.Replay(make([]int, 3)); l.Range(96, 98) }},
	} {
		violation(t, c.claim, func() { c.do(NewLink[int](2, 100, 1)) })
	}
	violation(t, "more buffers than capacity", func() { NewLink[int](2, 0, 1, 2, 3) })
}

func TestTheAckReachesTheProducer(t *testing.T) {
	l := NewLink[int, int](1, 7)
	if _, ok := l.End(); ok {
		t.Error("ended from the start")
	}
	if seq := l.PublishEnd(); seq != 7 || l.Acked() {
		t.Errorf("end at %d, acked %v", seq, l.Acked())
	}
	if seq, ok := l.End(); !ok || seq != 7 {
		t.Errorf("end %d, %v", seq, ok)
	}
	if l.Ack(); !l.Acked() {
		t.Error("not acked")
	}
}

// FuzzLink compares a link with slices, one operation a byte, and the mark of a
// checkpoint with the cut that it stands for.
func FuzzLink(f *testing.F) {
	f.Add([]byte{0, 0, 1, 4, 0, 4, 2, 5, 3, 3, 3}, uint8(1), uint16(0))
	f.Add([]byte{0, 3, 0, 4, 4, 4, 4, 4, 2, 6, 4, 2, 7, 2}, uint8(2), uint16(9))
	f.Fuzz(func(t *testing.T, ops []byte, log2 uint8, start uint16) {
		m := newLinkModel(t, 1<<(log2%4), uint64(start))
		for i, op := range ops {
			m.step = i
			m.apply(op)
		}
	})
}

// linkModel is a link beside slices that say what it must do.
type linkModel struct {
	t        *testing.T
	l        *Link[uint64, int]
	start    uint64
	step     int
	elements []uint64 // in the ring; the value is the position
	seen     int      // of them by the last look
	credit   []int
	out      []int // buffers taken
	marks    []Mark
	lastSeen uint64
	ended    bool
}

func newLinkModel(t *testing.T, capacity int, start uint64) *linkModel {
	m := &linkModel{t: t, start: start}
	for b := range capacity {
		m.credit = append(m.credit, b)
	}
	m.l = NewLink[uint64](capacity, start, m.credit...)
	return m
}

func (m *linkModel) apply(op byte) {
	next := m.l.WriteSeq()
	switch arg := int(op / 8); op % 8 {
	case 0:
		if m.ended {
			return
		}
		ok := m.l.TryPush(next)
		m.expect(ok == (len(m.elements) < m.l.Cap()), "push", ok)
		if ok {
			m.elements = append(m.elements, next)
		}
	case 1:
		b, ok := m.l.TakeBuffer()
		m.expect(ok == (len(m.credit) > 0) && (!ok || b == m.credit[0]), "take", b)
		if ok {
			m.credit, m.out = m.credit[1:], append(m.out, b)
		}
	case 2:
		m.look()
	case 3:
		v, ok := m.l.TryPop()
		m.expect(ok == (m.seen > 0) && (!ok || v == m.elements[0]), "pop", v)
		if ok {
			m.elements, m.seen = m.elements[1:], m.seen-1
		}
	case 4:
		mark := Mark{1, next, next}
		if n := len(m.marks); n > 0 {
			mark.ID = m.marks[n-1].ID + 1 + uint64(arg%3)
		}
		if m.ended {
			mark.BarrierSeq++
		} else {
			mark.BarrierSeq += uint64(arg % 5)
		}
		unpushed := int(mark.BarrierSeq - next)
		if m.ended {
			unpushed = 0
		}
		got := m.l.PublishMark(mark.ID, unpushed)
		m.expect(got == mark, "mark", got)
		m.marks = append(m.marks, mark)
	case 5:
		if len(m.out) > 0 {
			m.l.GiveBack(m.out[0])
			m.credit, m.out = append(m.credit, m.out[0]), m.out[1:]
		}
		m.expect(m.l.Credit() == len(m.credit), "credit", m.l.Credit())
	case 6:
		var got []uint64
		for seq, v := range m.l.Range(m.l.ReadSeq(), next) {
			m.expect(seq == *v, "range", seq)
			got = append(got, seq)
		}
		m.expect(slices.Equal(got, m.elements), "range", got)
	case 7:
		if !m.ended && arg == 7 {
			m.ended = true
			m.expect(m.l.PublishEnd() == next, "end", next)
		}
	}
}

func (m *linkModel) look() {
	s := m.l.Look(m.lastSeen)
	m.seen = len(m.elements)
	var want []Mark
	for _, mark := range m.marks {
		if mark.ID > m.lastSeen && mark.ID+Window > m.marks[len(m.marks)-1].ID {
			want = append(want, mark)
		}
	}
	m.expect(slices.Equal(s.Marks(), want), "look", sees(s))
	m.expect(s.Ended == m.ended && s.WriteSeq == m.l.WriteSeq(), "look", sees(s))
	if m.step%2 == 0 && len(want) > 0 { // else look at them again
		m.lastSeen = want[len(want)-1].ID
	}
}

func (m *linkModel) expect(ok bool, what string, got any) {
	m.t.Helper()
	if !ok {
		m.t.Fatalf("op %d: %s: got %v, with elements %v, %d seen, credit %v, marks %v, ended %v",
			m.step, what, got, m.elements, m.seen, m.credit, m.marks, m.ended)
	}
}
