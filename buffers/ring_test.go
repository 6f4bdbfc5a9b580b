package buffers

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// starts are the positions at which a ring that wraps, truncates or compares
// wrongly would show it.
var starts = []uint64{0, 1, 7, math.MaxUint32 - 2, math.MaxUint32, 1 << 62, math.MaxUint64 - 3, math.MaxUint64}

func violation(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, _ := recover().(error)
		var v invariant.Violation
		if !errors.As(err, &v) {
			t.Errorf("%s: got %v, want a Violation", what, err)
		}
	}()
	f()
}

func TestARingIsAQueueFromAnyStart(t *testing.T) {
	for _, capacity := range []int{1, 2, 4, 8} {
		for _, start := range starts {
			t.Run(fmt.Sprintf("capacity %d from %d", capacity, start), func(t *testing.T) {
				checkQueue(t, NewRing[*int](capacity, start), start)
			})
		}
	}
}

// checkQueue fills and drains r by all amounts, several turns long.
func checkQueue(t *testing.T, r *Ring[*int], start uint64) {
	pushed, popped := 0, 0
	for turn := range 4 * r.Cap() {
		amount := turn%r.Cap() + 1
		for range amount {
			v := pushed
			if !r.TryPush(&v) {
				t.Fatalf("push %d into a ring with %d of %d: full", pushed, r.Len(), r.Cap())
			}
			pushed++
		}
		if r.WriteSeq() != start+uint64(pushed) || r.Len() != amount || r.Free() != r.Cap()-amount {
			t.Fatalf("after %d pushes: writeSeq %d, len %d, free %d", pushed, r.WriteSeq(), r.Len(), r.Free())
		}
		if amount == r.Cap() && r.TryPush(new(int)) {
			t.Fatalf("pushed into a full ring")
		}
		for range amount {
			v, ok := r.TryPop()
			if !ok || *v != popped {
				t.Fatalf("pop %d: %v, %v", popped, v, ok)
			}
			popped++
		}
		if _, ok := r.TryPop(); ok || r.Len() != 0 || r.ReadSeq() != start+uint64(popped) {
			t.Fatalf("after %d pops: another one %v, len %d, readSeq %d", popped, ok, r.Len(), r.ReadSeq())
		}
	}
	for i, slot := range r.slots {
		if slot != nil {
			t.Errorf("slot %d still refers to what was popped", i)
		}
	}
}

func TestPopSeenTakesOnlyWhatTheLastLookSaw(t *testing.T) {
	r := NewRing[int](4, 0)
	r.TryPush(10)
	if _, ok := r.PopSeen(); ok {
		t.Fatal("popped without a look")
	}
	if _, ok := r.Peek(); ok {
		t.Fatal("peeked without a look")
	}
	if seq := r.Look(); seq != 1 {
		t.Fatalf("look = %d, want 1", seq)
	}
	r.TryPush(11)
	if v, ok := r.Peek(); !ok || *v != 10 {
		t.Fatalf("peek = %v, %v, want 10", v, ok)
	}
	if v, ok := r.PopSeen(); !ok || v != 10 {
		t.Fatalf("pop = %v, %v, want 10", v, ok)
	}
	if v, ok := r.PopSeen(); ok {
		t.Fatalf("popped %d, which came after the look", v)
	}
}

func TestRangeVisitsInPlaceAndRefusesWhatIsNotThere(t *testing.T) {
	for _, start := range starts {
		r := NewRing[int](4, start)
		for v := range 6 { // the slots wrap
			r.TryPush(v)
			if v < 2 {
				r.TryPop()
			}
		}
		var got []int
		for seq, v := range r.Range(start+3, start+6) {
			if *v != int(seq-start) {
				t.Errorf("position %d holds %d", seq, *v)
			}
			got = append(got, *v)
		}
		if fmt.Sprint(got) != "[3 4 5]" {
			t.Errorf("start %d: got %v, want [3 4 5]", start, got)
		}
		for range r.Range(start+2, start+6) {
			break // stopping early is fine
		}
		for range r.Range(start+6, start+6) {
			t.Errorf("an empty range visits something")
		}
		violation(t, "popped", func() { r.Range(start+1, start+3) })
		violation(t, "not pushed", func() { r.Range(start+3, start+7) })
		violation(t, "turned around", func() { r.Range(start+4, start+3) })
	}
}

func TestACapacityThatIsNoPowerOfTwoIsRefused(t *testing.T) {
	for _, capacity := range []int{-1, 0, 3, 6, 100} {
		violation(t, fmt.Sprint(capacity), func() { NewRing[int](capacity, 0) })
	}
}

func TestNoTwoSidesShareALine(t *testing.T) {
	var r Ring[int]
	var s side
	var w Waiter
	for _, c := range []struct {
		what string
		a, b uintptr // end of the one, start of the other
	}{
		{"slots and writer", unsafe.Offsetof(r.mask) + 8, unsafe.Offsetof(r.writeSeq)},
		{"writer and reader", unsafe.Offsetof(r.readSeqSeen) + 8, unsafe.Offsetof(r.readSeq)},
		{"reader and what follows", unsafe.Offsetof(r.writeSeqSeen) + 8, unsafe.Sizeof(r)},
		{"what is before and the side words", 0, unsafe.Offsetof(s.newest)},
		{"side words and acked", unsafe.Offsetof(s.marks) + unsafe.Sizeof(s.marks), unsafe.Offsetof(s.acked)},
		{"acked and what follows", unsafe.Offsetof(s.acked) + 1, unsafe.Sizeof(s)},
		{"parked and the owner's words", unsafe.Offsetof(w.parked) + 4, unsafe.Offsetof(w.rounds)},
	} {
		if c.b-c.a < 128 {
			t.Errorf("%s are %d bytes apart, want 128", c.what, c.b-c.a)
		}
	}
}

// FuzzRing compares a ring with a slice. Every byte is one operation.
func FuzzRing(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, uint8(1), uint64(0))
	f.Add([]byte{0, 2, 0, 3, 4, 5, 3, 0, 1, 6, 7}, uint8(2), uint64(math.MaxUint32))
	f.Add([]byte{0, 0, 7, 1, 0, 0, 0, 2, 3, 3, 3, 7}, uint8(0), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, ops []byte, log2 uint8, start uint64) {
		r := NewRing[int](1<<(log2%6), start)
		var model []int
		pushed, seen := 0, 0 // seen: elements of model below the last look
		for i, op := range ops {
			fail := func(what string, got any) {
				t.Fatalf("op %d (%d) with %v: %s: got %v", i, op%8, model, what, got)
			}
			switch op % 8 {
			case 0, 1:
				ok := r.TryPush(pushed)
				if ok != (len(model) < r.Cap()) {
					fail("push", ok)
				}
				if ok {
					model = append(model, pushed)
					pushed++
				}
			case 2, 3:
				if seen == 0 {
					seen = len(model)
				}
				v, ok := r.TryPop()
				if ok != (len(model) > 0) || ok && v != model[0] {
					fail("pop", v)
				}
				if ok {
					model, seen = model[1:], seen-1
				}
			case 4:
				v, ok := r.PopSeen()
				if ok != (seen > 0) || ok && v != model[0] {
					fail("pop seen", v)
				}
				if ok {
					model, seen = model[1:], seen-1
				}
			case 5:
				seen = len(model)
				if got := r.Look(); got != start+uint64(pushed) {
					fail("look", got)
				}
			case 6:
				v, ok := r.Peek()
				if ok != (seen > 0) || ok && *v != model[0] {
					fail("peek", ok)
				}
			case 7:
				j := 0
				for seq, v := range r.Range(r.ReadSeq(), r.WriteSeq()) {
					if *v != model[j] || seq != start+uint64(*v) {
						fail("range", *v)
					}
					j++
				}
				if j != len(model) || r.Len() != j || r.Free() != r.Cap()-j {
					fail("length", j)
				}
			}
		}
	})
}
