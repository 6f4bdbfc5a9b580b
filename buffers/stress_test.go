package buffers

import (
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"
)

// stressOps is how many operations each stress test does:
//
//	go test ./buffers -run Stress -race -v -timeout 60m -args -ops=100000000
var stressOps = flag.Int("ops", 200_000, "operations of each stress test")

// pair runs both sides on goroutines of their own and waits for them.
func pair(producer, consumer func()) {
	var both sync.WaitGroup
	both.Go(producer)
	both.Go(consumer)
	both.Wait()
}

// note is what is handed over in plain memory: the race detector sees it if the
// hand-over does not order the accesses.
type note struct{ seq uint64 }

func TestStressRing(t *testing.T) {
	for _, c := range []struct{ capacity, percent int }{{1, 1}, {2, 1}, {64, 49}, {1024, 49}} {
		const start = 1<<32 - 1000
		capacity := c.capacity
		elements := uint64(*stressOps/2) * uint64(c.percent) / 100 // a push and a pop each
		r := NewRing[*note](capacity, start)
		// Beside those in the ring, one is read and one is written.
		notes := make([]note, capacity+2)
		pair(func() {
			for seq := uint64(start); seq < start+elements; seq++ {
				n := &notes[seq%uint64(len(notes))]
				n.seq = seq
				for !r.TryPush(n) {
					if t.Failed() {
						return
					}
					runtime.Gosched()
				}
			}
		}, func() {
			for seq := uint64(start); seq < start+elements; {
				n, ok := r.TryPop()
				if !ok {
					runtime.Gosched()
					continue
				}
				if n.seq != seq {
					t.Errorf("capacity %d: position %d holds %d", capacity, seq, n.seq)
					return
				}
				seq++
			}
		})
	}
}

func TestStressLink(t *testing.T) {
	const capacity = 64
	elements := *stressOps / 8 // two pushes, two pops, a mark, a look, a capture, and what fails
	var bufs []*note
	for range capacity {
		bufs = append(bufs, new(note))
	}
	l := NewLink[*note](capacity, 0, bufs...)
	pair(func() {
		for seq := uint64(0); seq < uint64(elements); {
			n, ok := l.TakeBuffer()
			if !ok && t.Failed() {
				return
			} else if !ok {
				runtime.Gosched()
				continue
			}
			n.seq = seq
			if !l.TryPush(n) {
				t.Errorf("no room at %d in spite of the credit", seq)
				return
			}
			seq++
			l.PublishMark(seq, int(seq%5)) // its id says where it must be
		}
		l.PublishEnd()
		for !l.Acked() && !t.Failed() {
			runtime.Gosched()
		}
	}, func() {
		var marks int
		for after := uint64(0); ; {
			s := l.Look(after)
			for _, m := range s.Marks() {
				checkMark(t, l, m, after)
				after = m.ID
				marks++
			}
			n, ok := l.TryPop()
			switch {
			case ok:
				if n.seq+1 != l.ReadSeq() {
					t.Errorf("position %d holds %d", l.ReadSeq()-1, n.seq)
				}
				l.GiveBack(n)
			case s.Ended && s.EndSeq == l.ReadSeq():
				l.Ack()
				t.Logf("%d of %d marks seen", marks, elements)
				return
			default:
				runtime.Gosched()
			}
			if t.Failed() {
				return
			}
		}
	})
}

// checkMark checks that a mark is whole, in order and not overtaken, and reads
// what it cuts off in place.
func checkMark(t *testing.T, l *Link[*note, *note], m Mark, after uint64) {
	if m.ID <= after || m.RingSeq != m.ID || m.BarrierSeq != m.ID+m.ID%5 {
		t.Errorf("after mark %d: mark %+v", after, m)
	}
	if l.ReadSeq() > m.RingSeq {
		t.Errorf("mark %+v was overtaken: seen at %d", m, l.ReadSeq())
		return
	}
	if m.ID%8 != 0 {
		return // a capture is long
	}
	for seq, n := range l.Range(l.ReadSeq(), m.RingSeq) {
		if (*n).seq != seq {
			t.Errorf("captured %d at %d", (*n).seq, seq)
		}
	}
}

func TestStressWaiter(t *testing.T) {
	for _, kind := range []struct {
		name   string
		make   func() *Waiter
		locked bool
	}{
		{"threads", NewThreadWaiter, true},
		{"goroutines", NewWaiter, false},
	} {
		turns := *stressOps / 100 // each is two parks and two wakes, two times 25 us
		there, back := NewRing[int](1, 0), NewRing[int](1, 0)
		a, b := kind.make(), kind.make()
		// next waits for the next number of r without ever spinning.
		next := func(w *Waiter, r *Ring[int]) (v int) {
			for {
				if v, ok := r.TryPop(); ok {
					return v
				}
				w.Prepare()
				if v, ok := r.TryPop(); ok {
					w.Cancel()
					return v
				}
				if !w.Park(time.Minute) && r.Len() > 0 {
					t.Errorf("%s: a wake-up was lost", kind.name)
				}
			}
		}
		side := func(mine, other *Waiter, in, out *Ring[int], first bool) func() {
			return func() {
				if kind.locked {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				for turn := range turns {
					if !first || turn > 0 {
						if v := next(mine, in); v != turn {
							t.Errorf("%s: got %d in turn %d", kind.name, v, turn)
						}
					}
					if first {
						out.TryPush(turn)
					} else {
						out.TryPush(turn + 1)
					}
					other.Wake()
				}
			}
		}
		pair(side(a, b, back, there, true), side(b, a, there, back, false))
	}
}
