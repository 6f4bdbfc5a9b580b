package buffers

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

var waiters = map[string]func() *Waiter{"thread": NewThreadWaiter, "goroutine": NewWaiter}

func TestSpinningEndsAndBeginsAnewAfterBusy(t *testing.T) {
	for name, make := range waiters {
		w := make()
		for turn := range 3 {
			rounds := 0
			for w.Spin() {
				rounds++
			}
			if rounds < pauseRounds || w.Spin() {
				t.Errorf("%s, turn %d: %d rounds", name, turn, rounds)
			}
			w.Busy()
		}
	}
}

func TestAWakeAfterTheAnnouncementEndsTheParkAtOnce(t *testing.T) {
	for name, make := range waiters {
		w := make()
		for range 10 {
			w.Prepare()
			w.Wake()
			w.Wake()
			if !w.Park(time.Hour) {
				t.Errorf("%s: not woken", name)
			}
		}
	}
}

func TestAParkWithoutAWakeTimesOut(t *testing.T) {
	for name, make := range waiters {
		w := make()
		w.Wake() // nobody waits yet: no effect
		w.Prepare()
		if w.Park(time.Microsecond) {
			t.Errorf("%s: woken by nobody", name)
		}
		w.Prepare()
		w.Cancel()
		w.Wake()
		w.Prepare()
		if w.Park(time.Microsecond) {
			t.Errorf("%s: woken by a wake of before", name)
		}
	}
}

// sleepUntil parks, again if it returns early, until there is set. A lost wake-up
// would take an hour.
func sleepUntil(w *Waiter, there *atomic.Bool) {
	for {
		w.Prepare()
		if there.Load() {
			w.Cancel()
			return
		}
		w.Park(time.Hour)
	}
}

func TestAWakeFindsASleeper(t *testing.T) {
	for _, make := range waiters {
		w := make()
		var there atomic.Bool
		pair(func() { sleepUntil(w, &there) }, func() {
			for w.parked.Load() == 0 {
				runtime.Gosched()
			}
			there.Store(true)
			w.Wake()
		})
	}
}

// TestSleepersDoNotHoldUpACollection: a thread that sleeps in a raw system call
// would stop the world from stopping.
func TestSleepersDoNotHoldUpACollection(t *testing.T) {
	const sleepers = 8 // more than there are Ps
	w := make([]*Waiter, sleepers)
	done := make(chan bool)
	var there atomic.Bool
	for i := range w {
		w[i] = NewThreadWaiter()
		go func() {
			runtime.LockOSThread()
			sleepUntil(w[i], &there)
			done <- true
		}()
	}
	for i := range w {
		for w[i].parked.Load() == 0 {
			runtime.Gosched()
		}
	}
	for range 3 {
		runtime.GC()
	}
	there.Store(true)
	for i := range w {
		w[i].Wake()
		<-done
	}
}

func TestAParkWithoutAnEndIsRefused(t *testing.T) {
	violation(t, "no timeout", func() { NewWaiter().Park(0) })
}
