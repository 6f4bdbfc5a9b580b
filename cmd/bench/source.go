package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/flow"
)

// fill puts records into buf and says how many; 0 if none is due now, io.EOF
// when there are no more. It sets every field of a record.
type fill[T any] func(buf []T) (int, error)

// source is a bounded source that computes its records. The engine and the
// twins read it in the same way.
type source[T any] struct {
	splits int
	open   func(split int) fill[T]
	read   atomic.Int64 // records of all readers that were closed
}

func (s *source[T]) Splits(context.Context) ([]flow.Split, error) {
	splits := make([]flow.Split, s.splits)
	for i := range splits {
		splits[i].ID = strconv.Itoa(i)
	}
	return splits, nil
}

func (s *source[T]) Open(_ context.Context, split flow.Split, from flow.Position) (flow.Reader[T], error) {
	i, err := strconv.Atoi(split.ID)
	if err != nil || from != nil {
		return nil, fmt.Errorf("open split %q at %v: a generated source starts at its begin: %w", split.ID, from, err)
	}
	return &reader[T]{source: s, fill: s.open(i)}, nil
}

func (s *source[T]) Bounded() bool { return true }

// Immediate says that the engine may read on the worker.
func (s *source[T]) Immediate() bool { return true }

// reader reads one split of a source.
type reader[T any] struct {
	source *source[T]
	fill   fill[T]
	read   int64
}

func (r *reader[T]) Read(_ context.Context, buf []T) (int, error) {
	n, err := r.fill(buf)
	r.read += int64(n)
	return n, err
}

// Position is nil: jobs that are measured here keep no checkpoints.
func (r *reader[T]) Position() flow.Position { return nil }

func (r *reader[T]) Close() error {
	r.source.read.Add(r.read)
	r.read = 0
	return nil
}

// mustOpen opens a split of a generated source, which cannot fail.
func mustOpen[T any](s *source[T], split int) flow.Reader[T] {
	return &reader[T]{source: s, fill: s.open(split)}
}

// share is the number of records of one of several splits.
func share(records, splits, split int) int {
	n := records / splits
	if split < records%splits {
		n++
	}
	return n
}

// sink adds up a hash of what it gets. check sees each batch once, and may be
// called for several lanes at once.
type sink[T any] struct {
	check func(lane int, batch []T) uint64
	mu    sync.Mutex
	total harness.Answer
}

func (s *sink[T]) Open(_ context.Context, task flow.TaskInfo) (flow.Writer[T], error) {
	return s.writer(task.Index), nil
}

// Immediate says that the engine may write on the worker.
func (s *sink[T]) Immediate() bool { return true }

func (s *sink[T]) writer(lane int) *writer[T] { return &writer[T]{sink: s, lane: lane} }

// answer is what came out, of records records that went in.
func (s *sink[T]) answer(records int64) harness.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total.Records = records
	return s.total
}

type writer[T any] struct {
	sink    *sink[T]
	lane    int
	results int64
	sum     uint64
}

func (w *writer[T]) Write(_ context.Context, batch []T) error {
	w.results += int64(len(batch))
	w.sum += w.sink.check(w.lane, batch)
	return nil
}

func (w *writer[T]) Flush(context.Context) error {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.total.Results += w.results
	w.sink.total.Sum += w.sum
	w.results, w.sum = 0, 0
	return nil
}

func (w *writer[T]) Close() error { return nil }

// finish flushes and closes w, for a twin whose lane has ended.
func (w *writer[T]) finish(ctx context.Context) error {
	if err := w.Flush(ctx); err != nil {
		return err
	}
	return w.Close()
}

// drained says whether a Read was the last one, and panics on any error but the
// end: generated sources have no other.
func drained(err error) bool {
	if err != nil && err != io.EOF {
		panic(fmt.Sprintf("read a generated source: %v", err))
	}
	return err != nil
}
