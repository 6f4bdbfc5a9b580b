// Package env is the engine's only door to the outside: clock, files,
// randomness and the start of goroutines. Real talks to the operating system;
// internal/sim has an Env that runs the same engine on one goroutine, from a
// seed.
package env

import (
	"context"
	"io"
	"io/fs"
	"math/rand/v2"
	"time"
)

// Env is what the engine may use of the outside world. All fields are set but
// those that say otherwise.
type Env struct {
	Clock  Clock
	FS     FS
	Runner Runner
	// PerTask asks for a Stepper of its own for each task, instead of one for
	// each worker: the simulator interleaves tasks.
	PerTask bool
	// Rand returns the random stream of that name: one stream for each
	// purpose, so that a new use of randomness leaves the others as they were.
	Rand func(stream string) *rand.Rand
	// RingCapacity is the capacity of every ring, a power of two, in tests that
	// want full ones; 0 leaves it to the engine.
	RingCapacity int
	// Trace is told of events that tests count: rare ones, never one for each
	// batch. It is called on the goroutine of a task; nil in production.
	Trace func(event string)
}

// Clock tells the time. Its methods are safe for concurrent use.
type Clock interface {
	// Now is the wall clock: for people and for processing time.
	Now() time.Time
	// Mono is a monotonic clock in nanoseconds, for time-outs and rates. It
	// never goes back; its zero is arbitrary.
	Mono() int64
	// After is a channel that receives once d has passed.
	After(d time.Duration) <-chan time.Time
}

// Status is what a Stepper says of its last step.
type Status uint8

const (
	Idle     Status = iota // nothing to do until it is woken or its time comes
	Progress               // did something: step again
	Done                   // finished: never step again
)

// Stepper does one bounded slice of work at each step. Steps of one Stepper
// never overlap.
type Stepper interface {
	// Step returns, beside the status, the monotonic time in nanoseconds at
	// which an idle Stepper wants to be stepped even if nobody wakes it; 0 for
	// never.
	Step() (Status, int64)
}

// Spec says what a Runner is to run, and where.
type Spec struct {
	Name   string          // for profiles and traces
	Labels []string        // pprof labels: key, value, key, value ...
	Worker bool            // a worker: a locked thread that may spin before it sleeps
	Lease  Lease           // with Worker: whether it may spin and where it is pinned
	Ctx    context.Context // parent of the labels; never nil
	// Exit, if set, is called on the goroutine of the loop when that ends: with
	// false after Done, and then never again; with true each time that user code
	// ended the goroutine with runtime.Goexit. Then another one steps on once Exit
	// has returned.
	Exit func(lost bool)
}

// Lease says what a worker may do with the machine. Its answers may change
// while the worker runs, as jobs come and go. Safe for concurrent use.
type Lease interface {
	Spin() bool // may wait by spinning
	CPU() int   // the core to be pinned to; -1 for none
}

// Runner starts Steppers.
type Runner interface {
	// Run steps s until it is Done. The returned Waker ends a wait of s early;
	// it is safe for concurrent use and cheap when s is not waiting.
	Run(spec Spec, s Stepper) Waker
}

// Waker tells a Stepper that there may be something to do.
type Waker interface{ Wake() }

// FS is the part of a file system that the engine and its connectors use. Paths are
// those of the operating system. Errors are those of package os, with the path
// in them.
type FS interface {
	Open(name string) (File, error)
	// Create makes a new file for writing and fails if there is one.
	Create(name string, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	MkdirAll(name string, perm fs.FileMode) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes the entries of a directory durable.
	SyncDir(name string) error
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Sync() error
	Stat() (fs.FileInfo, error)
}

type fsKey struct{}

// WithFS returns a context that carries fsys to connectors.
func WithFS(ctx context.Context, fsys FS) context.Context {
	return context.WithValue(ctx, fsKey{}, fsys)
}

// FSFrom returns the file system that ctx carries, or the operating system's.
func FSFrom(ctx context.Context) FS {
	if fsys, ok := ctx.Value(fsKey{}).(FS); ok {
		return fsys
	}
	return OS{}
}
