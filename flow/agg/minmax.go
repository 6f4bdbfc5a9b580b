package agg

import (
	"cmp"

	"github.com/tailrace-io/tailrace/flow"
)

// Extreme is the accumulator of Min and Max. The zero Extreme is empty.
type Extreme[N cmp.Ordered] struct {
	value N
	seen  bool
}

// Min finds the smallest number or string. Of no records it is the zero N. As
// with Go's min, a NaN among the numbers makes the result NaN, and -0 is less
// than 0.
func Min[T any, N cmp.Ordered](of func(*T) N) flow.Aggregator[T, Extreme[N], N] {
	return flow.Aggregator[T, Extreme[N], N]{
		Add: func(acc *Extreme[N], in *T) {
			if v := of(in); acc.seen {
				acc.value = min(acc.value, v)
			} else {
				*acc = Extreme[N]{v, true}
			}
		},
		Merge: func(dst, src *Extreme[N]) {
			switch {
			case !src.seen:
			case dst.seen:
				dst.value = min(dst.value, src.value)
			default:
				*dst = *src
			}
		},
		Result: func(acc *Extreme[N]) N { return acc.value },
		Clone:  cloneExtreme[N],
	}
}

// Max finds the largest number or string. Of no records it is the zero N. As
// with Go's max, a NaN among the numbers makes the result NaN.
func Max[T any, N cmp.Ordered](of func(*T) N) flow.Aggregator[T, Extreme[N], N] {
	return flow.Aggregator[T, Extreme[N], N]{
		Add: func(acc *Extreme[N], in *T) {
			if v := of(in); acc.seen {
				acc.value = max(acc.value, v)
			} else {
				*acc = Extreme[N]{v, true}
			}
		},
		Merge: func(dst, src *Extreme[N]) {
			switch {
			case !src.seen:
			case dst.seen:
				dst.value = max(dst.value, src.value)
			default:
				*dst = *src
			}
		},
		Result: func(acc *Extreme[N]) N { return acc.value },
		Clone:  cloneExtreme[N],
	}
}

// cloneExtreme is a plain copy: a string's bytes never change.
func cloneExtreme[N cmp.Ordered](dst, src *Extreme[N]) { *dst = *src }
