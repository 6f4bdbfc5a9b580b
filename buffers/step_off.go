//go:build !race && !invariants

package buffers

// step names an access to memory that both sides share: see step_on.go. Here
// nothing stops at them, and at is compiled to nothing.
type step uint8

const (
	loadReadSeq step = iota
	loadWriteSeq
	writeSlot
	readSlot
	clearSlot
	storeWriteSeq
	storeReadSeq
	loadSide
	storeSide
	loadParked
	storeParked
	swapParked
)

func at(step) {}

func sleepExplored(*Waiter) bool { return false }
func wakeExplored(*Waiter) bool  { return false }
