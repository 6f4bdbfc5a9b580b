// Package agg has the usual aggregators for windows, totals and aggregate state.
//
// Their accumulators are of named types, stored by the codec of their type.
// Any order of records and any way to merge parts gives the same result, to the
// bit, unless the function's comment says otherwise. Combine2 to Combine4
// compute several in one pass.
package agg

import "github.com/tailrace-io/tailrace/flow"

// Integer is any integer type.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Number is any integer or floating-point type.
type Number interface {
	Integer | ~float32 | ~float64
}

// isFloat says that N is a floating-point type.
func isFloat[N Number]() bool {
	one := N(1)
	return one/2 != 0
}

// Count counts records.
func Count[T any]() flow.Aggregator[T, int64, int64] {
	return flow.Aggregator[T, int64, int64]{
		Add:    func(acc *int64, _ *T) { *acc++ },
		Merge:  func(dst, src *int64) { *dst += *src },
		Result: func(acc *int64) int64 { return *acc },
	}
}

// Sum adds up a number of each record, in the number's own type: integers wrap
// around when they overflow, as Go's do (convert to int64 in of when an int32
// may not be enough), and the last bits of a sum of floats depend on the order
// of addition.
func Sum[T any, N Number](of func(*T) N) flow.Aggregator[T, N, N] {
	return flow.Aggregator[T, N, N]{
		Add:    func(acc *N, in *T) { *acc += of(in) },
		Merge:  func(dst, src *N) { *dst += *src },
		Result: func(acc *N) N { return *acc },
	}
}
