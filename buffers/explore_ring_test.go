//go:build race || invariants

package buffers

import (
	"fmt"
	"maps"
	"math"
	"testing"
)

// ringCode is the code under test, or one with a bug planted.
type ringCode struct {
	push func(*Ring[int], int) bool
	pop  func(*Ring[int]) (int, bool)
}

var realRing = ringCode{push: (*Ring[int]).TryPush, pop: (*Ring[int]).TryPop}

// ringScript tries pushes on one thread and pops on the other. An operation may
// fail only if the ring was full or empty at some time while it ran.
func ringScript(code ringCode, capacity int, start uint64, pushes, pops int) script {
	return func(fail func(string, ...any)) scene {
		r := NewRing[int](capacity, start)
		pushed, popped := 0, 0
		producer := func() {
			for range pushes {
				room := pushed-popped < capacity
				if code.push(r, 100+pushed) {
					pushed++
				} else if room {
					fail("push %d failed though there was room", pushed)
				}
				if pushed-popped > capacity+1 { // the pop that made room may not have returned
					fail("%d elements in a ring of %d", pushed-popped, capacity)
				}
			}
		}
		consumer := func() {
			for range pops {
				some := pushed > popped
				v, ok := code.pop(r)
				if ok && v != 100+popped {
					fail("pop %d returned %d", popped, v)
				}
				if ok {
					popped++
				} else if some {
					fail("pop %d failed though there was one", popped)
				}
			}
		}
		finish := func() {
			if r.ReadSeq() != start+uint64(popped) || r.WriteSeq() != start+uint64(pushed) || r.Len() != pushed-popped {
				fail("positions [%d, %d) after %d pushes and %d pops", r.ReadSeq(), r.WriteSeq(), pushed, popped)
			}
			for v, ok := r.TryPop(); ok; v, ok = r.TryPop() {
				if v != 100+popped {
					fail("element %d left over is %d", popped, v)
				}
				popped++
			}
			for i, v := range r.slots {
				if v != 0 {
					fail("slot %d still holds %d", i, v)
				}
			}
		}
		return scene{[]func(){producer, consumer}, finish}
	}
}

func TestEveryInterleavingOfARing(t *testing.T) {
	total, most := 0, 7
	if underRace { // ten times slower
		most = 6
	}
	for _, capacity := range []int{1, 2, 4} {
		for operations := 4; operations <= most; operations++ {
			runs := 0
			for pushes := 1; pushes < operations; pushes++ {
				for _, start := range []uint64{0, math.MaxUint64 - 1} {
					what := fmt.Sprintf("capacity %d, %d pushes, %d pops, from %d", capacity, pushes, operations-pushes, start)
					runs += mustHold(t, what, ringScript(realRing, capacity, start, pushes, operations-pushes), everything)
				}
			}
			t.Logf("capacity %d, %d operations: %d interleavings", capacity, operations, runs)
			total += runs
		}
	}
	t.Logf("ring: %d interleavings explored", total)
}

func TestBugsPlantedInTheRingAreFound(t *testing.T) {
	for _, bug := range []struct {
		name, words string
		code        ringCode
	}{
		{"push publishes before it writes the slot", "pop 1 returned 0", ringCode{push: pushEarly, pop: realRing.pop}},
		{"push takes one more than there is room", "returned 101", ringCode{push: pushTooMuch, pop: realRing.pop}},
		{"push never looks at readSeq again", "though there was room", ringCode{push: pushBlind, pop: realRing.pop}},
		{"pop frees the slot before it reads it", "pop 0 returned 101", ringCode{push: realRing.push, pop: popFreesFirst}},
		{"pop frees the slot before it clears it", "pop 1 returned 0", ringCode{push: realRing.push, pop: popClearsLast}},
		{"pop does not clear the slot", "still holds", ringCode{push: realRing.push, pop: popDirty}},
		{"pop trusts a writeSeq of before", "though there was one", ringCode{push: realRing.push, pop: popBlind}},
	} {
		var scripts []script
		for _, capacity := range []int{1, 2} {
			scripts = append(scripts, ringScript(bug.code, capacity, 0, 3, 3))
		}
		mustBreak(t, bug.name, bug.words, everything, scripts...)
	}
}

func pushEarly(r *Ring[int], v int) bool {
	seq := r.writeSeq.Load()
	at(load, &r.readSeq)
	if seq-r.readSeq.Load() > r.mask {
		return false
	}
	at(store, &r.writeSeq)
	r.writeSeq.Store(seq + 1)
	at(store, &r.slots[seq&r.mask])
	r.slots[seq&r.mask] = v
	return true
}

func pushTooMuch(r *Ring[int], v int) bool {
	seq := r.writeSeq.Load()
	at(load, &r.readSeq)
	if seq-r.readSeq.Load() > r.mask+1 {
		return false
	}
	at(store, &r.slots[seq&r.mask])
	r.slots[seq&r.mask] = v
	at(store, &r.writeSeq)
	r.writeSeq.Store(seq + 1)
	return true
}

func pushBlind(r *Ring[int], v int) bool {
	return r.writeSeq.Load()-r.readSeqSeen <= r.mask && r.TryPush(v)
}

func popBlind(r *Ring[int]) (int, bool) {
	at(load, &r.writeSeq)
	return r.PopSeen()
}

// popWith is TryPop with its last accesses in another order: r reads the slot, c
// clears it, f frees it.
func popWith(r *Ring[int], order string) (v int, ok bool) {
	seq := r.readSeq.Load()
	if seq == r.Look() {
		return 0, false
	}
	slot := &r.slots[seq&r.mask]
	for _, s := range order {
		switch s {
		case 'r':
			at(load, slot)
			v = *slot
		case 'c':
			at(store, slot)
			*slot = 0
		case 'f':
			at(store, &r.readSeq)
			r.readSeq.Store(seq + 1)
		}
	}
	return v, true
}

func popFreesFirst(r *Ring[int]) (int, bool) { return popWith(r, "frc") }
func popClearsLast(r *Ring[int]) (int, bool) { return popWith(r, "rfc") }
func popDirty(r *Ring[int]) (int, bool)      { return popWith(r, "rf") }

// TestTheReducedSearchSeesEveryOutcome compares what the two extents of the
// search can see: which operations succeeded, and what was left.
func TestTheReducedSearchSeesEveryOutcome(t *testing.T) {
	outcomes := func(e extent, capacity int) (seen map[string]bool, runs int) {
		seen = make(map[string]bool)
		runs = mustHold(t, "outcomes", func(func(string, ...any)) scene {
			r := NewRing[int](capacity, 0)
			var pushes, pops []bool
			produce := func() {
				for range 3 {
					pushes = append(pushes, r.TryPush(1))
				}
			}
			consume := func() {
				for range 3 {
					_, ok := r.TryPop()
					pops = append(pops, ok)
				}
			}
			finish := func() { seen[fmt.Sprint(pushes, pops, r.slots)] = true }
			return scene{[]func(){produce, consume}, finish}
		}, e)
		return seen, runs
	}
	for _, capacity := range []int{1, 2, 4} {
		all, runs := outcomes(everything, capacity)
		some, fewer := outcomes(reduced, capacity)
		t.Logf("capacity %d: %d outcomes in %d and in %d interleavings", capacity, len(all), runs, fewer)
		if !maps.Equal(all, some) || fewer >= runs {
			t.Errorf("all: %v\nreduced: %v", all, some)
		}
	}
}
