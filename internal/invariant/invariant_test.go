package invariant

import (
	"errors"
	"testing"
)

func catch(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestACheckThatHoldsDoesNothing(t *testing.T) {
	if v := catch(func() { Check(1+1 == 2, "arithmetic") }); v != nil {
		t.Fatalf("panicked with %v", v)
	}
}

func TestABrokenInvariantPanicsWithAViolationThatNamesTheValues(t *testing.T) {
	v := catch(func() { Check(false, "readSeq %d beyond writeSeq %d", 7, 5) })
	err, ok := v.(error)
	if !ok {
		t.Fatalf("panicked with %T, want an error", v)
	}
	var violation Violation
	if !errors.As(err, &violation) {
		t.Fatalf("panicked with %T, want a Violation", v)
	}
	if want := "readSeq 7 beyond writeSeq 5"; violation.What != want {
		t.Errorf("What = %q, want %q", violation.What, want)
	}
	if want := "invariant violated: readSeq 7 beyond writeSeq 5"; err.Error() != want {
		t.Errorf("Error() = %q, want %q", err.Error(), want)
	}
}

func TestTheGuardedFormDoesNotAllocate(t *testing.T) {
	seq := uint64(1 << 40)
	allocs := testing.AllocsPerRun(1000, func() {
		seq++
		if seq == 0 {
			Fail("seq %d", seq)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a call, want 0", allocs)
	}
}

var sink uint64

func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		sink = uint64(i) + 1<<40
		Check(sink != 0, "sink %d of %d", sink, i)
	}
}

func BenchmarkGuardedFail(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		sink = uint64(i) + 1<<40
		if sink == 0 {
			Fail("sink %d of %d", sink, i)
		}
	}
}
