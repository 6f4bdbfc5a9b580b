package exec

import (
	"errors"

	"github.com/tailrace-io/tailrace/flow"
)

// How a task ends: the end of data is consumed on each input, event time moves
// to MaxTime, each operator is told in turn, the end of data is published on
// each output, and when all consumers have acked it the task closes.

// open gives the operators what they need from outside.
func (t *task) open() error {
	for _, o := range t.ops {
		if k, ok := o.kernel.(flow.Opening); ok {
			t.current = o
			if err := k.Open(t.job.ctx); err != nil {
				return t.blame(o, wrap("open", err))
			}
		}
		t.openDone++
	}
	t.current = nil
	return nil
}

// endInput consumes the end of data of one input.
func (t *task) endInput(in *input) error {
	in.ended = true
	portEnded := true
	for _, other := range t.inputs {
		if other.port == in.port && !other.ended {
			portEnded = false
		}
	}
	if k := t.root().inputEnding; k != nil && portEnded {
		t.current = t.root()
		if err := k.OnInputEnd(in.port); err != nil {
			return t.blame(t.root(), err)
		}
		t.current = nil
	}
	in.finish()
	t.inputsChanged()
	if trace := t.job.env.Trace; trace != nil && t.state == Running {
		trace("input ended before the others")
	}
	return nil
}

// inputsChanged begins the end when nothing more can come.
func (t *task) inputsChanged() {
	for _, in := range t.inputs {
		if !in.ended {
			t.startTime()
			return
		}
	}
	if t.source != nil && !t.source.exhausted() {
		return
	}
	t.change(inputsEnded)
	t.startTime()
}

// end does one slice of the end of a task.
func (t *task) end() (progress bool, err error) {
	switch {
	case t.state == Ending:
		return t.endOperators()
	case t.state == Ended && t.acked():
		t.change(allAcked)
		return true, t.closeAll()
	}
	return false, nil
}

func (t *task) endOperators() (progress bool, err error) {
	if w := t.root().waiting; w != nil && w.Outstanding() {
		progress, err = w.Resume()
		if progress {
			t.startTime() // what was answered may let time move on
		}
		return progress, t.blame(t.root(), err)
	}
	if t.cursor < len(t.ops) {
		return false, nil // timers first
	}
	if t.root().wm != flow.MaxTime {
		t.startTime()
		return true, nil
	}
	for t.flushed < len(t.ops) {
		o := t.ops[t.flushed]
		done, did, err := t.endOperator(o)
		if err != nil || !done {
			return did, err
		}
		o.flush(true)
		progress = true
		t.flushed++
		if t.blocked > 0 {
			return true, nil
		}
	}
	for _, l := range t.lanes {
		l.end()
	}
	t.change(allFlushed)
	return true, nil
}

// endOperator does one slice of the end of o. Whoever leaves it by a panic
// leaves o as the one to be blamed.
func (t *task) endOperator(o *operator) (done, progress bool, err error) {
	t.current = o
	done, progress, err = t.endSlice(o)
	t.current = nil
	return done, progress, err
}

// endSlice does timers that were set late, then those of the clock, then o's
// own end.
func (t *task) endSlice(o *operator) (done, progress bool, err error) {
	if o.timed != nil {
		if more, err := t.fireEventTimers(o, flow.MaxTime); more || err != nil {
			return false, true, err
		}
		t.current = o
		until, wait, more, err := o.timed.EndClockTimers(t.job.env.Clock.Now(), timerBudget)
		if err != nil || more {
			return false, true, t.blame(o, err)
		}
		moved := wait && !t.until.Equal(until)
		t.until = until
		if wait {
			return false, moved, nil
		}
	}
	if o.ending != nil {
		if more, err := o.ending.OnEnd(endBudget); more || err != nil {
			return false, true, t.blame(o, err)
		}
	}
	return true, true, nil
}

// acked says whether every consumer has dealt with the end of data.
func (t *task) acked() bool {
	for _, l := range t.lanes {
		if !l.link.Acked() {
			return false
		}
	}
	return true
}

// giveUp ends a task of a job that was canceled or has failed: nothing more is
// emitted.
func (t *task) giveUp() {
	t.change(givenUp)
	if err := t.closeAll(); err != nil {
		t.job.fail(err)
	}
}

// closeAll closes the operators, all of them whatever happens, and lets the
// outputs go. User code may end its goroutine meanwhile: called again, it goes on.
func (t *task) closeAll() error {
	var errs []error
	for t.closeNext < t.openDone {
		o := t.ops[t.closeNext]
		t.closeNext++
		if k, ok := o.kernel.(flow.Closing); ok {
			errs = append(errs, t.closing(o, "close", k.Close))
		}
	}
	if s := t.source; s != nil && s.inline != nil {
		errs = append(errs, t.closing(t.root(), "close the split", s.inline.close))
	}
	if t.released {
		return errors.Join(errs...)
	}
	t.released = true
	for _, o := range t.ops {
		if o.stateful != nil {
			o.stateful.CloseState()
		}
	}
	for _, l := range t.lanes {
		l.close()
	}
	t.account(true)
	return errors.Join(errs...)
}

// closing calls a function of o that closes. That may panic, like any user code.
func (t *task) closing(o *operator, what string, end func() error) (err error) {
	completed := false
	defer func() {
		if completed {
			return
		}
		value := recover()
		if err = t.taskError(o, panicked(value)); value == nil {
			t.job.fail(err) // Goexit: nobody will see what is returned
		}
	}()
	err = end()
	completed = true
	if err == nil || t.job.stopping.Load() && isCanceled(err) {
		return nil
	}
	return t.taskError(o, wrap(what, err))
}
