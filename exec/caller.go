package exec

import (
	"fmt"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// caller runs calls of user code that wait, on a thread of its own.
type caller struct {
	op    *operator
	index int
	call  flow.Caller
}

func (c *caller) what() string {
	return fmt.Sprintf("%q (call %d of task %d)", c.op.node.Name, c.index, c.op.task.index)
}

func (c *caller) step() (status env.Status, at int64) {
	job := c.op.task.job
	completed := false
	defer func() {
		if !completed {
			job.fail(&TaskError{Operator: c.op.node.Name, Task: c.op.task.index, Err: panicked(recover())})
			status, at = env.Done, 0
		}
	}()
	if job.stopping.Load() || c.op.task.closed.Load() {
		completed = true
		return env.Done, 0
	}
	did := c.call.Call(job.ctx)
	completed = true
	if did {
		return env.Progress, 0
	}
	return env.Idle, 0
}
