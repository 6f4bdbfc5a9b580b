package env

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/buffers"
)

// stepFunc is a Stepper.
type stepFunc func() (Status, int64)

func (f stepFunc) Step() (Status, int64) { return f() }

// testLease is a Lease whose answers a test changes.
type testLease struct {
	spin atomic.Bool
	cpu  atomic.Int64
}

func (l *testLease) Spin() bool { return l.spin.Load() }
func (l *testLease) CPU() int   { return int(l.cpu.Load()) }

func newLease(spin bool, cpu int) *testLease {
	l := new(testLease)
	l.spin.Store(spin)
	l.cpu.Store(int64(cpu))
	return l
}

// run starts s and returns its Waker and a function that waits for its end.
func run(spec Spec, s Stepper) (Waker, func() (lost int)) {
	exits := make(chan bool, 100)
	spec.Ctx = context.Background()
	spec.Exit = func(lost bool) { exits <- lost }
	w := Real().Runner.Run(spec, s)
	return w, func() (lost int) {
		for <-exits {
			lost++
		}
		return lost
	}
}

// kinds are the two kinds of loops.
var kinds = []struct {
	name string
	spec Spec
}{
	{"a worker that spins", Spec{Worker: true, Lease: newLease(true, -1)}},
	{"a worker that does not", Spec{Worker: true, Lease: newLease(false, -1)}},
	{"a worker without a lease", Spec{Worker: true}},
	{"no worker", Spec{}},
}

func TestALoopEndsWithDoneAndSaysSoOnce(t *testing.T) {
	for _, kind := range kinds {
		steps := 0
		_, wait := run(kind.spec, stepFunc(func() (Status, int64) {
			if steps++; steps == 3*leaseRounds {
				return Done, 0
			}
			return Status(steps / 7 % 2), 1 // Idle, and already due, or Progress
		}))
		if lost := wait(); lost != 0 || steps != 3*leaseRounds {
			t.Errorf("%s: %d steps, %d lost", kind.name, steps, lost)
		}
	}
}

// TestAGoexitDoesNotStopTheLoop ends the goroutine in steps that come at
// different moments: one after progress, one after idling, two in a row.
func TestAGoexitDoesNotStopTheLoop(t *testing.T) {
	for _, kind := range kinds {
		steps := 0
		w, wait := run(kind.spec, stepFunc(func() (Status, int64) {
			steps++
			switch {
			case steps == 2, steps == 1000, steps == 1001:
				runtime.Goexit()
			case steps == 2000:
				return Done, 0
			}
			return Status(steps / 100 % 2), 1
		}))
		if lost := wait(); lost != 3 || steps != 2000 {
			t.Errorf("%s: %d steps, %d lost, want 2000 and 3", kind.name, steps, lost)
		}
		if stats, ok := StatsOf(w); !ok || stats.Lost != 3 || stats.CPU != -1 {
			t.Errorf("%s: stats %+v, %v", kind.name, stats, ok)
		}
	}
}

// TestNumbersGoToAndFroBetweenTwoLoopsThatSleep passes numbers, each loop waking
// the other only after it did something. (That no wake-up is lost at all, rather
// than made good by the end of a park, is tested in package buffers.)
func TestNumbersGoToAndFroBetweenTwoLoopsThatSleep(t *testing.T) {
	const turns = 2000
	for _, kind := range kinds {
		there, back := buffers.NewRing[int](1, 0), buffers.NewRing[int](1, 0)
		var first, second atomic.Value
		wake := func(v *atomic.Value) {
			if w, ok := v.Load().(Waker); ok {
				w.Wake()
			}
		}
		sent, received := 0, 0
		a, waitA := run(kind.spec, stepFunc(func() (Status, int64) {
			if v, ok := back.TryPop(); ok {
				if received++; v != received {
					t.Errorf("%s: answer %d is %d", kind.name, received, v)
				}
			} else if sent > received || !there.TryPush(sent+1) {
				return Idle, 0
			} else {
				sent++
			}
			wake(&second)
			if received == turns {
				return Done, 0
			}
			return Progress, 0
		}))
		first.Store(a)
		b, waitB := run(kind.spec, stepFunc(func() (Status, int64) {
			v, ok := there.TryPop()
			if !ok {
				return Idle, 0
			}
			back.TryPush(v)
			wake(&first)
			if v == turns {
				return Done, 0
			}
			return Progress, 0
		}))
		second.Store(b)
		waitA()
		waitB()
		if sent != turns || received != turns {
			t.Errorf("%s: sent %d, received %d", kind.name, sent, received)
		}
	}
}

func TestAnIdleLoopParksAndAWakeEndsIt(t *testing.T) {
	for _, kind := range kinds {
		var open atomic.Bool
		w, wait := run(kind.spec, stepFunc(func() (Status, int64) {
			if open.Load() {
				return Done, 0
			}
			return Idle, 0
		}))
		for stats, _ := StatsOf(w); stats.Parks == 0; stats, _ = StatsOf(w) {
			runtime.Gosched()
		}
		open.Store(true)
		w.Wake()
		wait()
	}
}

func TestHowLongALoopParks(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		claim     string
		limit     time.Duration
		wake, now int64
		want      time.Duration
	}{
		{"no wish: to the limit", 4 * ms, 0, 1000, 4 * ms},
		{"a wish beyond the limit", 4 * ms, int64(10 * ms), int64(ms), 4 * ms},
		{"a wish before the limit", 4 * ms, int64(3 * ms), int64(ms), 2 * ms},
		{"now: not at all", 4 * ms, int64(ms), int64(ms), 0},
		{"overdue: not at all", 4 * ms, int64(ms), int64(9 * ms), 0},
		{"a time that never comes", 4 * ms, 1<<63 - 1, 1, 4 * ms},
	} {
		if got := parkFor(c.limit, c.wake, c.now); got != c.want {
			t.Errorf("%s: %v, want %v", c.claim, got, c.want)
		}
	}
}

func TestALoopIsSteppedAtTheTimeItAskedFor(t *testing.T) {
	clock := Real().Clock
	for _, kind := range kinds {
		var due, at int64
		_, wait := run(kind.spec, stepFunc(func() (Status, int64) {
			at = clock.Mono()
			switch {
			case due == 0:
				due = at + int64(3*time.Millisecond)
			case at >= due:
				return Done, 0
			}
			return Idle, due
		}))
		wait()
		if at < due {
			t.Errorf("%s: done at %d, due at %d", kind.name, at, due)
		}
	}
}

func TestTheGoroutineCarriesItsLabels(t *testing.T) {
	var profile bytes.Buffer
	_, wait := run(Spec{Name: "count/3", Labels: []string{"job", "words"}}, stepFunc(func() (Status, int64) {
		if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
			t.Error(err)
		}
		return Done, 0
	}))
	wait()
	for _, label := range []string{`"task":"count/3"`, `"job":"words"`} {
		if !strings.Contains(profile.String(), label) {
			t.Errorf("no goroutine has the label %s", label)
		}
	}
}

func TestTheClockNeverGoesBackAndIsNeverZero(t *testing.T) {
	clock := Real().Clock
	last := int64(0)
	for range 1000 {
		now := clock.Mono()
		if now < last || now == 0 {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
	if clock.Now().Year() < 2020 {
		t.Errorf("now is %v", clock.Now())
	}
}

func TestTwoStreamsOfOneNameDiffer(t *testing.T) {
	e := Real()
	if a, b := e.Rand("ids").Uint64(), e.Rand("ids").Uint64(); a == b {
		t.Errorf("both begin with %d", a)
	}
}
