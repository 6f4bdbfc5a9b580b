package exec

import (
	"fmt"
	"log/slog"
	"runtime"
)

// PinMode says whether workers are pinned to cores.
type PinMode uint8

const (
	// PinAuto pins each worker to a core of its own when there are as many
	// usable cores as workers in the whole process, and leaves them free
	// otherwise.
	PinAuto PinMode = iota
	// PinOn pins them in any case.
	PinOn
	// PinOff leaves them free.
	PinOff
)

// Options says how a job runs. The zero value is a good default.
type Options struct {
	// Workers is the number of worker goroutines, and of tasks of an operator
	// without a parallelism of its own, as far as its MaxParallelism allows.
	// Default: GOMAXPROCS.
	Workers int
	// Pin says whether workers are pinned to cores.
	Pin PinMode
	// BatchSize is the number of records in a batch. Default: about 16 KiB of
	// records, between 64 and 1024; larger ones gain nothing and wait longer
	// to be filled.
	BatchSize int
	// InFlight bounds the bytes of queued records of one edge, all its tasks
	// together, not counting what records point to. Default: 1 MiB. An edge
	// always has room for two batches between two tasks.
	InFlight int
	// MaxState bounds the memory of all state of the job, in bytes: over it,
	// the job fails and names the largest operator. Default: half of the
	// machine's memory, or of the Go memory limit when one is set.
	MaxState int64
	// Logger gets one line for each state transition. Default: none.
	Logger *slog.Logger
	// Observer is told of every state transition.
	Observer Observer
}

// Observer is told what happens to a job. Its methods are called from several
// goroutines and must not block.
type Observer interface {
	// JobChanged is called when the job starts and when it has ended.
	JobChanged(job string, outcome string)
	// TaskChanged is called for each transition of a task's state.
	TaskChanged(operator string, task int, state TaskState)
}

const defaultInFlight = 1 << 20

// settle checks o and fills in defaults.
func (o Options) settle() (Options, error) {
	switch {
	case o.Workers < 0:
		return o, fmt.Errorf("Options.Workers is %d: must not be negative", o.Workers)
	case o.BatchSize < 0 || o.BatchSize > 1<<20:
		return o, fmt.Errorf("Options.BatchSize is %d: must be between 0 (the default) and %d", o.BatchSize, 1<<20)
	case o.InFlight < 0:
		return o, fmt.Errorf("Options.InFlight is %d: must not be negative", o.InFlight)
	case o.MaxState < 0:
		return o, fmt.Errorf("Options.MaxState is %d: must not be negative", o.MaxState)
	case o.Pin > PinOff:
		return o, fmt.Errorf("Options.Pin is %d: use PinAuto, PinOn or PinOff", o.Pin)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.InFlight == 0 {
		o.InFlight = defaultInFlight
	}
	if o.MaxState == 0 {
		o.MaxState = defaultMaxState()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
