package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/tailrace-io/tailrace/flow"
)

// FromSeq is a bounded source that reads a sequence, in one split. An error of
// the sequence fails the job, except a *flow.RecordError, which goes to the
// source's OnError policy. Every Open ranges over the sequence from its begin,
// and a resumed one skips what was read before: it must give the same records
// each time.
func FromSeq[T any](seq iter.Seq2[T, error]) flow.Source[T] { return seqSource[T]{seq} }

type seqSource[T any] struct{ seq iter.Seq2[T, error] }

func (s seqSource[T]) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "0"}}, nil
}

func (s seqSource[T]) Bounded() bool { return true }

func (s seqSource[T]) Open(ctx context.Context, _ flow.Split, from flow.Position) (flow.Reader[T], error) {
	count, err := parseCount(from)
	if err != nil {
		return nil, fmt.Errorf("open a sequence: %w", err)
	}
	next, stop := iter.Pull2(s.seq)
	for i := range count {
		if err := ctx.Err(); err != nil {
			stop()
			return nil, fmt.Errorf("open a sequence at record %d: %w", count, err)
		}
		if _, _, ok := next(); !ok {
			stop()
			return nil, fmt.Errorf("open a sequence at record %d: it now has only %d", count, i)
		}
	}
	return &seqReader[T]{next: next, stop: stop, count: count}, nil
}

type seqReader[T any] struct {
	next  func() (T, error, bool)
	stop  func()
	count uint64 // what the sequence gave, records and errors
}

func (r *seqReader[T]) Read(ctx context.Context, buf []T) (int, error) {
	for n := range buf {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		v, err, ok := r.next()
		if !ok {
			return n, io.EOF
		}
		if _, bad := errors.AsType[*flow.RecordError](err); err != nil && !bad {
			return n, fmt.Errorf("read record %d of a sequence: %w", r.count, err)
		}
		r.count++
		if err != nil {
			return n, err
		}
		buf[n] = v
	}
	return len(buf), nil
}

func (r *seqReader[T]) Position() flow.Position { return formatCount(r.count) }

func (r *seqReader[T]) Close() error {
	r.stop()
	return nil
}
