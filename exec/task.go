package exec

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// task is one subtask of a chain. It is stepped by one thread, never blocks,
// and does a bounded slice of work in each step.
type task struct {
	job    *Job
	chain  *chain
	index  int
	thread *thread

	ops    []*operator // in the order in which records meet them
	inputs []*input
	lanes  []*lane
	feeds  []*link // of the inputs that the plan has; for others to look at
	source *source // nil unless the root reads

	state     TaskState
	blocked   int  // lanes with elements that wait for a slot
	next      int  // input to be tried first
	cursor    int  // operator that event time is being moved at; len(ops) when at rest
	openDone  int  // operators that were opened, and are to be closed
	closeNext int  // the next of these to be closed
	released  bool // state and outputs were let go
	flushed   int  // Ending: operators that are done
	held      heldBatch
	clock     int64     // when a processing-time timer is due, in ns of the wall clock; 0 for never
	idleAt    int64     // when idleness may change the watermark, likewise
	until     time.Time // Ending: how long to wait for processing-time timers

	// current is the operator whose user code runs, failedAt the one whose
	// code failed; seen is what is in hand. They are for errors.
	current  *operator
	failedAt *operator
	seen     *flow.Header
	stats    taskStats
	callers  []*thread   // goroutines of its kernels
	closed   atomic.Bool // state is Closed; for other threads
	short    atomic.Bool // closed before its end
}

// heldBatch is a batch that the root could not take wholly.
type heldBatch struct {
	batch flow.Batch
	from  *input // nil for a batch of an inline source
}

// Bounds of one step, so that no task keeps a worker for long.
const (
	batchBudget = 4
	timerBudget = 64
	endBudget   = 512
)

func (t *task) what() string { return fmt.Sprintf("%q (task %d)", t.chain.label(), t.index) }

func (t *task) root() *operator { return t.ops[0] }

// step does a bounded slice of work.
func (t *task) step() (status env.Status, at int64) {
	completed := false
	defer func() {
		if !completed {
			status, at = t.interrupted(recover())
		}
	}()
	status, at = t.advance()
	completed = true
	return status, at
}

func (t *task) advance() (env.Status, int64) {
	if t.state == Closed {
		if err := t.closeAll(); err != nil { // nothing is left, but after a Goexit
			t.job.fail(err)
		}
		return env.Done, 0
	}
	if t.job.stopping.Load() {
		t.giveUp()
		return env.Done, 0
	}
	if t.state == Created {
		if err := t.open(); err != nil {
			return t.fail(err)
		}
		t.change(opened)
		return env.Progress, 0
	}
	for _, in := range t.inputs {
		in.look()
	}
	progress, err := t.work()
	if err != nil {
		return t.fail(err)
	}
	if t.state == Closed {
		return env.Done, 0
	}
	t.account(progress)
	if progress {
		return env.Progress, 0
	}
	return env.Idle, t.wakeTime()
}

// work pushes what waits, moves time, and takes input, in that order: nothing
// is taken while anything waits for a slot.
func (t *task) work() (progress bool, err error) {
	if t.push() {
		progress = true
	}
	if t.blocked > 0 {
		return progress, nil
	}
	did, err := t.fireClockTimers()
	progress = progress || did
	if err != nil || t.blocked > 0 {
		return progress, err
	}
	did, err = t.moveTime()
	progress = progress || did
	if err != nil || t.blocked > 0 {
		return progress, err
	}
	did, err = t.takeInput()
	progress = progress || did
	if err != nil || t.blocked > 0 {
		return progress, err
	}
	did, err = t.end()
	progress = progress || did
	if err != nil || t.blocked > 0 {
		return progress, err
	}
	if !progress {
		progress = t.flushOpen()
	}
	return progress, nil
}

// push moves waiting elements into their rings.
func (t *task) push() (moved bool) {
	if t.blocked == 0 {
		return false
	}
	t.blocked = 0
	for _, l := range t.lanes {
		if len(l.waiting) == 0 {
			continue
		}
		if l.push() {
			moved = true
		}
		if len(l.waiting) > 0 {
			t.blocked++
		}
	}
	return moved
}

// takeInput consumes up to a budget of elements from the inputs, in turn, or
// reads from an inline source.
func (t *task) takeInput() (progress bool, err error) {
	if t.state != Running || t.cursor < len(t.ops) {
		return false, nil
	}
	if w := t.root().waiting; w != nil {
		if progress, err = w.Resume(); err != nil || t.blocked > 0 {
			return progress, t.blame(t.root(), err)
		}
		if progress && t.root().delaying != nil {
			t.startTime() // what was answered may let time move on
		}
	}
	if t.held.batch != nil {
		did, err := t.retryHeld()
		if err != nil || t.held.batch != nil {
			return progress || did, err
		}
		progress = true
	}
	if t.source != nil && t.source.adopt() {
		progress = true
	}
	if t.source != nil && t.source.inline != nil {
		did, err := t.readInline()
		return progress || did, err
	}
	for range batchBudget {
		did, err := t.takeOne()
		if err != nil || !did {
			return progress, err
		}
		progress = true
		if t.state != Running || t.blocked > 0 || t.cursor < len(t.ops) || t.held.batch != nil {
			return true, nil
		}
	}
	return progress, nil
}

// takeOne consumes one element of the next input that has one.
func (t *task) takeOne() (bool, error) {
	for range t.inputs {
		in := t.inputs[t.next]
		if t.next++; t.next == len(t.inputs) {
			t.next = 0
		}
		if h := t.root().holding; in.ended || h != nil && h.Holds(in.port) {
			continue
		}
		if in.atEnd() {
			return true, t.endInput(in)
		}
		if e, ok := in.link.TryPop(); ok {
			return true, t.consume(in, e)
		}
	}
	return false, nil
}

func (t *task) consume(in *input, e element) error {
	switch e.kind {
	case watermark:
		in.wm, in.idle = max(in.wm, e.time), false
		in.roomMade()
		t.startTime()
	case idle:
		in.idle = true
		in.roomMade()
		t.startTime()
	case splitBegins:
		in.roomMade()
		t.source.begins(e.split)
	case splitEnds:
		in.roomMade()
		t.source.ends(e.split)
		t.startTime()
	default:
		if in.idle {
			in.idle = false
			t.startTime()
		}
		return t.process(in, e.batch)
	}
	return nil
}

// process passes a batch to the root and then back to its producer.
func (t *task) process(in *input, b flow.Batch) error {
	port := 0
	if in != nil {
		port = in.port
	}
	t.seen = b.Header()
	err := t.root().OnBatch(port, b)
	if err == flow.ErrPending {
		t.held = heldBatch{batch: b, from: in}
		if trace := t.job.env.Trace; trace != nil {
			trace("batch held")
		}
		return nil
	}
	if err != nil {
		return err
	}
	t.seen = nil
	if in != nil {
		in.release(b)
	}
	if t.source != nil && len(t.source.marks) > 0 {
		t.startTime()
	}
	return nil
}

// retryHeld passes the held batch again when its time has come.
func (t *task) retryHeld() (bool, error) {
	if due, ok := t.root().waiting.Due(); ok && t.job.env.Clock.Now().Before(due) {
		return false, nil
	}
	h := t.held
	t.held = heldBatch{}
	if err := t.process(h.from, h.batch); err != nil {
		return true, err
	}
	return t.held.batch == nil, nil
}

// flushOpen sends half-filled batches when there is nothing better to do, so
// that a slow stream is not held up.
func (t *task) flushOpen() bool {
	before := t.emitted()
	for _, o := range t.ops {
		o.flush(false)
	}
	return t.emitted() != before
}

// emitted counts the elements that the task has emitted.
func (t *task) emitted() (n uint64) {
	for _, l := range t.lanes {
		n += l.link.WriteSeq() + uint64(len(l.waiting))
	}
	return n
}
