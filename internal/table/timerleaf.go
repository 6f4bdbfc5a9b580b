package table

import (
	"cmp"
	"math"
	"slices"
)

// makeRoom makes room in a leaf that has none: by doubling it, by dropping
// what was cleared or said twice, or by dividing it.
func (t *Timers[K]) makeRoom(i int) {
	l := t.leaves[i]
	if cap(l.rows) < fullLeaf {
		t.resize(l, max(firstLeaf, 2*cap(l.rows)))
		return
	}
	t.unique(l)
	n := len(l.rows)
	if n <= cap(l.rows)/2 {
		return
	}
	mid := divide(l.rows)
	if mid == 0 {
		t.resize(l, 2*cap(l.rows)) // all hashes collide
		return
	}
	first := l.rows[mid]
	for i := range l.rows[mid:] {
		if w := &l.rows[mid+i]; w.compare(&first) < 0 {
			first = *w
		}
	}
	upper := &leaf[K]{from: first, min: first.At}
	t.resize(upper, max(fullLeaf, n-mid+1))
	upper.rows = append(upper.rows, l.rows[mid:]...)
	clear(l.rows[mid:])
	l.rows = l.rows[:mid]
	t.leaves = slices.Insert(t.leaves, i+1, upper)
}

// unique keeps the last word on each timer of a leaf, unless it is Clear. It
// looks words up in a hash table of the leaf: sorting takes five times as long.
func (t *Timers[K]) unique(l *leaf[K]) {
	slots := 4 * fullLeaf
	for slots < 2*len(l.rows) {
		slots *= 2
	}
	if len(t.seen) < slots {
		t.seen = make([]uint32, slots)
	}
	seen, mask := t.seen, uint64(len(t.seen)-1)
	clear(seen)
	n := uint32(0)
	for i := range l.rows {
		w := &l.rows[i]
		at := fold(w.Hash+uint64(w.Tag), uint64(w.At)) & mask
		for seen[at] != 0 && !l.rows[seen[at]-1].is(w) {
			at = (at + 1) & mask
		}
		if seen[at] == 0 {
			n++
			seen[at] = n
		}
		l.rows[seen[at]-1] = *w // words are in the order in which they were said
	}
	before := len(l.rows)
	kept := l.rows[:0]
	l.min, l.seq, l.clears = math.MaxInt64, 0, 0
	for _, w := range l.rows[:n] {
		if !w.cleared() {
			w.seq = 0 // whatever is said from now on comes later
			l.min = min(l.min, w.At)
			kept = append(kept, w)
		}
	}
	clear(l.rows[len(kept):])
	l.rows = kept
	t.size -= before - len(kept)
}

// divide orders rows so that all before the returned index are before all from
// it on, in about equal parts (Hoare's quickselect). It returns 0 if all are equal.
func divide[K comparable](rows []Timer[K]) int {
	lo, hi, mid := 0, len(rows), len(rows)/2
	for rounds := 0; hi-lo > 1; rounds++ {
		if rounds == 20 { // unlucky: in order, each round halves what is left
			slices.SortFunc(rows[lo:hi], func(a, b Timer[K]) int { return a.compare(&b) })
		}
		pivot := medianOf(&rows[lo], &rows[(lo+hi)/2], &rows[hi-1])
		below := lo // rows[lo:below] < pivot
		for i := lo; i < hi; i++ {
			if rows[i].compare(&pivot) < 0 {
				rows[i], rows[below] = rows[below], rows[i]
				below++
			}
		}
		above := below // rows[below:above] == pivot
		for i := below; i < hi; i++ {
			if rows[i].compare(&pivot) == 0 {
				rows[i], rows[above] = rows[above], rows[i]
				above++
			}
		}
		switch {
		case mid < below:
			hi = below
		case mid >= above:
			lo = above
		case below > 0:
			return below
		case above < len(rows):
			return above
		default:
			return 0
		}
	}
	return lo
}

func medianOf[K comparable](a, b, c *Timer[K]) Timer[K] {
	if b.compare(a) < 0 {
		a, b = b, a
	}
	switch {
	case c.compare(a) <= 0:
		return *a
	case c.compare(b) <= 0:
		return *c
	}
	return *b
}

// tidy drops what was cleared from leaf i, so that timers which are put off
// again and again take no room, and joins what is left with the leaf before.
func (t *Timers[K]) tidy(i int) {
	l := t.leaves[i]
	t.unique(l)
	n := len(l.rows)
	if i > 0 && n <= fullLeaf/4 {
		if before := t.leaves[i-1]; len(before.rows)+n <= min(cap(before.rows), fullLeaf/2) {
			before.rows = append(before.rows, l.rows...) // no word in it is about one of these
			before.min = min(before.min, l.min)
			t.recycle(l.rows)
			t.leaves = slices.Delete(t.leaves, i, i+1)
			return
		}
	}
	if n <= cap(l.rows)/8 && cap(l.rows) > firstLeaf {
		t.resize(l, max(firstLeaf, 2*n))
	}
}

// resize gives a leaf room for n timers.
func (t *Timers[K]) resize(l *leaf[K], n int) {
	var rows []Timer[K]
	if k := len(t.spare); n == fullLeaf && k > 0 {
		rows, t.spare = t.spare[k-1], t.spare[:k-1]
	} else {
		rows = make([]Timer[K], 0, n)
		t.held += cap(rows)
	}
	rows = append(rows, l.rows...)
	t.recycle(l.rows)
	l.rows = rows
}

// recycle keeps a few full leaves for the next ones.
func (t *Timers[K]) recycle(rows []Timer[K]) {
	if cap(rows) == fullLeaf && len(t.spare) < 4 {
		clear(rows)
		t.spare = append(t.spare, rows[:0])
		return
	}
	t.held -= cap(rows)
}

// settle sorts a leaf and keeps the last word on each timer, unless it is
// Clear.
func (t *Timers[K]) settle(l *leaf[K]) {
	before := len(l.rows)
	l.rows = settled(l.rows)
	t.size -= before - len(l.rows)
	l.min = math.MaxInt64
	if len(l.rows) > 0 {
		l.min = l.rows[0].At
	}
	l.seq, l.clears = 0, 0
	for i := range l.rows {
		l.rows[i].seq = 0 // whatever is said from now on comes later
	}
}

// settled sorts rows in place and returns the timers that are set.
func settled[K comparable](rows []Timer[K]) []Timer[K] {
	said := func(a, b Timer[K]) int {
		if c := a.compare(&b); c != 0 {
			return c
		}
		return cmp.Compare(a.seq, b.seq)
	}
	if !slices.IsSortedFunc(rows, said) {
		slices.SortFunc(rows, said)
	}
	kept := 0
	for i := 0; i < len(rows); {
		end := i + 1
		for end < len(rows) && rows[end].compare(&rows[i]) == 0 {
			end++
		}
		for j := i; j < end; j++ {
			if isLastWord(rows[j:end]) && !rows[j].cleared() {
				rows[kept] = rows[j]
				kept++
			}
		}
		i = end
	}
	clear(rows[kept:])
	return rows[:kept]
}

// isLastWord says whether none of the other words, in the order in which they
// were said, is about the timer of the first.
func isLastWord[K comparable](words []Timer[K]) bool {
	for i := 1; i < len(words); i++ {
		if words[i].is(&words[0]) {
			return false
		}
	}
	return true
}

// collect moves the timers with at <= upTo of the first leaf to due, which is
// empty. It returns what that cost, in calls of about the same time, and
// whether to go on: there may be timers that are due.
func (t *Timers[K]) collect(upTo int64) (cost int, found bool) {
	clear(t.due)
	t.due, t.at = t.due[:0], 0
	l := t.leaves[0]
	for len(l.rows) == 0 && len(t.leaves) > 1 {
		t.recycle(l.rows)
		t.leaves[0] = nil
		t.leaves = t.leaves[1:]
		l = t.leaves[0]
	}
	if len(l.rows) == 0 || l.min > upTo {
		return 0, false
	}
	cost = 1 + len(l.rows)/16
	rest := l.rows[:0]
	l.min = math.MaxInt64
	for _, w := range l.rows {
		if w.At <= upTo {
			t.due = append(t.due, w)
			continue
		}
		rest = append(rest, w)
		l.min = min(l.min, w.At)
	}
	clear(l.rows[len(rest):])
	l.rows = rest
	if l.seq > math.MaxUint32/2 {
		t.unique(l) // which begins to count again
	}
	before := len(t.due)
	t.due = settled(t.due)
	t.size -= before - len(t.due)
	return cost, true
}
