package flow

import "fmt"

// flatMapKernel turns each record into any number of results.
type flatMapKernel[I, O any] struct {
	failures[I]
	f    func(in *I, out *Out[O]) error
	out  Out[O]
	at   int // where to go on after ErrPending
	want int
}

func newFlatMap[I, O any](f func(in *I, out *Out[O]) error, p policy, inst *Instance) *flatMapKernel[I, O] {
	k := &flatMapKernel[I, O]{f: f, want: inst.BatchSize}
	k.failures.init(p, inst, 1)
	return k
}

func (k *flatMapKernel[I, O]) Connect(port int, to Receiver) {
	if port == 0 {
		k.out.init(k.want, to)
	}
	k.failures.connect(port, to)
}

func (k *flatMapKernel[I, O]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[I])
	if k.waits() {
		return ErrPending
	}
	timed := in.timed()
	for ; k.at < len(in.Recs); k.at++ {
		k.out.begin(in.time(k.at), timed)
		if err := k.f(&in.Recs[k.at], &k.out); err != nil {
			k.out.takeBack()
			if err = k.handle(err, &in.Recs[k.at], nil, in.time(k.at), timed); err != nil {
				return k.out.flushThen(err)
			}
			continue
		}
		k.passed()
		k.out.end()
	}
	k.at = 0
	return k.out.flush()
}

// flushThen flushes and returns err, or what flushing met, which came first.
func (o *Out[T]) flushThen(err error) error {
	if e := o.flush(); e != nil {
		return e
	}
	return err
}

// mapBatchKernel applies a function to whole batches.
type mapBatchKernel[I, O any] struct {
	single[O]
	failures[I]
	f func(in []I, out []O) error
	scratch[O]
}

func newMapBatch[I, O any](f func(in []I, out []O) error, p policy, inst *Instance) *mapBatchKernel[I, O] {
	k := &mapBatchKernel[I, O]{f: f}
	k.failures.init(p, inst, 1)
	return k
}

func (k *mapBatchKernel[I, O]) Connect(port int, to Receiver) {
	k.single.Connect(port, to)
	k.failures.connect(port, to)
}

func (k *mapBatchKernel[I, O]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[I])
	if k.waits() {
		return ErrPending
	}
	recs := k.take(len(in.Recs), &in.Head)
	if err := k.f(in.Recs, recs); err != nil {
		k.drop()
		return k.handleBatch(err, in)
	}
	k.passed()
	err := k.next.OnBatch(0, &k.batch)
	k.drop()
	return err
}

// handleBatch applies the policy to each record of a batch that failed as one.
// A retry is decided by the first: all or none are tried again.
func (f *failures[T]) handleBatch(cause error, in *BatchOf[T]) error {
	for i := range in.Recs {
		if err := f.handle(cause, &in.Recs[i], nil, in.time(i), in.timed()); err != nil {
			return err
		}
		if f.policy.kind == policyRetry { // the others have had the same tries
			f.active, f.stage, f.tries = true, f.policy.final(), 0
		}
	}
	f.active = false
	return nil
}

// flatMapBatchKernel turns whole batches into any number of results.
type flatMapBatchKernel[I, O any] struct {
	failures[I]
	f    func(in []I, out *BatchOut[O]) error
	out  BatchOut[O]
	want int
}

func newFlatMapBatch[I, O any](f func(in []I, out *BatchOut[O]) error, p policy, inst *Instance) *flatMapBatchKernel[I, O] {
	k := &flatMapBatchKernel[I, O]{f: f, want: inst.BatchSize}
	k.failures.init(p, inst, 1)
	return k
}

func (k *flatMapBatchKernel[I, O]) Connect(port int, to Receiver) {
	if port == 0 {
		k.out.out.init(k.want, to)
	}
	k.failures.connect(port, to)
}

func (k *flatMapBatchKernel[I, O]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[I])
	if k.waits() {
		return ErrPending
	}
	k.out.inputs, k.out.times, k.out.last = len(in.Recs), in.Head.Times, 0
	k.out.out.begin(MinTime, false)
	if err := k.f(in.Recs, &k.out); err != nil {
		k.out.out.takeBack()
		k.out.out.times, k.out.out.stamped = k.out.out.times[:0], false
		return k.handleBatch(err, in)
	}
	k.passed()
	return k.out.out.flush()
}

// routeKernel distributes records over its output ports.
type routeKernel[T any] struct {
	f    func(*T) int
	outs []scratch[T]
	own  [][]Time
	next []Receiver
}

func newRoute[T any](f func(*T) int, outputs int) *routeKernel[T] {
	return &routeKernel[T]{f: f, outs: make([]scratch[T], outputs), own: make([][]Time, outputs), next: make([]Receiver, outputs)}
}

func (k *routeKernel[T]) Connect(port int, to Receiver) { k.next[port] = to }

func (k *routeKernel[T]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[T])
	timed := in.timed()
	for i := range k.outs {
		k.outs[i].batch.Recs, k.own[i] = k.outs[i].batch.Recs[:0], k.own[i][:0]
	}
	for i := range in.Recs {
		to := k.f(&in.Recs[i])
		if to == -1 {
			continue
		}
		if to < 0 || to >= len(k.outs) {
			return fmt.Errorf("the route function answered %d; there are %d outputs (-1 drops)", to, len(k.outs))
		}
		o := &k.outs[to].batch
		o.Recs = append(o.Recs, in.Recs[i])
		if timed {
			k.own[to] = append(k.own[to], in.Head.Times[i])
		}
	}
	for i := range k.outs {
		o := &k.outs[i]
		o.batch.Head.Split, o.batch.Head.Times = in.Head.Split, k.own[i]
		if err := o.sendFirst(k.next[i], len(o.batch.Recs)); err != nil {
			return err
		}
	}
	return nil
}
