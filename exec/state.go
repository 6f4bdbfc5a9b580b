package exec

import "github.com/tailrace-io/tailrace/internal/invariant"

// TaskState is where a task is in its life.
//
//	state    event              next     what happens
//	Created  opened             Running  operators have what they need from outside
//	Running  all inputs ended   Ending   event time moves to its end
//	Ending   all flushed        Ended    EndOfData is published on every output
//	Ended    all outputs acked  Closed   operators are closed
//	any      canceled, failed   Closed   operators are closed, nothing more is emitted
//
// Any other pair is a mistake in the engine and panics.
type TaskState uint8

const (
	Created TaskState = iota
	Running
	Ending
	Ended
	Closed
)

func (s TaskState) String() string {
	return [...]string{"created", "running", "ending", "ended", "closed"}[s]
}

type taskEvent uint8

const (
	opened taskEvent = iota
	inputsEnded
	allFlushed
	allAcked
	givenUp // canceled or failed
)

// after returns the state that follows s on event e.
func (s TaskState) after(e taskEvent) TaskState {
	switch {
	case e == givenUp:
		return Closed
	case s == Created && e == opened:
		return Running
	case s == Running && e == inputsEnded:
		return Ending
	case s == Ending && e == allFlushed:
		return Ended
	case s == Ended && e == allAcked:
		return Closed
	}
	invariant.Check(false, "task is %v: impossible event %d", s, e)
	return s
}
