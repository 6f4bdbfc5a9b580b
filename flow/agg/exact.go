package agg

import (
	"maps"
	"math"
	"slices"

	"github.com/tailrace-io/tailrace/flow"
)

// ExactQuantile computes exact quantiles of integers, one result for each q in
// order, by nearest rank: the smallest value such that a share of at least q of
// all values is not above it (percentile_disc in SQL; q = 0 is the minimum,
// q = 1 the maximum). The accumulator counts each different value, in 8 bytes
// or so while the values lie close to each other, as delays in minutes do.
// Of no records the results are 0. ExactQuantile panics when a q is not
// between 0 and 1.
func ExactQuantile[T any, N Integer](of func(*T) N, q ...float64) flow.Aggregator[T, Histogram, []N] {
	q = checkedQuantiles("ExactQuantile", q)
	return flow.Aggregator[T, Histogram, []N]{
		Add: func(acc *Histogram, in *T) {
			v := orderedBits(of(in))
			if i := v - acc.base; i < uint64(len(acc.window)) {
				acc.window[i]++
				acc.total++
				return
			}
			acc.add(v, 1)
		},
		Merge: (*Histogram).merge,
		Result: func(acc *Histogram) []N {
			out := make([]N, len(q))
			values, upTo := acc.cumulated()
			if len(values) == 0 {
				return out
			}
			for i := range q {
				at, _ := slices.BinarySearch(upTo, nearestRank(q[i], upTo[len(upTo)-1]))
				out[i] = fromOrderedBits[N](values[at])
			}
			return out
		},
		Clone: func(dst, src *Histogram) {
			*dst = *src
			dst.window, dst.rest = slices.Clone(src.window), maps.Clone(src.rest)
		},
	}
}

// nearestRank is q*n, rounded up, at least 1. A q such as 0.07 is a little more
// than seven hundredths, which must not make rank 8 of 100.
func nearestRank(q float64, n uint64) uint64 {
	const rounding = 1e-14
	return min(max(uint64(math.Ceil(q*float64(n)*(1-rounding))), 1), n)
}

// orderedBits maps an integer to a uint64 of the same order.
func orderedBits[N Integer](v N) uint64 {
	if zero := N(0); zero-1 > 0 { // unsigned
		return uint64(v)
	}
	return uint64(int64(v)) ^ 1<<63
}

func fromOrderedBits[N Integer](v uint64) N {
	if zero := N(0); zero-1 > 0 {
		return N(v)
	}
	return N(v ^ 1<<63)
}

// Histogram is the accumulator of ExactQuantile: how often each value came.
// Values close to each other are counted in a window, an array, and those far
// from it in a map. The zero Histogram is empty.
type Histogram struct {
	total  uint64
	base   uint64 // the value of window[0]; the window never wraps around
	window []uint64
	rest   map[uint64]uint64 // no value is in both
}

// A window is at most mostWindow wide, and in proportion to the number of
// values, so that few values far apart don't make a long one.
const (
	leastWindow = 32
	mostWindow  = 1 << 16
	perValue    = 4
)

// add counts v n times.
func (h *Histogram) add(v, n uint64) {
	h.total += n
	if i := v - h.base; i < uint64(len(h.window)) || h.widen(v) {
		h.window[v-h.base] += n
		return
	}
	if h.rest == nil {
		h.rest = map[uint64]uint64{}
	}
	h.rest[v] += n
}

// widen moves an end of the window beyond v, when that is allowed.
func (h *Histogram) widen(v uint64) bool {
	first, last := v, v
	if len(h.window) > 0 {
		first = min(h.base, v)
		last = max(h.base+uint64(len(h.window))-1, v)
	}
	most := min(leastWindow+perValue*h.total, mostWindow)
	if last-first >= most {
		return false
	}
	// As much again, on the side where the values go, as far as it is allowed.
	spare := min(max(last-first+1, leastWindow/2), most-(last-first+1))
	switch {
	case len(h.window) == 0:
		first -= min(spare/2, first)
		last += min(spare/2, math.MaxUint64-last)
	case v < h.base:
		first -= min(spare, first)
	default:
		last += min(spare, math.MaxUint64-last)
	}
	window := make([]uint64, last-first+1)
	if len(h.window) > 0 {
		copy(window[h.base-first:], h.window)
	}
	h.base, h.window = first, window
	for v, n := range h.rest {
		if i := v - first; i < uint64(len(window)) {
			window[i] += n
			delete(h.rest, v)
		}
	}
	return true
}

func (h *Histogram) merge(src *Histogram) {
	for i, n := range src.window {
		if n > 0 {
			h.add(src.base+uint64(i), n)
		}
	}
	for v, n := range src.rest {
		h.add(v, n)
	}
}

// cumulated lists the values in order, and how many values are not above each.
func (h *Histogram) cumulated() (values, upTo []uint64) {
	far := slices.Sorted(maps.Keys(h.rest))
	below, _ := slices.BinarySearch(far, h.base)
	sum := uint64(0)
	note := func(v, n uint64) {
		sum += n
		values, upTo = append(values, v), append(upTo, sum)
	}
	for _, v := range far[:below] {
		note(v, h.rest[v])
	}
	for i, n := range h.window {
		if n > 0 {
			note(h.base+uint64(i), n)
		}
	}
	for _, v := range far[below:] {
		note(v, h.rest[v])
	}
	return values, upTo
}
