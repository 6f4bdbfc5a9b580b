package exec

import (
	"errors"

	"github.com/tailrace-io/tailrace/internal/env"
	"github.com/tailrace-io/tailrace/internal/table"
)

// poolSlack is how far tables may go over Options.MaxState between two looks at
// their size; past it they get no memory.
const poolSlack = 64 << 20

// stock keeps memory in reserve for tables that grow: the first touch of fresh
// memory takes milliseconds, which a worker must not wait for. It has a thread
// of its own, the last of the job to end.
type stock struct{ job *Job }

func (s *stock) what() string { return "the memory reserve" }

// addPool makes the pool of memory of all tables, and its keeper where an
// operator has keyed state.
func (j *Job) addPool() {
	for _, n := range j.graph.Nodes() {
		if n.Keyed {
			j.stocker = &thread{job: j, name: "memory reserve", steppers: []stepper{&stock{j}}, alive: 1}
			j.threads = append(j.threads, j.stocker)
			j.pool = table.NewPool(j.opts.MaxState+poolSlack, j.stocker.wake)
			return
		}
	}
	j.pool = table.NewPool(j.opts.MaxState+poolSlack, nil)
}

func (s *stock) step() (env.Status, int64) {
	if s.job.live.Load() == 1 {
		s.job.pool.Drain()
		return env.Done, 0
	}
	if !s.job.stopping.Load() && s.job.pool.Stock() {
		return env.Progress, 0
	}
	return env.Idle, 0
}

// refused makes an error for users of what a table panics with when the pool
// refuses to give it more memory; nil for any other panic.
func (j *Job) refused(value any) error {
	err, _ := value.(error)
	if _, ok := errors.AsType[*table.MemoryError](err); !ok {
		return nil
	}
	return &StateTooLargeError{Bytes: j.pool.Held(), Limit: j.opts.MaxState, OfTask: j.pool.Held()}
}
