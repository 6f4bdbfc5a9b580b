package sim

import (
	"fmt"
	"strings"

	"github.com/tailrace-io/tailrace/flow"
)

// Rec is the only record type of a generated job: it carries what is needed to
// say where it comes from and which way it went.
type Rec struct {
	Src, Split, Seq int32  // where it was read; Src is above 1000 for records that an operator made
	Key             int32  // what it is partitioned by
	Orig            int32  // Key when it was read
	At              int64  // its event time where the stream has one
	Val             int64  // changed by every map
	Path            uint64 // a hash of the operators that changed it
	Tag             string // so that state and batches hold pointers, too
}

// identity is one record on one way, whatever its value.
func (r *Rec) identity() uint64 {
	return mix(mix(uint64(r.Src)<<32|uint64(uint32(r.Split)), uint64(uint32(r.Seq))), r.Path)
}

// kind is a kind of operator.
type kind uint8

const (
	kSource kind = iota
	kMapInto
	kMap
	kTryMap
	kFilter
	kFlatMap
	kMapBatch
	kFlatMapBatch
	kAsync
	kUnion
	kRoute
	kLetters
	kTotal
	kReduce
	kLookup
	kBuckets
	kDelays
	kHolds
	kPairs
	kRules
	kSink
)

func (k kind) String() string {
	return [...]string{"source", "map into", "map", "try map", "filter", "flat map", "map batch", "flat map batch",
		"async map", "union", "route", "dead letters", "total", "reduce", "lookup join",
		"buckets", "delays", "holds", "pairs", "rules", "sink"}[k]
}

// input is one edge into an operator.
type input struct {
	from, port int // operator and its output port
	part       flow.Partition
}

// op is one operator of a Shape.
type op struct {
	id        int
	kind      kind
	ins       []input
	salt      uint64 // of what its function computes
	par       int    // 0: the default
	maxPar    int    // 0: the default
	noChain   bool
	offWorker bool
	fails     failing
	bomb      bomb

	outs      int  // route: outputs
	keys      int  // maps: how many keys there are from here on; 0: as before
	setTime   bool // flat map: results are later than the record
	merge     bool // total: the aggregator has Merge
	calls     int  // async: concurrency
	unordered bool // async
	join      flow.JoinKind
	await     bool // delays: the end of data waits for timers, instead of firing them
	immediate bool // sink: never blocks
	source    sourceSpec
}

func (o *op) name() string { return fmt.Sprintf("%s %d", o.kind, o.id) }

// canReturnErrors says whether o's user code has a way to fail its job.
func (o *op) canReturnErrors() bool {
	switch o.kind {
	case kMapInto, kMap, kFilter, kTotal, kReduce:
		return false
	}
	return true
}

// failing says which records an operator refuses, and what becomes of them.
type failing struct {
	one     uint64 // one record in so many; 0: none
	retries int    // so many tries more; some of those refused pass then
	letters bool   // the rest go to the dead letters; otherwise they are skipped
	limit   int64  // of Skip
}

// sourceSpec is a source and all that it will deliver.
type sourceSpec struct {
	splits    [][]Rec
	bad       uint64 // one record in so many can't be read; 0: none
	immediate bool
	style     readStyle
	timed     bool
	disorder  int64 // of event times, in µs
}

// readStyle is how a reader hands out its records.
type readStyle uint8

const (
	readFull    readStyle = iota // full buffers, then io.EOF alone
	readWithEOF                  // io.EOF comes with the last records
	readShort                    // random lengths, zero too, io.EOF either way
	readStyles
)

// bomb goes off once, at the given call of an operator's user code.
type bomb struct {
	kind bombKind
	call int
}

type bombKind uint8

const (
	noBomb bombKind = iota
	bombPanic
	bombGoexit
	bombError
	bombSkip // not a call: one record more is refused than the policy allows
)

func (b bombKind) String() string {
	return [...]string{"none", "panic", "Goexit", "error", "too many refused"}[b]
}

// Shape is a random job with its input and options.
type Shape struct {
	Seed     uint64
	ops      []*op
	workers  int
	batch    int
	cancelAt int // steps after which the job is canceled; -1: never
}

// String lists the operators, one a line.
func (s *Shape) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d workers, batches of %d", s.Seed, s.workers, s.batch)
	if s.cancelAt >= 0 {
		fmt.Fprintf(&b, ", canceled after %d steps", s.cancelAt)
	}
	b.WriteByte('\n')
	for _, o := range s.ops {
		fmt.Fprintf(&b, "  %q par %d", o.name(), o.par)
		for _, in := range o.ins {
			fmt.Fprintf(&b, " <-%s- %q.%d", in.part, s.ops[in.from].name(), in.port)
		}
		b.WriteString(o.details())
		b.WriteByte('\n')
	}
	return b.String()
}

func (o *op) details() string {
	var b strings.Builder
	flag := func(set bool, format string, args ...any) {
		if set {
			b.WriteString("; ")
			fmt.Fprintf(&b, format, args...)
		}
	}
	flag(o.noChain, "no chain")
	flag(o.offWorker, "off worker")
	flag(o.maxPar > 0, "%d groups", o.maxPar)
	flag(o.keys > 0, "%d keys", o.keys)
	flag(o.fails.one > 0, "fails 1 in %d, %d retries, letters %v, limit %d", o.fails.one, o.fails.retries, o.fails.letters, o.fails.limit)
	flag(o.kind == kRoute, "%d outputs", o.outs)
	flag(o.kind == kTotal, "merge %v", o.merge)
	flag(o.kind == kAsync, "%d calls, unordered %v", o.calls, o.unordered)
	flag(o.kind == kLookup, "join kind %d", o.join)
	flag(o.immediate, "immediate")
	flag(o.bomb.kind != noBomb, "%s at call %d", o.bomb.kind, o.bomb.call)
	if o.kind == kSource {
		s := &o.source
		flag(true, "immediate %v, style %d, timed %v, disorder %d, bad 1 in %d, splits of", s.immediate, s.style, s.timed, s.disorder, s.bad)
		for _, recs := range s.splits {
			fmt.Fprintf(&b, " %d", len(recs))
		}
	}
	return b.String()
}
