package env

import (
	"context"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/tailrace-io/tailrace/buffers"
	"github.com/tailrace-io/tailrace/internal/invariant"
)

const (
	// A park ends by itself after a time that doubles from shortPark to
	// longPark. Wake-ups are explicit, so this bounds only what a Stepper that
	// forgot one costs; at longPark an idle worker costs about 0.1 % of a core.
	shortPark = time.Millisecond
	longPark  = 64 * time.Millisecond

	// leaseRounds is how many busy rounds pass between two looks at the lease.
	leaseRounds = 1024
)

// realRunner runs each Stepper on a goroutine of its own.
type realRunner struct{}

// Run implements Runner. A worker is locked to its thread, and the thread ends
// with it, so that no affinity outlives it.
func (realRunner) Run(spec Spec, s Stepper) Waker {
	invariant.Check(spec.Ctx != nil, "run %q without a context", spec.Name)
	invariant.Check(len(spec.Labels)%2 == 0, "run %q: label %q has no value", spec.Name, spec.Labels)
	l := &loop{spec: spec, stepper: s, park: shortPark}
	l.labels = pprof.WithLabels(spec.Ctx, pprof.Labels(append([]string{"task", spec.Name}, spec.Labels...)...))
	if spec.Worker {
		l.waiter = buffers.NewThreadWaiter()
	} else {
		l.waiter = buffers.NewWaiter()
	}
	l.cpu.Store(-1)
	go l.run()
	return l
}

// loop steps one Stepper until it is done. All but the counters belong to the
// goroutine that runs it, one after another.
type loop struct {
	spec    Spec
	stepper Stepper
	labels  context.Context
	waiter  *buffers.Waiter
	place   placement
	park    time.Duration // how long the next park may last

	// What StatsOf shows. Owner: the loop.  Publishes: nothing.
	parks, lost atomic.Uint64
	cpu         atomic.Int64
}

// Wake implements Waker.
func (l *loop) Wake() { l.waiter.Wake() }

// run is the body of the goroutine. User code is called in Step and may end the
// goroutine with runtime.Goexit, which nothing can stop: another one goes on.
func (l *loop) run() {
	done := false
	defer func() {
		if done {
			l.exit(false)
			return
		}
		if r := recover(); r != nil {
			panic(r) // not for us: whoever made s has its own place for panics
		}
		l.lost.Add(1)
		l.exit(true)
		l.place = placement{} // the thread, if it was locked, ends with this goroutine
		l.cpu.Store(-1)
		l.waiter.Cancel()
		go l.run()
	}()
	pprof.SetGoroutineLabels(l.labels)
	if l.spec.Worker {
		runtime.LockOSThread()
	}
	l.follow()
	for l.round() {
	}
	done = true
}

func (l *loop) exit(lost bool) {
	if l.spec.Exit != nil {
		l.spec.Exit(lost)
	}
}

// follow puts the thread where the lease says.
func (l *loop) follow() {
	if l.spec.Worker && l.spec.Lease != nil && l.place.moveTo(l.spec.Lease.CPU()) {
		l.cpu.Store(int64(l.place.cpu()))
	}
}

// round steps until there is nothing to do, waits, and reports whether there
// is more to come.
func (l *loop) round() bool {
	for range leaseRounds {
		status, _ := l.stepper.Step()
		switch status {
		case Done:
			return false
		case Progress:
			l.waiter.Busy()
			l.park = shortPark
		default:
			if l.maySpin() && l.waiter.Spin() {
				continue
			}
			return l.sleep()
		}
	}
	l.follow()
	return true
}

// maySpin: what is no worker spins for a moment only, whatever the machine.
func (l *loop) maySpin() bool {
	return !l.spec.Worker || l.spec.Lease != nil && l.spec.Lease.Spin()
}

// sleep parks unless a last step, made when it is already announced, finds
// something. It reports whether there is more to come.
func (l *loop) sleep() bool {
	l.follow()
	l.waiter.Prepare()
	status, wake := l.stepper.Step()
	if status != Idle {
		l.waiter.Cancel()
		l.waiter.Busy()
		l.park = shortPark
		return status != Done
	}
	timeout := parkFor(l.park, wake, realClock{}.Mono())
	if timeout == 0 {
		l.waiter.Cancel()
		return true
	}
	l.parks.Add(1)
	if l.waiter.Park(timeout) {
		l.waiter.Busy()
		l.park = shortPark
	} else {
		l.park = min(2*l.park, longPark)
	}
	return true
}

// parkFor is how long to park at now for a Stepper that wants to be stepped at
// wake, 0 for never, and at most limit: 0 for not at all.
func parkFor(limit time.Duration, wake, now int64) time.Duration {
	if wake == 0 {
		return limit
	}
	return max(0, min(limit, time.Duration(wake-now)))
}

// RunnerStats is what a loop of the real Runner tells of itself.
type RunnerStats struct {
	Parks uint64 // times it went to sleep
	Lost  uint64 // goroutines that Step ended with runtime.Goexit
	CPU   int    // the core its thread is pinned to, as the system confirmed; -1 for none
}

// StatsOf returns the statistics of what w wakes, or false if w is not of the
// real Runner. Safe for concurrent use.
func StatsOf(w Waker) (RunnerStats, bool) {
	l, ok := w.(*loop)
	if !ok {
		return RunnerStats{CPU: -1}, false
	}
	return RunnerStats{Parks: l.parks.Load(), Lost: l.lost.Load(), CPU: int(l.cpu.Load())}, true
}
