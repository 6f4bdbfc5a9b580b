package flow

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/tailrace-io/tailrace/internal/table"
)

// This file is the contract between the operators of this package, which know
// the types of their records, and the engine that drives them, which does not.
// User code needs nothing of it.

// ErrPending is returned by OnBatch when the operator can't go on now: the
// engine keeps the batch and passes the same one again later, and the operator
// goes on where it stopped. Only operators that said MustHead return it.
var ErrPending = errors.New("flow: the operator waits")

// Receiver takes batches: a kernel further down the same chain, or the outlet
// to an edge. The batch is lent for the call.
type Receiver interface {
	OnBatch(port int, b Batch) error
}

// Kernel is one operator in one task. All its methods are called by one
// goroutine at a time. What else it can do, the engine finds by type
// assertion: Opening, Closing, Timed, InputEnding, Ending, Holding, Waiting,
// Watermarking, Stateful, Saving, Calling, CompletionHandler.
type Kernel interface {
	Receiver
	// Connect sets where the results of an output port go. It is called for
	// each port before anything else.
	Connect(port int, to Receiver)
}

// Opening kernels get what they need from outside before the first record.
type Opening interface {
	Open(ctx context.Context) error
}

// Closing kernels give it back, whatever became of the job.
type Closing interface{ Close() error }

// Timed kernels have timers. A call fires at most budget of them and says
// whether more are due.
type Timed interface {
	// FireEventTimers fires timers up to the instance's watermark.
	FireEventTimers(budget int) (more bool, err error)
	// FireClockTimers fires processing-time timers up to now.
	FireClockTimers(now time.Time, budget int) (more bool, err error)
	// NextClockTimer is when FireClockTimers has something to do.
	NextClockTimer() (at time.Time, ok bool)
	// EndClockTimers does at the end of data what the operator's
	// ProcessingTimersAtEnd option says. It reports until when the task must
	// wait for timers still to come; wait is false when there is nothing to
	// wait for.
	EndClockTimers(now time.Time, budget int) (until time.Time, wait, more bool, err error)
}

// InputEnding kernels are told when one of their input ports has ended.
type InputEnding interface{ OnInputEnd(port int) error }

// Ending kernels have something to do when all their inputs have ended, once.
// A call does one bounded slice and says whether there is more.
type Ending interface {
	OnEnd(budget int) (more bool, err error)
}

// Holding kernels make an input port wait, for instance until another has
// ended.
type Holding interface{ Holds(port int) bool }

// Waiting kernels may return ErrPending; Due says when trying again makes
// sense: after a wake-up (ok false), or at a time.
type Waiting interface {
	Due() (at time.Time, ok bool)
	// Outstanding says whether input already taken is not answered yet. The
	// engine calls Resume until it is, before it ends the operator.
	Outstanding() bool
	// Resume emits what has become ready meanwhile.
	Resume() (progress bool, err error)
}

// Delaying kernels hold records back, and with them event time.
type Delaying interface {
	// Reach is told the event time of the input and says how much of it can be
	// passed on: everything taken before it has been answered.
	Reach(t Time) Time
}

// Watermarking kernels make the watermark of what they pass on, instead of
// passing on what came.
type Watermarking interface {
	SplitBegins(split int)
	SplitEnds(split int)
	// NextWatermark is the watermark now. pending says that splits are not
	// yet begun. until is when idleness may change the answer by itself.
	NextWatermark(now time.Time, pending bool) (wm Time, idle bool, until time.Time)
}

// Stateful kernels hold state.
type Stateful interface {
	// StateBytes is the memory that the state holds now, in bytes.
	StateBytes() int64
	// CloseState frees it.
	CloseState()
}

// Saving kernels can put all that they remember into bytes and take it back.
type Saving interface {
	// Save appends the state to dst.
	Save(dst []byte) ([]byte, error)
	// Load adds what Save has written, before the first record. Keys of other
	// tasks are left out, so it may be called with what several tasks saved.
	Load(src []byte) error
}

// Calling kernels have work for goroutines of their own.
type Calling interface {
	// Callers returns what to run: each on a goroutine, woken through the
	// instance's WakeCaller.
	Callers() []Caller
}

// Caller is one goroutine's work.
type Caller interface {
	// Call does what there is to do, which may block, and says whether there
	// was something.
	Call(ctx context.Context) bool
}

// Outlet is the producer's end of an edge for one task: it distributes records
// over lanes.
type Outlet interface {
	Receiver
	// Flush closes and sends the open batches. all also sends what is held
	// back to be aggregated.
	Flush(all bool)
}

// Lane is the way from one producer task to one consumer task, as the engine
// provides it to an Outlet.
type Lane interface {
	// Take returns an empty batch, made by the edge's NewBatch.
	Take() Batch
	// Send hands a batch over.
	Send(b Batch)
}

// Instance is what the engine tells one operator in one task, and what the
// operator tells back. The engine makes it and fills the exported fields.
type Instance struct {
	Task      TaskInfo
	Groups    int // key groups of the operator (its MaxParallelism)
	Lo, Hi    int // key groups this task owns: Lo <= group < Hi
	BatchSize int // records per batch wanted; 0: the default for the type
	Now       func() time.Time
	// Slabs gives the operator's tables their memory; nil: they look for themselves.
	Slabs  table.SlabSource
	Shared *OperatorStats
	// WakeTask wakes the task, from any goroutine; WakeCaller wakes the
	// goroutine of a Caller.
	WakeTask   func()
	WakeCaller func(i int)
	// Watermark is the event time the operator has reached.
	Watermark Time
	// Counts of this task, written by it alone.
	In, Out uint64
	// Key formats the key in hand, for errors; nil where there is none.
	Key func() string
}

// OperatorStats counts over all tasks of an operator.
type OperatorStats struct {
	Skipped, Failed, Late atomic.Int64
}

// batchBytes is how much a batch holds by default: large enough that passing
// it costs little per record, small enough to stay in the caches.
const batchBytes = 16 << 10

// BatchSize is the number of records of the given size (bytes) that a batch holds: want, or when
// that is 0 about 16 KiB of records, between 64 and 1024.
func BatchSize(want int, recordSize uintptr) int {
	if want > 0 {
		return want
	}
	n := batchBytes / int(max(recordSize, 1))
	return min(max(n, 64), 1024)
}
