package flow

import "time"

// BroadcastProcessor is a Processor with rules: the records of a second stream
// that goes to every task. Each task holds a copy of broadcast state
// (state.BroadcastOf), which only ProcessBroadcast can change; it must do the
// same in every task. There is no order between the sides.
type BroadcastProcessor[K comparable, I, B, O any] interface {
	Process(ctx Ctx[K], in *I, out *Out[O]) error
	ProcessBroadcast(ctx BroadcastCtx, in *B, out *Out[O]) error
}

// BroadcastTransformer is a Transformer with rules, as BroadcastProcessor.
type BroadcastTransformer[I, B, O any] interface {
	Transform(ctx TaskCtx, in *I, out *Out[O]) error
	TransformBroadcast(ctx BroadcastCtx, in *B, out *Out[O]) error
}

// BroadcastCtx is a TaskCtx of the broadcast side and the licence to write
// broadcast state. It is valid during the call that it is passed to.
type BroadcastCtx interface {
	TaskCtx
	licence() *States
}

type broadcastCtx struct {
	taskCtx
	states *States
}

func (c *broadcastCtx) licence() *States { return c.states }

// ProcessBroadcast passes a keyed stream, and every record of b to each task,
// to processors. newP is as in Process.
func ProcessBroadcast[K comparable, I, B, O any, P BroadcastProcessor[K, I, B, O]](k Keyed[K, I], b Stream[B], name string, newP func(Scope[K]) P, opts ...ProcessOption) Stream[O] {
	set := applyAll(opts)
	n := k.s.g.add("process broadcast", name, set)
	connectKeyed(k, n, 0)
	fallible[I](n)
	dead, ok := connectBroadcast(k.s.g, b, n)
	if !ok {
		return out[O](k.s.g, n)
	}
	probe := probeKeyed[K, O](k.s.g, n, k.hash, newP, true)
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		kern := &processBroadcastKernel[K, I, B, O]{}
		p, err := startKeyed(&kern.keyedCore, inst, set.atEnd, probe, newP)
		if err != nil {
			return nil, err
		}
		kern.in.init(k, n, inst, n.DeadPort, p.Process)
		kern.rules.init(&kern.processorCore, n, inst, dead, p.ProcessBroadcast)
		return kern, nil
	}
	return out[O](k.s.g, n)
}

// TransformBroadcast passes the records of s, and every record of b to each
// task, to transformers. newP is as in Process.
func TransformBroadcast[I, B, O any, P BroadcastTransformer[I, B, O]](s Stream[I], b Stream[B], name string, newP func(TaskScope) P, opts ...Option) Stream[O] {
	n := fallible[I](unary(s, "transform broadcast", name, applyAll(opts)))
	dead, ok := connectBroadcast(s.g, b, n)
	if !ok {
		return out[O](s.g, n)
	}
	probe := probeTask[O](s.g, n, newP, true)
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		kern := &transformBroadcastKernel[I, B, O]{}
		p, err := startTask(&kern.processorCore, inst, probe, newP)
		if err != nil {
			return nil, err
		}
		kern.ctx.inst = inst
		var ctx TaskCtx = &kern.ctx
		kern.in.init(&kern.ctx, n, inst, n.DeadPort, func(in *I, out *Out[O]) error { return p.Transform(ctx, in, out) })
		kern.rules.init(&kern.processorCore, n, inst, dead, p.TransformBroadcast)
		return kern, nil
	}
	return out[O](s.g, n)
}

// connectBroadcast adds the broadcast side as port 1.
func connectBroadcast[B any](g *Graph, b Stream[B], n *Node) (deadPort int, ok bool) {
	n.MustHead = true
	if b.g != g || b.node == nil {
		n.fault("the broadcast side belongs to another graph")
		return 0, false
	}
	if b.part == RoundRobin {
		n.fault("Rebalance on the broadcast side: it goes to every task")
	}
	b.part = ToAll
	connect(b, n, 1)
	return alsoFallible[B](n), true
}

// broadcastSide is the broadcast input of a processor.
type broadcastSide[B, O any] struct {
	plainSide[B, O]
	ctx broadcastCtx
}

func (s *broadcastSide[B, O]) init(k *processorCore[O], n *Node, inst *Instance, deadPort int, call func(BroadcastCtx, *B, *Out[O]) error) {
	s.ctx = broadcastCtx{taskCtx{inst: inst}, k.states}
	var ctx BroadcastCtx = &s.ctx
	s.plainSide.init(&s.ctx.taskCtx, n, inst, deadPort, func(in *B, out *Out[O]) error { return call(ctx, in, out) })
}

func (s *broadcastSide[B, O]) onBatch(k *processorCore[O], b Batch) error {
	k.states.writing = true
	err := s.plainSide.onBatch(k, b)
	k.states.writing = false
	return err
}

// processBroadcastKernel is ProcessBroadcast.
type processBroadcastKernel[K comparable, I, B, O any] struct {
	keyedCore[K, O]
	in    keyedSide[K, I, O]
	rules broadcastSide[B, O]
}

func (k *processBroadcastKernel[K, I, B, O]) Connect(port int, to Receiver) {
	k.connect(port, to)
	k.in.connect(port, to)
	k.rules.connect(port, to)
}

func (k *processBroadcastKernel[K, I, B, O]) OnBatch(port int, b Batch) error {
	if port == 0 {
		return k.in.onBatch(&k.keyedCore, b)
	}
	return k.rules.onBatch(&k.processorCore, b)
}

func (k *processBroadcastKernel[K, I, B, O]) Due() (time.Time, bool) {
	return dueOf(k.in.Due, k.rules.Due)
}
func (k *processBroadcastKernel[K, I, B, O]) Outstanding() bool     { return false }
func (k *processBroadcastKernel[K, I, B, O]) Resume() (bool, error) { return false, nil }

// transformBroadcastKernel is TransformBroadcast.
type transformBroadcastKernel[I, B, O any] struct {
	processorCore[O]
	ctx   taskCtx
	in    plainSide[I, O]
	rules broadcastSide[B, O]
}

func (k *transformBroadcastKernel[I, B, O]) Connect(port int, to Receiver) {
	k.connect(port, to)
	k.in.connect(port, to)
	k.rules.connect(port, to)
}

func (k *transformBroadcastKernel[I, B, O]) OnBatch(port int, b Batch) error {
	if port == 0 {
		return k.in.onBatch(&k.processorCore, b)
	}
	return k.rules.onBatch(&k.processorCore, b)
}

func (k *transformBroadcastKernel[I, B, O]) Due() (time.Time, bool) {
	return dueOf(k.in.Due, k.rules.Due)
}
func (k *transformBroadcastKernel[I, B, O]) Outstanding() bool     { return false }
func (k *transformBroadcastKernel[I, B, O]) Resume() (bool, error) { return false, nil }
