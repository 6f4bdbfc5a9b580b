package memory

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"github.com/tailrace-io/tailrace/flow"
)

// From is a bounded source of the given records, in one split and in their
// order. The records must not be changed while a job reads them.
func From[T any](records ...T) flow.Source[T] { return FromSplits(records) }

// FromSlice is a bounded source that divides records into the given number of
// splits (at least one) of neighbouring records, so that several tasks can read
// them. The records must not be changed while a job reads them.
func FromSlice[T any](records []T, splits int) flow.Source[T] {
	splits = max(splits, 1)
	parts := make([][]T, splits)
	for i := range parts {
		parts[i] = records[len(records)*i/splits : len(records)*(i+1)/splits]
	}
	return FromSplits(parts...)
}

// FromSplits is a bounded source with one split for each of the given slices.
// The records must not be changed while a job reads them.
func FromSplits[T any](splits ...[]T) flow.Source[T] { return sliceSource[T](splits) }

type sliceSource[T any] [][]T

func (s sliceSource[T]) Splits(context.Context) ([]flow.Split, error) {
	splits := make([]flow.Split, len(s))
	for i := range s {
		splits[i] = flow.Split{ID: strconv.Itoa(i)}
	}
	return splits, nil
}

func (s sliceSource[T]) Open(_ context.Context, split flow.Split, from flow.Position) (flow.Reader[T], error) {
	i, err := strconv.Atoi(split.ID)
	if err != nil || i < 0 || i >= len(s) {
		return nil, fmt.Errorf("open split %q of a memory source with %d splits: no such split", split.ID, len(s))
	}
	next, err := parseCount(from)
	if err != nil || next > uint64(len(s[i])) {
		return nil, fmt.Errorf("open split %q of a memory source at position %x: it has only %d records", split.ID, from, len(s[i]))
	}
	return &sliceReader[T]{records: s[i], next: int(next)}, nil
}

func (s sliceSource[T]) Bounded() bool   { return true }
func (s sliceSource[T]) Immediate() bool { return true }

type sliceReader[T any] struct {
	records []T
	next    int
}

func (r *sliceReader[T]) Read(_ context.Context, buf []T) (int, error) {
	if r.next == len(r.records) {
		return 0, io.EOF
	}
	n := copy(buf, r.records[r.next:])
	r.next += n
	return n, nil
}

func (r *sliceReader[T]) Position() flow.Position { return formatCount(uint64(r.next)) }
func (r *sliceReader[T]) Close() error            { return nil }

// formatCount and parseCount are the form of this package's positions: how many
// records of the split were read, as a varint.
func formatCount(n uint64) flow.Position { return binary.AppendUvarint(nil, n) }

func parseCount(p flow.Position) (uint64, error) {
	if p == nil {
		return 0, nil
	}
	n, size := binary.Uvarint(p)
	if size <= 0 || size != len(p) {
		return 0, fmt.Errorf("position %x is not a count", []byte(p))
	}
	return n, nil
}
