//go:build race || invariants

package buffers

// step is an access to memory that both sides share. Only builds with the tags
// race or invariants stop at them.
type step uint8

const (
	load  step = iota
	store      // or a swap
)

// explorer stands in for the machine: it decides which thread goes on before
// each access to shared memory, and is the kernel of those who sleep. Only
// tests have one.
type explorer interface {
	at(s step, word any)
	sleep(w *Waiter) // if parked is 1: until wake
	wake(w *Waiter)
}

var exploring explorer // set before the threads of a test start, or never

// at announces the next access, to what word points to.
func at(s step, word any) {
	if exploring != nil {
		exploring.at(s, word)
	}
}

// sleepExplored sleeps as the explorer has it, or returns false: there is none.
func sleepExplored(w *Waiter) bool {
	if exploring == nil {
		return false
	}
	exploring.sleep(w)
	return true
}

// wakeExplored is to wake what sleepExplored is to sleep.
func wakeExplored(w *Waiter) bool {
	if exploring == nil {
		return false
	}
	exploring.wake(w)
	return true
}
