//go:build race || invariants

package buffers

import (
	"testing"
	"time"
)

// waitCode is how the owner of a Waiter waits for something that look finds, and
// how others tell it that they did something.
type waitCode struct {
	wait   func(w *Waiter, look func() bool)
	notify func(w *Waiter, act func() bool) bool // whether there was something to do
}

var realWait = waitCode{
	wait: func(w *Waiter, look func() bool) {
		for !look() {
			w.Prepare()
			if look() {
				w.Cancel()
				return
			}
			w.Park(time.Hour)
		}
	},
	notify: func(w *Waiter, act func() bool) bool {
		did := act()
		if did {
			w.Wake()
		}
		return did
	},
}

// waitScript passes elements through a ring; both sides sleep when they cannot go
// on, and no time-out helps them. Marks wake like elements do.
func waitScript(code waitCode, capacity, elements int) script {
	return func(fail func(string, ...any)) scene {
		l := NewLink[int, int](capacity, 0)
		producer, consumer := NewWaiter(), NewWaiter()
		produce := func() {
			for i := range elements {
				code.wait(producer, func() bool {
					return code.notify(consumer, func() bool { return l.TryPush(i) })
				})
			}
			code.notify(consumer, func() bool { l.PublishMark(1, 0); return true })
		}
		consume := func() {
			for i, marked := 0, false; i < elements || !marked; {
				code.wait(consumer, func() bool {
					s := l.Look(0)
					progress := len(s.Marks()) > 0 && !marked
					marked = len(s.Marks()) > 0
					for code.notify(producer, func() bool { v, ok := l.TryPop(); return ok && v == i }) {
						progress, i = true, i+1
					}
					return progress
				})
			}
		}
		return scene{[]func(){produce, consume}, func() {}}
	}
}

func TestEveryInterleavingOfWaitingAndWaking(t *testing.T) {
	total := 0
	for _, c := range []struct{ capacity, elements int }{{1, 0}, {1, 1}, {2, 2}, {1, 2}} {
		if underRace && c.elements > 1 {
			continue // ten times slower
		}
		runs := mustHold(t, "waiting", waitScript(realWait, c.capacity, c.elements), reduced)
		t.Logf("capacity %d, %d elements and a mark: %d interleavings", c.capacity, c.elements, runs)
		total += runs
	}
	t.Logf("waiter: %d interleavings explored, up to neighbours that commute", total)
}

func TestLostWakeUpsPlantedInTheWaiterAreFound(t *testing.T) {
	for _, bug := range []struct {
		name  string
		plant func(c *waitCode)
	}{
		{"no second look after the announcement", func(c *waitCode) {
			c.wait = func(w *Waiter, look func() bool) {
				for !look() {
					w.Prepare()
					w.Park(time.Hour)
				}
			}
		}},
		{"the announcement comes after the second look", func(c *waitCode) {
			c.wait = func(w *Waiter, look func() bool) {
				for !look() && !look() {
					w.Prepare()
					w.Park(time.Hour)
				}
			}
		}},
		{"the wake comes before what it is about", func(c *waitCode) {
			c.notify = func(w *Waiter, act func() bool) bool {
				w.Wake()
				return act()
			}
		}},
		{"the wake does not take the announcement back", func(c *waitCode) {
			c.notify = func(w *Waiter, act func() bool) bool {
				did := act()
				at(load, &w.parked)
				if did && w.parked.Load() == 1 {
					w.wake()
				}
				return did
			}
		}},
		{"the sleep does not look at the announcement", func(c *waitCode) {
			c.wait = func(w *Waiter, look func() bool) {
				for !look() {
					w.Prepare()
					if look() {
						w.Cancel()
						return
					}
					at(store, &w.parked)
					w.parked.Store(1) // as if nobody had taken it back
					w.Park(time.Hour)
				}
			}
		}},
		{"nobody is woken for a mark", func(c *waitCode) {
			c.notify = func(_ *Waiter, act func() bool) bool { return act() }
		}},
	} {
		code := realWait
		bug.plant(&code)
		mustBreak(t, bug.name, "sleeps for good", reduced,
			waitScript(code, 1, 0), waitScript(code, 1, 1), waitScript(code, 1, 2))
	}
}
