package buffers

import (
	"sync/atomic"
	"time"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

const (
	pausesARound = 10 // about 0.14 us a round
	pauseRounds  = 64 // about 9 us
	// yieldFor is how long to yield after the pauses: about what it would take
	// to be woken up twice (24-33 us on a virtual machine).
	yieldFor = 100 * time.Microsecond
)

// Waiter is how one thread waits until others have something for it, without
// losing a wake-up and without a lock. The owner does, when it found nothing to
// do:
//
//	for w.Spin() { look again; if there is something: w.Busy(), go on }
//	w.Prepare()
//	look again; if there is something: w.Cancel(), go on
//	w.Park(timeout)
//
// and everybody else does whatever there is to be seen first, and then Wake.
//
// The second look is what makes it safe. Prepare stores parked and then loads
// what the others store; they store that and then load parked. Under a total
// order of these four, which Go's atomics have, at least one side sees the other.
// (With a plain store on either side both could miss: the store waits in the
// store buffer while the load goes ahead.)
type Waiter struct {
	_ pad
	// parked is 1 while the owner sleeps or is about to.
	// Owner: 0 to 1 the owner of the Waiter, in Prepare; 1 to 0 anybody.
	// Publishes: that the owner must be woken.  Observed by: Wake.
	parked atomic.Uint32
	_      pad

	rounds  int
	started time.Time     // of the yields
	thread  bool          // sleeps as a thread, else as a goroutine
	tokens  chan struct{} // of a goroutine: one at most, and a left-over one is harmless
}

// NewThreadWaiter returns a Waiter for an owner that is locked to its thread: it
// spins for about 100 us, and sleeps in the kernel, which wakes it in a third of
// the time that a channel takes for a locked goroutine.
func NewThreadWaiter() *Waiter {
	w := NewWaiter()
	w.thread = threadSleeps
	return w
}

// NewWaiter returns a Waiter for an owner that is not locked to a thread: it
// spins for a moment only, and sleeps without keeping a thread.
func NewWaiter() *Waiter { return &Waiter{tokens: make(chan struct{}, 1)} }

// Busy says that the owner found something to do: the next wait starts anew.
// Owner.
func (w *Waiter) Busy() { w.rounds = 0 }

// Spin passes a moment, the longer the more often it is called since Busy, and
// returns true; or false when it is time to park. Owner, and only where waiting
// may burn a core.
func (w *Waiter) Spin() bool {
	w.rounds++
	switch {
	case w.rounds <= pauseRounds:
		pause(pausesARound)
		return true
	case !w.thread || !canYield:
		return false
	case w.rounds == pauseRounds+1:
		w.started = time.Now()
	case time.Since(w.started) > yieldFor:
		return false
	}
	yieldThread()
	return true
}

// Prepare announces that the owner is going to park. It must look once more for
// something to do before it does. Owner.
func (w *Waiter) Prepare() {
	at(store, &w.parked)
	w.parked.Store(1)
}

// Cancel takes Prepare back. Owner.
func (w *Waiter) Cancel() {
	at(store, &w.parked)
	w.parked.Store(0)
}

// Park sleeps until Wake is called, or was since Prepare, but no longer than
// timeout, which must be above zero. It may return early. It reports whether
// it was woken, as opposed to timed out. Owner, after Prepare.
func (w *Waiter) Park(timeout time.Duration) (woken bool) {
	if timeout <= 0 {
		invariant.Fail("park for %v", timeout)
	}
	if w.parked.Load() == 1 { // only to save the system call
		w.sleep(timeout)
	}
	at(store, &w.parked)
	return w.parked.Swap(0) == 0
}

// Wake ends the sleep of the owner, now or if it has only announced it. It is one
// load if there is none. Anybody, after making visible what the owner is to see.
func (w *Waiter) Wake() {
	at(load, &w.parked)
	if w.parked.Load() == 0 {
		return
	}
	at(store, &w.parked)
	if w.parked.CompareAndSwap(1, 0) {
		w.wake()
	}
}

func (w *Waiter) sleep(timeout time.Duration) {
	if sleepExplored(w) {
		return
	}
	if w.thread {
		sleepThread(&w.parked, timeout)
		return
	}
	timer := time.NewTimer(timeout)
	select {
	case <-w.tokens:
	case <-timer.C:
	}
	timer.Stop()
}

func (w *Waiter) wake() {
	if wakeExplored(w) {
		return
	}
	if w.thread {
		wakeThread(&w.parked)
		return
	}
	select {
	case w.tokens <- struct{}{}:
	default: // one is there already
	}
}
