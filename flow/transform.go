package flow

import "time"

// Transformer handles the records of a stream without keys, with state of the
// task (package state) or with something from outside. It may also be what a
// Processor may be, save a TimerHandler.
type Transformer[I, O any] interface {
	Transform(ctx TaskCtx, in *I, out *Out[O]) error
}

// Transform passes the records of a stream to transformers, one a task. newP is
// as in Process.
func Transform[I, O any, P Transformer[I, O]](s Stream[I], name string, newP func(TaskScope) P, opts ...Option) Stream[O] {
	n := fallible[I](unary(s, "transform", name, applyAll(opts)))
	probe := probeTask[O](s.g, n, newP, false)
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		kern := &transformKernel[I, O]{}
		p, err := startTask(&kern.processorCore, inst, probe, newP)
		if err != nil {
			return nil, err
		}
		kern.ctx.inst = inst
		var ctx TaskCtx = &kern.ctx
		kern.in.init(&kern.ctx, n, inst, n.DeadPort, func(in *I, out *Out[O]) error { return p.Transform(ctx, in, out) })
		return kern, nil
	}
	return out[O](s.g, n)
}

// taskProbe is a keyProbe of an operator without keys.
type taskProbe struct {
	graph      *Graph
	node       *Node
	broadcasts bool
}

// probeTask calls the factory of an operator without keys while the graph is
// built.
func probeTask[O, P any](g *Graph, n *Node, newP func(TaskScope) P, broadcasts bool) taskProbe {
	states := &States{graph: g, broadcasts: broadcasts}
	scope := &taskScope{states, TaskInfo{Operator: n.Name, Parallelism: 1}}
	n.required("factory", newP == nil)
	if newP != nil {
		p, err := made(func() P { return newP(scope) })
		noteProbe(n, states, p, err, keylessHooks[O]())
	}
	return taskProbe{g, n, broadcasts}
}

// startTask makes the processor of one task.
func startTask[O, P any](k *processorCore[O], inst *Instance, probe taskProbe, newP func(TaskScope) P) (p P, err error) {
	k.inst = inst
	k.states = &States{graph: probe.graph, inst: inst, broadcasts: probe.broadcasts}
	scope := &taskScope{k.states, inst.Task}
	v, err := made(func() P { return newP(scope) })
	if err == nil {
		err = k.states.seal(probe.node.States)
	}
	if err != nil {
		k.states.close()
		return p, err
	}
	k.adopt(v)
	return v.(P), nil
}

// transformKernel is Transform.
type transformKernel[I, O any] struct {
	processorCore[O]
	ctx taskCtx
	in  plainSide[I, O]
}

func (k *transformKernel[I, O]) Connect(port int, to Receiver) {
	k.connect(port, to)
	k.in.connect(port, to)
}

func (k *transformKernel[I, O]) OnBatch(_ int, b Batch) error {
	return k.in.onBatch(&k.processorCore, b)
}
func (k *transformKernel[I, O]) Due() (time.Time, bool) { return k.in.Due() }
func (k *transformKernel[I, O]) Outstanding() bool      { return false }
func (k *transformKernel[I, O]) Resume() (bool, error)  { return false, nil }
