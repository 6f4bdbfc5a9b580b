package sim

import (
	"fmt"
	"slices"
)

// lineage is one split (and key) on one way through the graph.
type lineage struct {
	src, split, key int32
	path            uint64
}

func lineageOf(r *Rec, order promise) lineage {
	l := lineage{src: r.Src, split: r.Split, key: -1, path: r.Path}
	if order == perKey {
		l.key = r.Orig
	}
	return l
}

// compare checks what a sink got against the list it was promised: the same
// records as often, when the job has finished; otherwise none that is not in
// the list, nor one too often. In both cases in the promised order.
func compare(want list, got []Rec, complete bool) error {
	left := map[Rec]int{}
	for _, r := range want.recs {
		left[r]++
	}
	for i, r := range got {
		left[r]--
		if left[r] < 0 {
			return fmt.Errorf("record %d of %d is one too many, or wrong: %+v", i, len(got), r)
		}
	}
	if complete && len(got) != len(want.recs) {
		for _, r := range want.recs {
			if left[r] > 0 {
				return fmt.Errorf("%d records of %d are missing, one is %+v", len(want.recs)-len(got), len(want.recs), r)
			}
		}
	}
	if want.order == unordered {
		return nil
	}
	return inOrder(want, got)
}

// inOrder checks the order within each lineage. Where a record comes several
// times (after a broadcast), its n-th copy comes after the n-th copy of the
// record before it.
func inOrder(want list, got []Rec) error {
	before := map[Rec]*Rec{}
	last := map[lineage]*Rec{}
	again := map[lineage]bool{} // a record comes back later: no order to be checked
	for i := range want.recs {
		r := &want.recs[i]
		way := lineageOf(r, want.order)
		prev := last[way]
		if prev != nil && *prev == *r {
			continue // a copy
		}
		if _, known := before[*r]; known {
			again[way] = true
		}
		before[*r], last[way] = prev, r
	}
	count := map[Rec]int{}
	for i, r := range got {
		count[r]++
		if prev := before[r]; prev != nil && !again[lineageOf(&r, want.order)] && count[*prev] < count[r] {
			return fmt.Errorf("record %d of %d came before the one it follows: %+v before %+v", i, len(got), r, *prev)
		}
	}
	return nil
}

// keysOf lists the keys of m in their order.
func keysOf[K interface{ ~int | ~string }, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
