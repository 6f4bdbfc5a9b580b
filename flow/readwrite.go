package flow

import (
	"context"
	"errors"
	"io"
	"reflect"
)

// Read starts a stream with the records of src. OnError says what becomes of a
// record that could not be decoded.
func Read[T any](g *Graph, name string, src Source[T], opts ...Option) Stream[T] {
	n := fallible[T](g.add("read", name, applyAll(opts)))
	n.MustHead = true
	if src == nil {
		n.fault("the source is nil")
		return out[T](g, n)
	}
	if n.policy.kind == policyRetry {
		n.fault("OnError(Retry(...)): a record that can't be decoded stays so; use Skip, DeadLetter or Fail")
	}
	spec := &SourceSpec{
		Bounded: src.Bounded(),
		Splits:  src.Splits,
		Open: func(ctx context.Context, s Split, from Position) (SourceReader, error) {
			r, err := src.Open(ctx, s, from)
			if err != nil {
				return nil, err
			}
			if r == nil {
				return nil, errors.New("the source's Open returned neither a reader nor an error")
			}
			return &sourceReader[T]{r: r}, nil
		},
		NewBatch: func(want int) Batch { return NewBatch[T](BatchSize(want, reflect.TypeFor[T]().Size())) },
	}
	if im, ok := src.(Immediate); ok {
		spec.Immediate = im.Immediate()
	}
	if c, ok := src.(Checker); ok {
		n.Check = c.Check
	}
	n.Source = spec
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		k := &readKernel[T]{}
		k.failures.init(n.policy, inst, 1)
		return k, nil
	}
	return out[T](g, n)
}

// sourceReader fills batches from a Reader.
type sourceReader[T any] struct{ r Reader[T] }

func (s *sourceReader[T]) Read(ctx context.Context, b Batch) error {
	batch := b.(*BatchOf[T])
	n, err := s.r.Read(ctx, batch.Recs[:cap(batch.Recs)])
	if n < 0 || n > cap(batch.Recs) {
		panic("flow: the Reader's Read returned an impossible number of records")
	}
	batch.Recs = batch.Recs[:n]
	batch.Head.Pos = s.r.Position()
	if err == nil || err == io.EOF {
		return err
	}
	if bad, ok := errors.AsType[*RecordError](err); ok {
		batch.Head.Bad = bad
		return nil
	}
	return err
}

func (s *sourceReader[T]) Close() error { return s.r.Close() }

// readKernel is the first operator of a source's task: it passes on what the
// reader read, and decides what becomes of what it could not.
type readKernel[T any] struct {
	single[T]
	failures[T]
}

func (k *readKernel[T]) Connect(port int, to Receiver) {
	k.single.Connect(port, to)
	k.failures.connect(port, to)
}

func (k *readKernel[T]) OnBatch(_ int, b Batch) error {
	if b.Len() > 0 {
		if err := k.next.OnBatch(0, b); err != nil {
			return err
		}
	}
	if bad := b.Header().Bad; bad != nil {
		return k.handle(bad, nil, bad.Raw, MinTime, false)
	}
	return nil
}

// Write ends a stream in sink. Writing runs off the workers, unless the sink
// says that it never blocks.
func Write[T any](s Stream[T], name string, sink Sink[T], opts ...Option) {
	n := unary(s, "write", name, applyAll(opts))
	n.OutPorts, n.Sink = 0, true
	if sink == nil {
		n.fault("the sink is nil")
		return
	}
	n.fallible = true
	if n.policy.kind != policyFail {
		n.fault("OnError: a write fails as a whole; only Fail() makes sense")
	}
	n.OffWorker = true
	if im, ok := sink.(Immediate); ok && im.Immediate() {
		n.OffWorker = false
	}
	if c, ok := sink.(Checker); ok {
		n.Check = c.Check
	}
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		return &writeKernel[T]{sink: sink, inst: inst}, nil
	}
}

// writeKernel is a sink in one task.
type writeKernel[T any] struct {
	sink Sink[T]
	inst *Instance
	w    Writer[T]
	ctx  context.Context
}

func (k *writeKernel[T]) Connect(int, Receiver) {}

func (k *writeKernel[T]) Open(ctx context.Context) error {
	w, err := k.sink.Open(ctx, k.inst.Task)
	if err != nil {
		return err
	}
	if w == nil {
		return errors.New("the sink's Open returned neither a writer nor an error")
	}
	k.w, k.ctx = w, ctx
	return nil
}

func (k *writeKernel[T]) OnBatch(_ int, b Batch) error {
	return k.w.Write(k.ctx, b.(*BatchOf[T]).Recs)
}

func (k *writeKernel[T]) OnEnd(int) (bool, error) { return false, k.w.Flush(k.ctx) }

func (k *writeKernel[T]) Close() error {
	if k.w == nil {
		return nil
	}
	return k.w.Close()
}
