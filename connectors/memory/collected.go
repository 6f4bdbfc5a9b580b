package memory

import (
	"context"
	"slices"
	"sync"

	"github.com/tailrace-io/tailrace/flow"
)

// Collected keeps every record that its sink is given. The zero value is ready
// to use, and its methods are safe for concurrent use. Records of one task keep
// their order; those of several tasks are interleaved as they come. A record
// that is sent again after a restore is there twice: the sink writes at least
// once.
type Collected[T any] struct {
	mu      sync.Mutex
	records []T
}

// Sink returns a sink that adds to c. It may be used by several operators.
func (c *Collected[T]) Sink() flow.Sink[T] { return collectedSink[T]{c} }

// Records returns a copy of what was collected so far.
func (c *Collected[T]) Records() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.records)
}

// Reset forgets what was collected.
func (c *Collected[T]) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records = nil
}

type collectedSink[T any] struct{ to *Collected[T] }

func (s collectedSink[T]) Open(context.Context, flow.TaskInfo) (flow.Writer[T], error) {
	return collectedWriter[T](s), nil
}

type collectedWriter[T any] struct{ to *Collected[T] }

func (w collectedWriter[T]) Write(_ context.Context, batch []T) error {
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	w.to.records = append(w.to.records, batch...)
	return nil
}

func (w collectedWriter[T]) Flush(context.Context) error { return nil }
func (w collectedWriter[T]) Close() error                { return nil }
