//go:build race || invariants

package buffers

// step names an access to memory that both sides share. Only builds with the
// tags race or invariants stop at them.
type step string

const (
	loadReadSeq   step = "load readSeq"
	loadWriteSeq  step = "load writeSeq"
	writeSlot     step = "write slot"
	readSlot      step = "read slot"
	clearSlot     step = "clear slot"
	storeWriteSeq step = "store writeSeq"
	storeReadSeq  step = "store readSeq"
	loadSide      step = "load side word"
	storeSide     step = "store side word"
	loadParked    step = "load parked"
	storeParked   step = "store parked"
	swapParked    step = "swap parked"
)

// explorer stands in for the machine: it decides which thread goes on before
// each access to shared memory, and is the kernel of those who sleep. Only
// tests have one.
type explorer interface {
	at(step)
	sleep(w *Waiter) // if parked is 1: until wake
	wake(w *Waiter)
}

var exploring explorer // set before the threads of a test start, or never

func at(s step) {
	if exploring != nil {
		exploring.at(s)
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
