package flow

import (
	"context"
	"time"
)

// Processor handles the records of a keyed stream one by one, with state of
// their keys (package state), and timers if it is a TimerHandler. An error
// return takes the results of that call back, but not its changes of state.
//
// A processor belongs to one task and is called by one goroutine at a time. It
// may also be an Opener, an io.Closer, a TimerHandler, an EndHandler, a
// FinalCheckpointer and a CompletionHandler.
type Processor[K comparable, I, O any] interface {
	Process(ctx Ctx[K], in *I, out *Out[O]) error
}

// CoProcessor is a Processor of two streams that share keys and state. There
// is no order between the sides.
type CoProcessor[K comparable, L, R, O any] interface {
	ProcessLeft(ctx Ctx[K], in *L, out *Out[O]) error
	ProcessRight(ctx Ctx[K], in *R, out *Out[O]) error
}

// Opener is a processor that needs something from outside: Open is called once
// a task, before the first record. What it opens, Close of an io.Closer gives
// back, whatever became of the job.
type Opener interface {
	Open(ctx context.Context) error
}

// TimerHandler is a processor with timers. OnTimer is called for each timer
// that has come, in the order of their times, with its key in hand and the tag
// that it was set with. An error fails the job. Results have the timer's time,
// those of a processing-time timer the watermark.
type TimerHandler[K comparable, O any] interface {
	OnTimer(ctx Ctx[K], tag string, out *Out[O]) error
}

// EndHandler is a processor with something to do when all its inputs have
// ended, by themselves or because the job is drained: OnEndOfData is called
// once a task, after all timers. Its results have the event time MaxTime.
type EndHandler[O any] interface {
	OnEndOfData(out *Out[O]) error
}

// FinalCheckpointer says whether the operator waits, when its data has ended,
// for a checkpoint that covers everything it did. Without it, it does if it is
// a CompletionHandler.
type FinalCheckpointer interface {
	RequiresFinalCheckpoint() bool
}

// CompletionHandler is told of checkpoints that have become durable. A call may
// be missed, and made up for by that of a later checkpoint.
type CompletionHandler interface {
	OnCheckpointComplete(id CheckpointID) error
}

// TaskCtx is what a processor may ask about the call in progress.
type TaskCtx interface {
	// Timestamp is the event time of the record or timer in hand: MinTime for a
	// record of a stream without timestamps, the watermark for a
	// processing-time timer.
	Timestamp() Time
	// Watermark is the event time that the operator has reached.
	Watermark() Time
	// Now is the processing time.
	Now() time.Time
}

// Ctx is a TaskCtx with a key in hand. It is valid during the call that it is
// passed to. Timers need a processor with OnTimer.
type Ctx[K comparable] interface {
	TaskCtx
	Key() K
	// SetTimer sets a timer of the key in event time. One with the same time
	// and tag is set once. A time that is not after the watermark is taken at
	// the next step of the watermark. MaxTime means at the end of data, before
	// OnEndOfData; all timers fire there, and those that they set as well: a
	// processor that sets timers without end asks whether Watermark is MaxTime.
	// It panics when at is MinTime, which is what a record without event time has.
	SetTimer(at Time, tag string)
	ClearTimer(at Time, tag string)
	// SetProcessingTimer sets a timer of the key in processing time, with a
	// resolution of 1 µs. ProcessingTimersAtEnd says what becomes of it at the
	// end of data.
	SetProcessingTimer(at time.Time, tag string)
	ClearProcessingTimer(at time.Time, tag string)
}

// Process passes the records of a keyed stream to processors, one a task. newP
// makes one; it runs once while the graph is built, to learn the state, and
// once a task. It declares state and allocates, and does nothing else.
func Process[K comparable, I, O any, P Processor[K, I, O]](k Keyed[K, I], name string, newP func(Scope[K]) P, opts ...ProcessOption) Stream[O] {
	set := applyAll(opts)
	n := k.s.g.add("process", name, set)
	connectKeyed(k, n, 0)
	fallible[I](n)
	probe := probeKeyed[K, O](k.s.g, n, k.hash, newP, false)
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		kern := &processKernel[K, I, O]{}
		p, err := startKeyed(&kern.keyedCore, inst, set.atEnd, probe, newP)
		if err != nil {
			return nil, err
		}
		kern.in.init(k, n, inst, n.DeadPort, p.Process)
		return kern, nil
	}
	return out[O](k.s.g, n)
}

// Connect passes two keyed streams to processors that share state of their
// common keys. newP is as in Process.
func Connect[K comparable, L, R, O any, P CoProcessor[K, L, R, O]](l Keyed[K, L], r Keyed[K, R], name string, newP func(Scope[K]) P, opts ...ProcessOption) Stream[O] {
	set := applyAll(opts)
	n := l.s.g.add("connect", name, set)
	n.MustHead = true
	connectKeyed(l, n, 0)
	fallible[L](n)
	rightDead := alsoFallible[R](n)
	if r.s.g != l.s.g || r.s.node == nil {
		n.fault("the right side belongs to another graph")
		return out[O](l.s.g, n)
	}
	connectKeyed(r, n, 1)
	probe := probeKeyed[K, O](l.s.g, n, l.hash, newP, false)
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		kern := &connectKernel[K, L, R, O]{}
		p, err := startKeyed(&kern.keyedCore, inst, set.atEnd, probe, newP)
		if err != nil {
			return nil, err
		}
		kern.left.init(l, n, inst, n.DeadPort, p.ProcessLeft)
		kern.right.init(r, n, inst, rightDead, p.ProcessRight)
		return kern, nil
	}
	return out[O](l.s.g, n)
}
