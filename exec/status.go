package exec

import (
	"sync/atomic"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// taskStats is what a task tells others about itself: written by the task once
// a step, read by anybody.
type taskStats struct {
	state atomic.Uint32
	wm    atomic.Int64
	ops   []opStats

	busy, blocked, idle atomic.Int64 // ns
	last                int64        // when the last step ended
	steps               uint32
	bytes               int64 // of state, as last told to the job
}

type opStats struct{ in, out atomic.Uint64 }

// stateEvery is how many steps pass between two looks at the size of state.
const stateEvery = 64

// account closes a step: where the time went, and what others may see.
func (t *task) account(progress bool) {
	s := &t.stats
	now := t.job.env.Clock.Mono()
	spent := now - s.last
	s.last = now
	switch {
	case progress:
		s.busy.Add(spent)
	case t.blocked > 0:
		s.blocked.Add(spent)
	default:
		s.idle.Add(spent)
	}
	if !progress && t.state != Closed {
		return
	}
	for i, o := range t.ops {
		s.ops[i].in.Store(o.inst.In)
		s.ops[i].out.Store(o.inst.Out)
	}
	s.wm.Store(int64(t.ops[len(t.ops)-1].wm))
	if s.steps++; s.steps%stateEvery == 0 {
		t.measureState()
	}
}

// measureState adds the change in the size of this task's state to the job's,
// which fails over its limit: better than the machine's memory running out.
func (t *task) measureState() {
	var bytes int64
	for _, o := range t.ops {
		if o.stateful != nil {
			bytes += o.stateful.StateBytes()
		}
	}
	total := t.job.state.Add(bytes - t.stats.bytes)
	t.stats.bytes = bytes
	if total > t.job.opts.MaxState && bytes > 0 {
		t.failedAt = nil
		for _, o := range t.ops {
			if o.stateful != nil && (t.failedAt == nil || o.stateful.StateBytes() > t.failedAt.stateful.StateBytes()) {
				t.failedAt = o
			}
		}
		t.fail(&StateTooLargeError{Bytes: total, Limit: t.job.opts.MaxState, OfTask: bytes})
	}
}

// change moves the task to the state that follows on e.
func (t *task) change(e taskEvent) {
	t.state = t.state.after(e)
	t.stats.state.Store(uint32(t.state))
	if e == givenUp {
		t.short.Store(true)
	}
	if t.state == Closed {
		t.closed.Store(true)
		for _, c := range t.callers {
			c.wake()
		}
	}
	if o := t.job.opts.Observer; o != nil {
		o.TaskChanged(t.chain.label(), t.index, t.state)
	}
}

// Status is a job at one moment. The parts are read one after the other while
// the job runs on.
type Status struct {
	Job        string
	Outcome    string // "running" until it has ended
	Running    time.Duration
	StateBytes int64
	Operators  []OperatorResult
	Tasks      []TaskStatus
}

// TaskStatus is one task at one moment.
type TaskStatus struct {
	Operators string // the operators fused in it
	Index     int
	State     TaskState
	In, Out   uint64  // records into its first and out of its last operator
	InRate    float64 // records/s since the task started
	Watermark flow.Time
	QueueFill float64 // of its fullest input ring, 0 to 1
	Busy      float64 // share of its time, 0 to 1
	Blocked   float64 // share in which a full ring held it: backpressure
	Idle      float64
	OffWorker bool
}

// OperatorResult counts over all tasks of an operator.
type OperatorResult struct {
	Name string
	Kind string
	In   uint64 // records received, or read
	Out  uint64 // records emitted
	// Skipped counts records dropped by OnError, Failed those whose function
	// failed (skipped and dead letters included), Late those that came after their window.
	Skipped, Failed, Late int64
}

// Status returns the job as it is now. Safe for concurrent use.
func (j *Job) Status() Status {
	s := Status{Job: j.graph.Name(), Outcome: "running", StateBytes: j.state.Load(), Operators: j.operators()}
	s.Running = j.env.Clock.Now().Sub(j.begun)
	select {
	case <-j.done:
		s.Outcome = j.outcome().String()
		s.Running = time.Duration(j.ended.Load())
	default:
	}
	for _, t := range j.tasks {
		s.Tasks = append(s.Tasks, t.status(s.Running))
	}
	return s
}

func (t *task) status(running time.Duration) TaskStatus {
	st := &t.stats
	s := TaskStatus{
		Operators: t.chain.label(), Index: t.index, State: TaskState(st.state.Load()),
		In: st.ops[0].in.Load(), Out: st.ops[len(st.ops)-1].out.Load(),
		Watermark: flow.Time(st.wm.Load()), OffWorker: t.chain.offWorker,
	}
	s.InRate = float64(s.In) / max(running.Seconds(), 1e-9)
	busy, blocked, idle := float64(st.busy.Load()), float64(st.blocked.Load()), float64(st.idle.Load())
	if all := busy + blocked + idle; all > 0 {
		s.Busy, s.Blocked, s.Idle = busy/all, blocked/all, idle/all
	}
	for _, l := range t.feeds {
		s.QueueFill = max(s.QueueFill, float64(l.Len())/float64(l.Cap()))
	}
	return s
}

func (j *Job) operators() []OperatorResult {
	nodes := j.graph.Nodes()
	all := make([]OperatorResult, len(nodes))
	for _, n := range nodes {
		r := &all[n.Index]
		stats := j.shared[n]
		r.Name, r.Kind = n.Name, n.Kind
		r.Skipped, r.Failed, r.Late = stats.Skipped.Load(), stats.Failed.Load(), stats.Late.Load()
	}
	for _, t := range j.tasks {
		for i, o := range t.ops {
			all[o.node.Index].In += t.stats.ops[i].in.Load()
			all[o.node.Index].Out += t.stats.ops[i].out.Load()
		}
	}
	return all
}

func (j *Job) result() Result {
	took := time.Duration(j.ended.Load())
	if took == 0 {
		took = j.env.Clock.Now().Sub(j.begun) // some user code still runs
	}
	return Result{Outcome: j.outcome(), Operators: j.operators(), Duration: took}
}
