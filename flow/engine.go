package flow

import (
	"context"
	"reflect"
)

// Partition says how an edge distributes records over the consumer's tasks.
type Partition uint8

const (
	Forward    Partition = iota // task i to task i; round robin where parallelisms differ
	RoundRobin                  // record by record over all tasks
	ByKey                       // to the task that owns the key's group
	ToAll                       // every record to every task
)

func (p Partition) String() string {
	return [...]string{"forward", "rebalance", "key", "broadcast"}[p]
}

// Node is one operator of a graph, as the engine sees it.
type Node struct {
	Index          int
	Name, Kind     string
	Where          string // file:line of the call that added it
	Ins, Outs      []*Edge
	OutPorts       int
	DeadPort       int  // output port of dead letters; -1 without
	Parallelism    int  // 0: the default
	MaxParallelism int  // 0: the default
	NoChain        bool // begins a task because the user wants it
	OffWorker      bool // user code that blocks: the task gets a goroutine of its own
	Keyed          bool // has a keyed input
	MustHead       bool // begins its task: it may return ErrPending, or has several inputs
	Timestamps     bool // makes event times, straight after a source
	Sink           bool
	Source         *SourceSpec // set for sources
	States         []StateDecl
	// Check finds mistakes before the job starts; nil without.
	Check func(ctx context.Context) error
	// NewKernel makes the operator of one task.
	NewKernel func(inst *Instance) (Kernel, error)
	// RequiresFinal says whether the operator needs a final checkpoint.
	RequiresFinal bool

	detail   string // for Explain
	policy   policy
	fallible bool         // it has a function that can fail, or says itself what OnError means
	deadType reflect.Type // record type of dead letters
	// secondDead is for the dead letters of a second input with records of
	// another type: one of the OutPorts.
	secondDead deadPort
	problem    []string
	checks     []func() error // asked by Validate, when all codecs are registered
}

// Edge is one link from an output port to an input port.
type Edge struct {
	From     *Node
	FromPort int
	To       *Node
	ToPort   int
	Part     Partition
	Record   string // the record type, for Explain
	// RecordSize is the size of a record in bytes.
	RecordSize uintptr
	// Combines says that records are aggregated before they are exchanged.
	Combines bool
	// NewBatch makes an empty batch of what travels on the edge, which may
	// depend on how it is partitioned.
	NewBatch func(part Partition, want int) Batch
	// NewOutlet makes the producer's end for one task. owner maps a key group
	// to a lane; it is nil unless the edge is ByKey.
	NewOutlet func(lanes []Lane, owner []uint16, part Partition, inst *Instance) Outlet
	codecID   func() (string, error) // of its records; asked when all codecs are registered
}

// SourceSpec is a source without its record type.
type SourceSpec struct {
	Bounded   bool
	Immediate bool
	Splits    func(ctx context.Context) ([]Split, error)
	Open      func(ctx context.Context, s Split, from Position) (SourceReader, error)
	NewBatch  func(want int) Batch
}

// SourceReader is a Reader without its record type.
type SourceReader interface {
	// Read fills b, which comes empty, and sets its position. A bad record is
	// left in its header, not returned.
	Read(ctx context.Context, b Batch) error
	Close() error
}

// StateDecl is one declared state, for Explain and for name clashes.
type StateDecl struct {
	Name, Kind, Key, Value, Layout string
}
