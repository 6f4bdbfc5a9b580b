package agg

import (
	"fmt"
	"slices"

	"github.com/tailrace-io/tailrace/flow"
)

// Top is the accumulator of TopN. The zero Top is empty.
type Top[T any] struct {
	// heap has the smallest record first, and no record before one that is
	// smaller: the first is the one to beat.
	heap []T
}

// TopN keeps the n largest records by compare, which returns a number below,
// at or above 0 as a is less than, equal to or greater than b. The result has
// them largest first, and belongs to the caller. Which of several equal records
// stay, and in what order, depends on the order they came in: for results that
// don't, compare must not call different records equal (end it with a key).
//
// Records are copied as by assignment: what their slices, maps and pointers
// refer to is shared, and read-only. TopN panics when n is not positive.
func TopN[T any](n int, compare func(a, b *T) int) flow.Aggregator[T, Top[T], []T] {
	if n <= 0 {
		panic(fmt.Sprintf("agg.TopN: n is %d, must be positive", n))
	}
	add := func(acc *Top[T], in *T) {
		switch {
		case len(acc.heap) < n:
			acc.heap = append(acc.heap, *in)
			siftUp(acc.heap, compare)
		case compare(in, &acc.heap[0]) > 0:
			acc.heap[0] = *in
			siftDown(acc.heap, compare)
		}
	}
	return flow.Aggregator[T, Top[T], []T]{
		Add: add,
		Merge: func(dst, src *Top[T]) {
			for i := range src.heap {
				add(dst, &src.heap[i])
			}
		},
		Result: func(acc *Top[T]) []T { return sorted(slices.Clone(acc.heap), compare) },
		Clone:  func(dst, src *Top[T]) { dst.heap = slices.Clone(src.heap) },
	}
}

// siftUp moves the last element to its place.
func siftUp[T any](heap []T, compare func(a, b *T) int) {
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if compare(&heap[i], &heap[parent]) >= 0 {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

// siftDown moves the first element to its place.
func siftDown[T any](heap []T, compare func(a, b *T) int) {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if compare(&heap[child], &heap[least]) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// sorted turns a heap into a slice, largest first: the smallest is taken off
// the heap and put behind it, until one is left.
func sorted[T any](heap []T, compare func(a, b *T) int) []T {
	for last := len(heap) - 1; last > 0; last-- {
		heap[0], heap[last] = heap[last], heap[0]
		siftDown(heap[:last], compare)
	}
	return heap
}
