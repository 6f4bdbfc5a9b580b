package exec

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
	"github.com/tailrace-io/tailrace/internal/invariant"
)

// TaskError is what failed a job: an error or panic of user code, or of a
// source or sink, and where it happened.
type TaskError struct {
	Operator string
	Task     int           // index of the task
	Split    string        // ID of the split in hand, "" if unknown (after an exchange)
	Position flow.Position // position after the batch in hand, within the split
	Key      string        // the key in hand, "" where there is none
	Err      error         // a *PanicError for a panic
}

func (e *TaskError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "operator %q, task %d", e.Operator, e.Task)
	if e.Split != "" {
		fmt.Fprintf(&b, ", split %s", e.Split)
	}
	if printable(e.Position) { // others say something to their source only
		fmt.Fprintf(&b, ", at or before position %s", e.Position)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, ", key %s", e.Key)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

func (e *TaskError) Unwrap() error { return e.Err }

func printable(p flow.Position) bool {
	for _, c := range p {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return len(p) > 0
}

// PanicError is a panic of user code, or a call of runtime.Goexit in it.
type PanicError struct {
	Value any    // what it panicked with; nil for Goexit
	Stack []byte // of the goroutine, when it did
}

func (e *PanicError) Error() string {
	what := fmt.Sprintf("panic: %v", e.Value)
	if e.Value == nil {
		what = "the user function called runtime.Goexit (t.FailNow and t.Fatal do)"
	}
	return what + "\n" + string(bytes.TrimSpace(e.Stack))
}

// Unwrap gives the panic's value when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// panicked turns what recover returned into an error. A broken invariant is
// our own bug: it goes on.
func panicked(value any) error {
	if v, ok := value.(invariant.Violation); ok {
		panic(v)
	}
	return &PanicError{Value: value, Stack: debug.Stack()}
}

// guarded calls user code of n on the goroutine of whoever starts the job. A
// panic becomes an error, as everywhere.
func guarded(n *flow.Node, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &TaskError{Operator: n.Name, Err: panicked(v)}
		}
	}()
	return f()
}

func wrap(doing string, err error) error { return fmt.Errorf("%s: %w", doing, err) }

// taskError says where err happened: in o.
func (t *task) taskError(o *operator, err error) error {
	var already *TaskError
	if errors.As(err, &already) {
		return err
	}
	e := &TaskError{Operator: o.node.Name, Task: t.index, Err: err}
	switch s := t.source; {
	case s == nil:
	case t.seen != nil:
		e.Split, e.Position = s.pool.id(t.seen.Split), t.seen.Pos
	case s.reading:
		e.Split, e.Position = s.inline.id(), s.inline.pos
	}
	if o.inst.Key != nil {
		e.Key = o.inst.Key()
	}
	return e
}

// blame notes that err came from o; nil stays nil.
func (t *task) blame(o *operator, err error) error {
	if err != nil && t.failedAt == nil {
		t.failedAt = o
	}
	return err
}

// interrupted ends a step that user code has left by a panic or by Goexit.
func (t *task) interrupted(value any) (env.Status, int64) {
	if t.state == Closed {
		return env.Progress, 0 // Goexit while closing, which is told: what is left to close comes next
	}
	if o := t.current; o != nil {
		t.failedAt = o
	}
	if err := t.job.refused(value); err != nil {
		return t.fail(err)
	}
	return t.fail(panicked(value))
}

// fail ends the task and its job.
func (t *task) fail(err error) (env.Status, int64) {
	o := t.failedAt
	if o == nil {
		o = t.root()
	}
	t.current = nil
	t.job.fail(t.taskError(o, err))
	if t.state != Closed {
		t.giveUp()
	}
	return env.Done, 0
}
