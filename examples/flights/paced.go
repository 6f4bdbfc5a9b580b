package main

import (
	"context"
	"sync"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// paced slows a source down to rate rows a second, all its tasks together; 0
// leaves it as it is. A slow job can be watched, stopped and killed half-way.
func paced(src flow.Source[flight], rate float64) flow.Source[flight] {
	if rate == 0 {
		return src
	}
	return &pacedSource{Source: src, rate: rate}
}

type pacedSource struct {
	flow.Source[flight]
	rate float64

	mu    sync.Mutex
	begun time.Time
	rows  float64
}

// Check passes the question on.
func (s *pacedSource) Check(ctx context.Context) error {
	if c, ok := s.Source.(flow.Checker); ok {
		return c.Check(ctx)
	}
	return nil
}

func (s *pacedSource) Open(ctx context.Context, split flow.Split, from flow.Position) (flow.Reader[flight], error) {
	r, err := s.Source.Open(ctx, split, from)
	if err != nil {
		return nil, err
	}
	return &pacedReader{Reader: r, source: s}, nil
}

// due takes n rows and returns how long to wait before they may be passed on.
func (s *pacedSource) due(n int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun.IsZero() {
		s.begun = time.Now()
	}
	s.rows += float64(n)
	return time.Until(s.begun.Add(time.Duration(s.rows / s.rate * float64(time.Second))))
}

type pacedReader struct {
	flow.Reader[flight]
	source *pacedSource
}

func (r *pacedReader) Read(ctx context.Context, buf []flight) (int, error) {
	// Small batches keep a slow rate smooth.
	if most := max(1, r.source.rate/50); most < float64(len(buf)) {
		buf = buf[:int(most)]
	}
	n, err := r.Reader.Read(ctx, buf)
	timer := time.NewTimer(r.source.due(n))
	defer timer.Stop()
	select {
	case <-timer.C:
		return n, err
	case <-ctx.Done():
		return n, ctx.Err()
	}
}
