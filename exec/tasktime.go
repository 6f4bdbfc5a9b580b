package exec

import (
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// Event time moves through a task's operators in their order: timers fire, and
// then the outputs are told. It may take several steps; meanwhile the task
// takes no input.

// startTime makes the next moveTime look at all operators.
func (t *task) startTime() { t.cursor = 0 }

// moveTime moves event time as far as the inputs allow.
func (t *task) moveTime() (progress bool, err error) {
	for ; t.cursor < len(t.ops); t.cursor++ {
		o := t.ops[t.cursor]
		wm, idle := t.timeAbove(o)
		if o.delaying != nil {
			wm = o.delaying.Reach(wm)
			idle = idle && !o.waiting.Outstanding()
		}
		switch {
		case wm > o.wm:
			progress = true
			more, err := t.fireEventTimers(o, wm)
			if more || err != nil {
				return true, err
			}
			o.wm, o.idle = wm, idle
			o.forwardTime(wm)
		case o.idle && !idle:
			o.idle = false
			o.forwardTime(o.wm)
		}
		if idle {
			o.idle = true
			o.forwardIdle()
		}
	}
	return progress, nil
}

// timeAbove is the event time of what reaches o.
func (t *task) timeAbove(o *operator) (wm flow.Time, idle bool) {
	switch {
	case o.parent != nil && o.watermarking == nil:
		return o.parent.wm, o.parent.idle // also at the end of data: the parent may hold it back
	case t.state != Running:
		return flow.MaxTime, false
	case o.watermarking != nil:
		return t.splitTime(o)
	case t.source != nil:
		return flow.MinTime, false
	}
	return merged(t.inputs)
}

// splitTime asks the operator that tracks splits.
func (t *task) splitTime(o *operator) (flow.Time, bool) {
	wm, idle, until := o.watermarking.NextWatermark(t.job.env.Clock.Now(), t.source.unbegun())
	o.idleAt = 0
	if !until.IsZero() {
		o.idleAt = until.UnixNano()
	}
	t.idleAt = 0
	for _, other := range t.source.marks {
		t.idleAt = earliest(t.idleAt, other.idleAt)
	}
	return wm, idle
}

// fireEventTimers fires one slice of o's timers up to wm.
func (t *task) fireEventTimers(o *operator, wm flow.Time) (more bool, err error) {
	o.inst.Watermark = wm
	if o.timed == nil {
		return false, nil
	}
	t.current = o
	more, err = o.timed.FireEventTimers(timerBudget)
	t.current = nil
	return more, t.blame(o, err)
}

// fireClockTimers fires one slice of the processing-time timers that are due,
// and finds out whether an input has fallen idle.
func (t *task) fireClockTimers() (progress bool, err error) {
	if t.state != Running || t.clock == 0 && t.idleAt == 0 && !t.hasClockTimers() {
		return false, nil
	}
	now := t.job.env.Clock.Now()
	if t.idleAt != 0 && now.UnixNano() >= t.idleAt {
		t.idleAt = 0
		t.startTime()
	}
	t.clock = 0
	for _, o := range t.ops {
		if o.timed == nil {
			continue
		}
		at, ok := o.timed.NextClockTimer()
		if ok && !now.Before(at) {
			t.current = o
			_, err := o.timed.FireClockTimers(now, timerBudget)
			t.current = nil
			if err != nil || t.blocked > 0 {
				return true, t.blame(o, err)
			}
			progress = true
			at, ok = o.timed.NextClockTimer()
		}
		if ok {
			t.clock = earliest(t.clock, at.UnixNano())
		}
	}
	return progress, nil
}

func (t *task) hasClockTimers() bool {
	for _, o := range t.ops {
		if o.timed != nil {
			if _, ok := o.timed.NextClockTimer(); ok {
				return true
			}
		}
	}
	return false
}

// earliest is the earlier of two times, of which 0 is never.
func earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// wakeTime is when the task has something to do even if nobody wakes it, on
// the monotonic clock; 0 for never.
func (t *task) wakeTime() int64 {
	if t.blocked > 0 {
		return 0 // nothing is done before there is room, and whoever makes some wakes us
	}
	if t.state == Running && t.source != nil && t.source.dry {
		return t.job.env.Clock.Mono() + int64(dryWait)
	}
	at := int64(0)
	if t.state == Running { // at the end of data, until says when
		at = earliest(t.clock, t.idleAt)
	}
	if w := t.root().waiting; w != nil {
		// Also without a held batch: an async call may wait to be made again.
		if due, ok := w.Due(); ok {
			at = earliest(at, due.UnixNano())
		}
	}
	if t.state == Ending && !t.until.IsZero() {
		at = earliest(at, t.until.UnixNano())
	}
	if at == 0 {
		return 0
	}
	wait := time.Duration(at - t.job.env.Clock.Now().UnixNano())
	return t.job.env.Clock.Mono() + int64(max(wait, 1))
}
