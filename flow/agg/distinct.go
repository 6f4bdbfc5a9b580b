package agg

import (
	"maps"

	"github.com/tailrace-io/tailrace/flow"
)

// Set is the accumulator of Distinct. The zero Set is empty.
type Set[K comparable] struct{ seen map[K]struct{} }

// Distinct counts the different values of a field. It remembers every one of
// them; ApproxDistinct does with at most 16 KiB. Values are different when ==
// says so: every NaN counts.
func Distinct[T any, K comparable](of func(*T) K) flow.Aggregator[T, Set[K], int64] {
	return flow.Aggregator[T, Set[K], int64]{
		Add: func(acc *Set[K], in *T) {
			if acc.seen == nil {
				acc.seen = map[K]struct{}{}
			}
			acc.seen[of(in)] = struct{}{}
		},
		Merge: func(dst, src *Set[K]) {
			if dst.seen == nil {
				dst.seen = make(map[K]struct{}, len(src.seen))
			}
			maps.Copy(dst.seen, src.seen)
		},
		Result: func(acc *Set[K]) int64 { return int64(len(acc.seen)) },
		Clone:  func(dst, src *Set[K]) { dst.seen = maps.Clone(src.seen) },
	}
}
