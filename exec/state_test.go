package exec

import (
	"testing"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

func TestTaskStatesOverEveryPair(t *testing.T) {
	states := []TaskState{Created, Running, Ending, Ended, Closed}
	events := []taskEvent{opened, inputsEnded, allFlushed, allAcked, givenUp}
	type pair struct {
		s TaskState
		e taskEvent
	}
	want := map[pair]TaskState{
		{Created, opened}: Running, {Running, inputsEnded}: Ending, {Ending, allFlushed}: Ended, {Ended, allAcked}: Closed,
	}
	for _, s := range states {
		want[pair{s, givenUp}] = Closed
	}
	for _, s := range states {
		for _, e := range events {
			next, possible := want[pair{s, e}]
			got, panicked := step(s, e)
			if panicked == possible || possible && got != next {
				t.Errorf("%v on event %d: got %v (panic %v), want %v (possible %v)", s, e, got, panicked, next, possible)
			}
		}
	}
}

func step(s TaskState, e taskEvent) (next TaskState, panicked bool) {
	defer func() {
		if r := recover(); r != nil {
			_, panicked = r.(invariant.Violation)
		}
	}()
	return s.after(e), false
}
