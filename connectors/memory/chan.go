package memory

import (
	"context"
	"fmt"
	"io"

	"github.com/tailrace-io/tailrace/flow"
)

// ChanOption changes what FromChan makes.
type ChanOption func(*chanOptions)

type chanOptions struct{ unbounded bool }

// Unbounded says that the channel is a stream without a planned end: the source
// is not Bounded, though closing the channel still ends its split.
func Unbounded() ChanOption { return func(o *chanOptions) { o.unbounded = true } }

// FromChan is a source of what the program sends on ch, in one split that ends
// when ch is closed. A channel cannot be rewound: after a restore the job goes
// on with what is sent then, so records sent between the checkpoint and the
// failure are lost.
func FromChan[T any](ch <-chan T, opts ...ChanOption) flow.Source[T] {
	s := chanSource[T]{ch: ch}
	for _, opt := range opts {
		opt(&s.opts)
	}
	return s
}

type chanSource[T any] struct {
	ch   <-chan T
	opts chanOptions
}

func (s chanSource[T]) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "0"}}, nil
}

func (s chanSource[T]) Bounded() bool { return !s.opts.unbounded }

func (s chanSource[T]) Open(_ context.Context, _ flow.Split, from flow.Position) (flow.Reader[T], error) {
	count, err := parseCount(from)
	if err != nil {
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	return &chanReader[T]{ch: s.ch, count: count}, nil
}

type chanReader[T any] struct {
	ch    <-chan T
	count uint64
}

// Read waits for one record and then takes what is there, so that a record
// never waits for the batch to fill.
func (r *chanReader[T]) Read(ctx context.Context, buf []T) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case v, ok := <-r.ch:
		if !ok {
			return 0, io.EOF
		}
		buf[0] = v
		r.count++
	}
	for n := 1; n < len(buf); n++ {
		select {
		case v, ok := <-r.ch:
			if !ok {
				return n, io.EOF
			}
			buf[n] = v
			r.count++
		default:
			return n, nil
		}
	}
	return len(buf), nil
}

func (r *chanReader[T]) Position() flow.Position { return formatCount(r.count) }
func (r *chanReader[T]) Close() error            { return nil }
