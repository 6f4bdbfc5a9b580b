package agg

import (
	"reflect"

	"github.com/tailrace-io/tailrace/flow"
)

// Acc2 is the accumulator of Combine2: one of each part.
type Acc2[A1, A2 any] struct {
	a1 A1
	a2 A2
}

// Combine2 computes two results in one pass, and makes one of them.
func Combine2[T, A1, A2, R1, R2, R any](
	a1 flow.Aggregator[T, A1, R1],
	a2 flow.Aggregator[T, A2, R2],
	result func(R1, R2) R,
) flow.Aggregator[T, Acc2[A1, A2], R] {
	type acc = Acc2[A1, A2]
	out := flow.Aggregator[T, acc, R]{
		Add: func(acc *acc, in *T) {
			a1.Add(&acc.a1, in)
			a2.Add(&acc.a2, in)
		},
		Result: func(acc *acc) R {
			return result(a1.Result(&acc.a1), a2.Result(&acc.a2))
		},
	}
	if a1.New != nil || a2.New != nil {
		out.New = func() acc {
			return acc{newOf(a1), newOf(a2)}
		}
	}
	if a1.Merge != nil && a2.Merge != nil {
		out.Merge = func(dst, src *acc) {
			a1.Merge(&dst.a1, &src.a1)
			a2.Merge(&dst.a2, &src.a2)
		}
	}
	if c1, c2 := cloneOf(a1), cloneOf(a2); c1 != nil && c2 != nil {
		out.Clone = func(dst, src *acc) {
			c1(&dst.a1, &src.a1)
			c2(&dst.a2, &src.a2)
		}
	}
	return out
}

// Acc3 is the accumulator of Combine3: one of each part.
type Acc3[A1, A2, A3 any] struct {
	a1 A1
	a2 A2
	a3 A3
}

// Combine3 is Combine2 for three.
func Combine3[T, A1, A2, A3, R1, R2, R3, R any](
	a1 flow.Aggregator[T, A1, R1],
	a2 flow.Aggregator[T, A2, R2],
	a3 flow.Aggregator[T, A3, R3],
	result func(R1, R2, R3) R,
) flow.Aggregator[T, Acc3[A1, A2, A3], R] {
	type acc = Acc3[A1, A2, A3]
	out := flow.Aggregator[T, acc, R]{
		Add: func(acc *acc, in *T) {
			a1.Add(&acc.a1, in)
			a2.Add(&acc.a2, in)
			a3.Add(&acc.a3, in)
		},
		Result: func(acc *acc) R {
			return result(a1.Result(&acc.a1), a2.Result(&acc.a2), a3.Result(&acc.a3))
		},
	}
	if a1.New != nil || a2.New != nil || a3.New != nil {
		out.New = func() acc {
			return acc{newOf(a1), newOf(a2), newOf(a3)}
		}
	}
	if a1.Merge != nil && a2.Merge != nil && a3.Merge != nil {
		out.Merge = func(dst, src *acc) {
			a1.Merge(&dst.a1, &src.a1)
			a2.Merge(&dst.a2, &src.a2)
			a3.Merge(&dst.a3, &src.a3)
		}
	}
	if c1, c2, c3 := cloneOf(a1), cloneOf(a2), cloneOf(a3); c1 != nil && c2 != nil && c3 != nil {
		out.Clone = func(dst, src *acc) {
			c1(&dst.a1, &src.a1)
			c2(&dst.a2, &src.a2)
			c3(&dst.a3, &src.a3)
		}
	}
	return out
}

// Acc4 is the accumulator of Combine4: one of each part.
type Acc4[A1, A2, A3, A4 any] struct {
	a1 A1
	a2 A2
	a3 A3
	a4 A4
}

// Combine4 is Combine2 for four.
func Combine4[T, A1, A2, A3, A4, R1, R2, R3, R4, R any](
	a1 flow.Aggregator[T, A1, R1],
	a2 flow.Aggregator[T, A2, R2],
	a3 flow.Aggregator[T, A3, R3],
	a4 flow.Aggregator[T, A4, R4],
	result func(R1, R2, R3, R4) R,
) flow.Aggregator[T, Acc4[A1, A2, A3, A4], R] {
	type acc = Acc4[A1, A2, A3, A4]
	out := flow.Aggregator[T, acc, R]{
		Add: func(acc *acc, in *T) {
			a1.Add(&acc.a1, in)
			a2.Add(&acc.a2, in)
			a3.Add(&acc.a3, in)
			a4.Add(&acc.a4, in)
		},
		Result: func(acc *acc) R {
			return result(a1.Result(&acc.a1), a2.Result(&acc.a2), a3.Result(&acc.a3), a4.Result(&acc.a4))
		},
	}
	if a1.New != nil || a2.New != nil || a3.New != nil || a4.New != nil {
		out.New = func() acc {
			return acc{newOf(a1), newOf(a2), newOf(a3), newOf(a4)}
		}
	}
	if a1.Merge != nil && a2.Merge != nil && a3.Merge != nil && a4.Merge != nil {
		out.Merge = func(dst, src *acc) {
			a1.Merge(&dst.a1, &src.a1)
			a2.Merge(&dst.a2, &src.a2)
			a3.Merge(&dst.a3, &src.a3)
			a4.Merge(&dst.a4, &src.a4)
		}
	}
	if c1, c2, c3, c4 := cloneOf(a1), cloneOf(a2), cloneOf(a3), cloneOf(a4); c1 != nil && c2 != nil && c3 != nil && c4 != nil {
		out.Clone = func(dst, src *acc) {
			c1(&dst.a1, &src.a1)
			c2(&dst.a2, &src.a2)
			c3(&dst.a3, &src.a3)
			c4(&dst.a4, &src.a4)
		}
	}
	return out
}

// newOf makes an empty accumulator of a.
func newOf[T, A, R any](a flow.Aggregator[T, A, R]) (acc A) {
	if a.New != nil {
		return a.New()
	}
	return acc
}

// cloneOf is the Clone of a; a plain copy when accumulators have no pointers,
// and nil when only the codec can do it.
func cloneOf[T, A, R any](a flow.Aggregator[T, A, R]) func(dst, src *A) {
	if a.Clone == nil && flow.LayoutOf(reflect.TypeFor[A]()).PointerFree {
		return func(dst, src *A) { *dst = *src }
	}
	return a.Clone
}
