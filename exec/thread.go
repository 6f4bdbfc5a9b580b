package exec

import (
	"sync/atomic"

	"github.com/tailrace-io/tailrace/internal/env"
)

// stepper is what a thread steps: a task, a pump, or a caller.
type stepper interface {
	step() (env.Status, int64)
	// what names whose user code it runs, for people.
	what() string
}

// thread is what one goroutine of the engine steps: the tasks of a worker, or
// one pump, caller or blocking task.
type thread struct {
	job      *Job
	name     string
	labels   []string
	steppers []stepper
	finished []bool
	alive    int
	worker   bool
	waker    atomic.Pointer[env.Waker]
	// at is the stepper whose step runs or ran last.
	// Owner: the thread.  Observed by: whoever asks why it does not end.
	at    atomic.Int32
	ended atomic.Bool
}

// exit is called when the goroutine of the thread ends.
func (th *thread) exit(lost bool) {
	if !lost {
		th.ended.Store(true)
	}
	th.job.threadEnded(lost)
}

// Wake ends a wait of the thread.
func (th *thread) Wake() { th.wake() }

func (th *thread) wake() {
	if w := th.waker.Load(); w != nil {
		(*w).Wake()
	}
}

// Step steps everything once.
func (th *thread) Step() (env.Status, int64) {
	if !th.job.started.Load() {
		return env.Idle, 0 // woken when the job is complete
	}
	if th.finished == nil {
		th.finished = make([]bool, len(th.steppers))
	}
	status, at := env.Idle, int64(0)
	for i, s := range th.steppers {
		if th.finished[i] {
			continue
		}
		th.at.Store(int32(i))
		st, when := s.step()
		switch st {
		case env.Progress:
			status = env.Progress
		case env.Done:
			th.finished[i] = true
			status = env.Progress
			if th.alive--; th.alive == 0 {
				return env.Done, 0
			}
		default:
			at = earliest(at, when)
		}
	}
	return status, at
}
