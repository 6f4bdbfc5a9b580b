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
	t.settle(l)
	n := len(l.rows)
	if n <= cap(l.rows)/2 {
		return
	}
	mid := n / 2
	for mid < n && l.rows[mid].compare(&l.rows[mid-1]) == 0 {
		mid++
	}
	if mid == n {
		mid = n / 2
		for mid > 0 && l.rows[mid].compare(&l.rows[mid-1]) == 0 {
			mid--
		}
	}
	if mid == 0 {
		t.resize(l, 2*cap(l.rows)) // all hashes collide
		return
	}
	upper := &leaf[K]{from: l.rows[mid], min: l.rows[mid].At, seq: l.seq}
	t.resize(upper, max(fullLeaf, n-mid+1))
	upper.rows = append(upper.rows, l.rows[mid:]...)
	clear(l.rows[mid:])
	l.rows = l.rows[:mid]
	t.leaves = slices.Insert(t.leaves, i+1, upper)
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
	l.seq = 0
	for i := range l.rows {
		l.rows[i].seq = 0 // whatever is said from now on comes later
	}
}

// settled sorts rows in place and returns the timers that are set.
func settled[K comparable](rows []Timer[K]) []Timer[K] {
	order := func(a, b Timer[K]) int {
		if c := a.compare(&b); c != 0 {
			return c
		}
		return cmp.Compare(a.seq, b.seq)
	}
	if !slices.IsSortedFunc(rows, order) {
		slices.SortFunc(rows, order)
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
	before := len(t.due)
	t.due = settled(t.due)
	t.size -= before - len(t.due)
	return cost, true
}
