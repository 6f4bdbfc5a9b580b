package exec

import (
	"fmt"
	"time"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// lister asks an unbounded source from time to time what there is to read.
type lister struct {
	job  *Job
	node *flow.Node
	due  int64
}

const listEvery = 10 * time.Second

func newLister(j *Job, n *flow.Node) *thread {
	l := &lister{job: j, node: n, due: j.env.Clock.Mono() + int64(listEvery)}
	return &thread{job: j, name: n.Name + " lister", steppers: []stepper{l}, alive: 1}
}

func (l *lister) what() string { return fmt.Sprintf("%q (list of its splits)", l.node.Name) }

func (l *lister) step() (status env.Status, at int64) {
	completed := false
	defer func() {
		if !completed {
			l.job.fail(&TaskError{Operator: l.node.Name, Err: panicked(recover())})
			status, at = env.Done, 0
		}
	}()
	status, at = l.list()
	completed = true
	return status, at
}

func (l *lister) list() (env.Status, int64) {
	if l.job.stopping.Load() {
		return env.Done, 0
	}
	if now := l.job.env.Clock.Mono(); now < l.due {
		return env.Idle, l.due
	}
	splits, err := listSplits(l.job.ctx, l.node)
	if l.job.stopping.Load() {
		return env.Done, 0
	}
	if err != nil {
		l.job.fail(&TaskError{Operator: l.node.Name, Err: err})
		return env.Done, 0
	}
	l.job.pools[l.node].add(splits)
	l.due = l.job.env.Clock.Mono() + int64(listEvery)
	l.job.wakeAll()
	return env.Progress, 0
}
