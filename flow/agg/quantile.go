package agg

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailrace-io/tailrace/flow"
)

// Quantile estimates quantiles, one result for each q in order (0 is the
// minimum, 0.5 the median, 1 the maximum), by a merging t-digest of compression
// 200. The error is in rank, not in value, and smallest at the ends: in tests
// with several distributions the share of records below a result differs from
// q by less than 0.015*sqrt(q*(1-q)), that is 0.75 % at the median and 0.15 % at
// q = 0.99; a proof there is none. Another order of records or merges gives
// another result within that error. For integers, ExactQuantile is exact.
//
// NaN and infinities are left out; the quantiles of nothing are NaN. Quantile
// panics when a q is not between 0 and 1.
func Quantile[T any, N Number](of func(*T) N, q ...float64) flow.Aggregator[T, Digest, []float64] {
	q = checkedQuantiles("Quantile", q)
	return flow.Aggregator[T, Digest, []float64]{
		Add: func(acc *Digest, in *T) {
			if v := float64(of(in)); v-v == 0 { // neither NaN nor infinite
				acc.add(v)
			}
		},
		Merge: (*Digest).merge,
		Result: func(acc *Digest) []float64 {
			d := acc.clone()
			d.flush()
			out := make([]float64, len(q))
			for i := range q {
				out[i] = d.quantile(q[i])
			}
			return out
		},
		Clone: func(dst, src *Digest) { *dst = src.clone() },
	}
}

func checkedQuantiles(name string, q []float64) []float64 {
	if len(q) == 0 {
		panic(fmt.Sprintf("agg.%s: no quantile is asked for", name))
	}
	for _, q := range q {
		if !(0 <= q && q <= 1) {
			panic(fmt.Sprintf("agg.%s: the quantile %v is not between 0 and 1", name, q))
		}
	}
	return slices.Clone(q)
}

// Digest is the accumulator of Quantile: a merging t-digest with the scale
// function k1 (Dunning and Ertl, Computing Extremely Accurate Quantiles Using
// t-Digests, 2019). The zero Digest is empty. It takes 8 KiB at most.
type Digest struct {
	least, most float64
	centroids   []centroid // in order of mean
	fresh       []float64  // values that are in no centroid yet
}

// centroid stands for weight values around mean. Weights are whole, and exact
// up to 2^53.
type centroid struct{ mean, weight float64 }

const (
	compression = 200
	mostFresh   = 512
)

func (d *Digest) add(v float64) {
	d.noteEnds(v, v)
	d.fresh = append(d.fresh, v)
	if len(d.fresh) >= mostFresh {
		d.flush()
	}
}

func (d *Digest) noteEnds(least, most float64) {
	if len(d.fresh)+len(d.centroids) == 0 {
		d.least, d.most = least, most
		return
	}
	d.least, d.most = min(d.least, least), max(d.most, most)
}

func (d *Digest) merge(src *Digest) {
	if len(src.fresh)+len(src.centroids) == 0 {
		return
	}
	d.noteEnds(src.least, src.most)
	if len(src.centroids) > 0 {
		d.absorb(src.centroids)
	}
	for _, v := range src.fresh {
		d.add(v)
	}
}

func (d *Digest) clone() Digest {
	c := *d
	c.centroids, c.fresh = slices.Clone(d.centroids), slices.Clone(d.fresh)
	return c
}

// flush makes centroids of the fresh values.
func (d *Digest) flush() {
	if len(d.fresh) == 0 {
		return
	}
	slices.Sort(d.fresh)
	more := make([]centroid, len(d.fresh))
	for i, v := range d.fresh {
		more[i] = centroid{v, 1}
	}
	d.fresh = d.fresh[:0]
	d.absorb(more)
}

// absorb joins neighbours of two sorted lists of centroids as long as none
// spans more than one unit of the scale function.
func (d *Digest) absorb(more []centroid) {
	var (
		all   = mergeSorted(d.centroids, more)
		total = weightOf(all)
		done  = 0.0 // weight before cur
		limit = total * nextQuantile(0)
		out   = d.centroids[:0]
		cur   = all[0]
	)
	for _, next := range all[1:] {
		if done+cur.weight+next.weight <= limit {
			cur.weight += next.weight
			cur.mean += (next.mean - cur.mean) * (next.weight / cur.weight)
			continue
		}
		out = append(out, cur)
		done += cur.weight
		limit = total * nextQuantile(done/total)
		cur = next
	}
	d.centroids = append(out, cur)
}

// nextQuantile is one unit of the scale function after q.
func nextQuantile(q float64) float64 {
	const unit = 2 * math.Pi / compression
	angle := math.Asin(2*q-1) + unit
	if angle >= math.Pi/2 {
		return 1
	}
	return (math.Sin(angle) + 1) / 2
}

func mergeSorted(a, b []centroid) []centroid {
	out := make([]centroid, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].mean < a[0].mean {
			a, b = b, a
		}
		out, a = append(out, a[0]), a[1:]
	}
	return append(append(out, a...), b...)
}

func weightOf(cs []centroid) (sum float64) {
	for _, c := range cs {
		sum += c.weight
	}
	return sum
}

// quantile interpolates between the middles of centroids; a centroid of one
// value is exactly that value. There must be no fresh values.
func (d *Digest) quantile(q float64) float64 {
	if len(d.centroids) == 0 {
		return math.NaN()
	}
	var (
		first, last = d.centroids[0], d.centroids[len(d.centroids)-1]
		total       = weightOf(d.centroids)
		index       = q * total
	)
	switch {
	case index < 1:
		return d.least
	case index > total-1:
		return d.most
	case first.weight > 2 && index < first.weight/2:
		return between(d.least, first.mean, (index-1)/(first.weight/2-1))
	case last.weight > 2 && total-index < last.weight/2:
		return between(d.most, last.mean, (total-index-1)/(last.weight/2-1))
	}
	middle := first.weight / 2 // rank of the middle of a
	for i, b := range d.centroids[1:] {
		a := d.centroids[i]
		step := (a.weight + b.weight) / 2
		if middle+step < index {
			middle += step
			continue
		}
		left, right := index-middle, middle+step-index
		switch {
		case a.weight == 1 && left < 0.5:
			return a.mean
		case b.weight == 1 && right <= 0.5:
			return b.mean
		}
		return between(a.mean, b.mean, left/step)
	}
	return last.mean
}

// between is a at 0 and b at 1.
func between(a, b, at float64) float64 { return a + (b-a)*min(max(at, 0), 1) }
