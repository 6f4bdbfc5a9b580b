package exec

import (
	"context"
	"runtime/pprof"
	"strconv"

	"github.com/tailrace-io/tailrace/flow"
)

// operator is one operator in one task: its kernel, what the engine found that
// it can do, and where its results go.
type operator struct {
	task    *task
	node    *flow.Node
	inst    *flow.Instance
	kernel  flow.Kernel
	parent  *operator       // nil for the root
	labels  context.Context // pprof labels: profiles can be cut by operator
	outlets []flow.Outlet
	lanes   []*lane

	timed        flow.Timed
	inputEnding  flow.InputEnding
	ending       flow.Ending
	holding      flow.Holding
	waiting      flow.Waiting
	watermarking flow.Watermarking
	delaying     flow.Delaying
	stateful     flow.Stateful

	wm     flow.Time // event time reached: timers fired and told to outputs
	idle   bool
	idleAt int64 // when idleness may change its watermark, in ns of the wall clock; 0 for never
}

func newOperator(t *task, n *flow.Node, inst *flow.Instance, k flow.Kernel) *operator {
	o := &operator{task: t, node: n, inst: inst, kernel: k, wm: flow.MinTime}
	inst.Watermark = flow.MinTime
	o.labels = pprof.WithLabels(context.Background(), pprof.Labels("operator", n.Name, "task", strconv.Itoa(t.index)))
	o.timed, _ = k.(flow.Timed)
	o.inputEnding, _ = k.(flow.InputEnding)
	o.ending, _ = k.(flow.Ending)
	o.holding, _ = k.(flow.Holding)
	o.waiting, _ = k.(flow.Waiting)
	o.watermarking, _ = k.(flow.Watermarking)
	o.delaying, _ = k.(flow.Delaying)
	o.stateful, _ = k.(flow.Stateful)
	return o
}

// OnBatch runs the kernel and keeps account of whose user code is running.
func (o *operator) OnBatch(port int, b flow.Batch) error {
	t := o.task
	before := t.current
	t.current = o
	pprof.SetGoroutineLabels(o.labels)
	o.inst.In += uint64(b.Len())
	err := o.kernel.OnBatch(port, b)
	if err != nil {
		if t.failedAt == nil && err != flow.ErrPending {
			t.failedAt = o
		}
		if err == flow.ErrPending {
			o.inst.In -= uint64(b.Len())
		}
	}
	t.current = before
	if before != nil {
		pprof.SetGoroutineLabels(before.labels)
	}
	return err
}

// fan passes what an output port emits to all that read it.
type fan struct {
	from *operator
	to   []flow.Receiver
}

func (f *fan) OnBatch(_ int, b flow.Batch) error {
	f.from.inst.Out += uint64(b.Len())
	for _, r := range f.to {
		if err := r.OnBatch(0, b); err != nil {
			return err
		}
	}
	return nil
}

// ahead is the outlet of a keyed edge. It runs user code of the operator that it
// leads to (the key function, and the aggregator where records are aggregated
// before they are exchanged), which is to be blamed for what that does.
type ahead struct {
	flow.Outlet
	to *operator
}

func newAhead(from *operator, to *flow.Node, out flow.Outlet) *ahead {
	return &ahead{Outlet: out, to: &operator{task: from.task, node: to, inst: &flow.Instance{}}}
}

func (a *ahead) OnBatch(port int, b flow.Batch) error {
	t := a.to.task
	before := t.current
	t.current = a.to
	err := a.Outlet.OnBatch(port, b)
	t.current = before
	return err
}

// flush sends the open batches of o's outlets; all also what is held back to
// be aggregated.
func (o *operator) flush(all bool) {
	for _, out := range o.outlets {
		out.Flush(all)
	}
}

// forwardTime tells o's outputs that event time is wm.
func (o *operator) forwardTime(wm flow.Time) {
	if len(o.lanes) == 0 {
		return
	}
	o.flush(true)
	for _, l := range o.lanes {
		l.watermark(wm)
	}
}

// forwardIdle tells o's outputs that this task does not hold back event time.
func (o *operator) forwardIdle() {
	for _, l := range o.lanes {
		l.goIdle()
	}
}
