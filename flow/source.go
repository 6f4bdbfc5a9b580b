package flow

import (
	"context"
	"fmt"
)

// Split is one piece of a source's work, read by one task from begin to end:
// a file, a byte range, a partition.
type Split struct {
	// ID names the split. It must be stable: the same piece of work has the
	// same ID in every run, for positions are kept under it.
	ID string
	// Payload is what the source's Open needs to know; the engine only
	// carries it.
	Payload []byte
}

// Position is a place within a split, in a form only its source understands.
type Position []byte

// Source is where records come from. Its methods may block: they run off the
// workers. Splits is called by one goroutine, Open by one for each task.
type Source[T any] interface {
	// Splits lists what there is to read. An unbounded source is asked again
	// from time to time; splits already known by ID are left alone.
	Splits(ctx context.Context) ([]Split, error)
	// Open starts reading s after the position from, or at its begin when
	// from is nil.
	Open(ctx context.Context, s Split, from Position) (Reader[T], error)
	// Bounded says whether the source comes to an end by itself.
	Bounded() bool
}

// Reader reads one split. It is used by one goroutine at a time.
type Reader[T any] interface {
	// Read fills buf from its begin and says how many records it stored,
	// which may be fewer than len(buf), with or without an error. The buffer
	// comes with old records in it: every field of a stored record must be set.
	// io.EOF ends a bounded split; a *RecordError says that the record after
	// those n is bad, and reading can go on after it; any other error fails the job.
	// Read may block until ctx ends.
	Read(ctx context.Context, buf []T) (n int, err error)
	// Position is the position after the last record that Read returned (or
	// refused with a RecordError). The engine does not change it and the
	// reader must not change it afterwards.
	Position() Position
	Close() error
}

// Immediate is implemented by a Source whose readers never block (they compute
// their records, or copy them from memory). The engine then reads on the
// worker itself instead of a goroutine of its own.
type Immediate interface{ Immediate() bool }

// RecordError is returned by a Reader for a record that could not be decoded:
// the OnError policy of the source decides what becomes of it.
type RecordError struct {
	Raw []byte // the record as it was read, possibly cut to a sensible length
	Err error  // what is wrong with it, with file, line and column where known
}

func (e *RecordError) Error() string { return fmt.Sprintf("bad record: %v", e.Err) }
func (e *RecordError) Unwrap() error { return e.Err }

// TaskInfo says which task of an operator is meant.
type TaskInfo struct {
	Operator    string // the operator's name
	Index       int    // 0 <= Index < Parallelism
	Parallelism int
}

// CheckpointID identifies a checkpoint of a job. IDs increase and are never
// reused.
type CheckpointID uint64

// Sink is where records go. Open is called once for each task.
type Sink[T any] interface {
	Open(ctx context.Context, task TaskInfo) (Writer[T], error)
}

// Checker is implemented by a Source or Sink that can find mistakes (a missing
// file, a directory that cannot be written) before the job reads its first
// record. The engine calls it once, before any task starts.
type Checker interface {
	Check(ctx context.Context) error
}

// Writer writes what one task sends to a sink. It is used by one goroutine at
// a time and may block. The engine calls Flush when all records were written
// and Close last; Close without a Flush means that the job failed or was
// canceled, and nothing unfinished may appear as finished.
type Writer[T any] interface {
	// Write writes the records of batch, which is lent for the call.
	Write(ctx context.Context, batch []T) error
	Flush(ctx context.Context) error
	Close() error
}

// TwoPhase is implemented by a Writer that writes exactly once: it stages what
// it writes and makes it visible when a checkpoint has completed.
type TwoPhase interface {
	// Prepare stages everything written so far, so that it survives a crash.
	// The committables are stored in checkpoint id.
	Prepare(ctx context.Context, id CheckpointID) (committables [][]byte, err error)
	// Commit makes staged output visible. It is idempotent: after a restore it
	// is called again, on a new Writer, perhaps of another task.
	Commit(ctx context.Context, id CheckpointID, committables [][]byte) error
	// Abort removes staged output that will never be committed.
	Abort(ctx context.Context, committables [][]byte) error
}
