//go:build !race && !invariants

package buffers

// step is an access to memory that both sides share: see step_on.go. Here
// nothing stops at them, and all of this is compiled to nothing.
type step uint8

const (
	load step = iota
	store
)

func at(step, any) {}

func sleepExplored(*Waiter) bool { return false }
func wakeExplored(*Waiter) bool  { return false }
