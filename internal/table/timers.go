package table

import (
	"iter"
	"math"
	"slices"
	"unsafe"
)

// Timer is one timer of a key. Hash is the hash of Key, Tag tells several
// timers of a key apart.
type Timer[K comparable] struct {
	At   int64
	Hash uint64
	Key  K
	Tag  uint32
	// seq orders what was said of one timer: the last word counts. Its lowest
	// bit says that the word was Clear.
	seq uint32
}

const clearBit = 1

func (a *Timer[K]) cleared() bool { return a.seq&clearBit != 0 }

// compare orders timers as they fire: by time, hash and tag.
func (a *Timer[K]) compare(b *Timer[K]) int {
	switch {
	case a.At != b.At:
		return order(a.At < b.At)
	case a.Hash != b.Hash:
		return order(a.Hash < b.Hash)
	case a.Tag != b.Tag:
		return order(a.Tag < b.Tag)
	}
	return 0
}

func order(before bool) int {
	if before {
		return -1
	}
	return 1
}

func (a *Timer[K]) is(b *Timer[K]) bool {
	return a.Key == b.Key && a.At == b.At && a.Hash == b.Hash && a.Tag == b.Tag
}

// Timers are the timers of the keys of one worker. Setting one is an append
// to an unordered leaf; a leaf is sorted when it is full, and its due part when
// it fires. Leaves are ordered among each other, so no step sorts more than
// one leaf. (The leaves of a buffer tree, Arge 1995, under one flat root.)
type Timers[K comparable] struct {
	leaves []*leaf[K] // in order of from; never empty
	due    []Timer[K] // the next to fire, sorted, from position at: before all leaves
	at     int
	spare  [][]Timer[K]
	held   int      // timers that the leaves and spares have room for
	size   int      // words in leaves and due
	seen   []uint32 // of unique
}

// leaf holds timers of one range of time: from its from to that of the next.
type leaf[K comparable] struct {
	from Timer[K] // the first leaf begins at the beginning of time, whatever this says
	rows []Timer[K]
	min  int64  // not later than the earliest of rows
	seq  uint32 // of the last word
	// clears counts the words Clear in rows since they were last made unique.
	clears int
}

const (
	fullLeaf  = 1024
	firstLeaf = 16
)

// NewTimers returns an empty set of timers.
func NewTimers[K comparable]() *Timers[K] {
	t := &Timers[K]{}
	t.leaves = []*leaf[K]{{min: math.MaxInt64}}
	return t
}

// Set adds a timer. One that is there already fires once all the same.
func (t *Timers[K]) Set(at int64, h uint64, k K, tag uint32) {
	t.say(Timer[K]{At: at, Hash: h, Key: k, Tag: tag})
}

// Clear removes a timer if it is there.
func (t *Timers[K]) Clear(at int64, h uint64, k K, tag uint32) {
	t.say(Timer[K]{At: at, Hash: h, Key: k, Tag: tag, seq: clearBit})
}

func (t *Timers[K]) say(w Timer[K]) {
	if t.at < len(t.due) && w.compare(&t.due[len(t.due)-1]) <= 0 {
		t.sayDue(w)
		return
	}
	i := t.route(&w)
	l := t.leaves[i]
	if len(l.rows) == cap(l.rows) {
		t.makeRoom(i)
		l = t.leaves[t.route(&w)]
	}
	l.add(w)
	t.size++
	if l.clears > fullLeaf/16 && 4*l.clears > len(l.rows) {
		t.tidy(t.route(&w))
	}
}

func (l *leaf[K]) add(w Timer[K]) {
	l.seq += 2
	w.seq |= l.seq
	l.min = min(l.min, w.At)
	l.clears += int(w.seq & clearBit)
	l.rows = append(l.rows, w)
}

// sayDue changes the timers that are about to fire: they are sorted, and
// nothing fires twice, so it does at once what was said.
func (t *Timers[K]) sayDue(w Timer[K]) {
	i := t.at + lowerBound(t.due[t.at:], &w)
	for j := i; j < len(t.due) && t.due[j].compare(&w) == 0; j++ {
		if t.due[j].is(&w) {
			if w.cleared() {
				t.due = slices.Delete(t.due, j, j+1)
				t.size--
			}
			return
		}
		i = j + 1 // another key with the same hash, set before
	}
	if !w.cleared() {
		t.due = slices.Insert(t.due, i, w)
		t.size++
	}
}

// lowerBound returns how many of rows are before w.
func lowerBound[K comparable](rows []Timer[K], w *Timer[K]) int {
	i, _ := slices.BinarySearchFunc(rows, w, func(r Timer[K], w *Timer[K]) int { return r.compare(w) })
	return i
}

// route returns the leaf that w belongs to.
func (t *Timers[K]) route(w *Timer[K]) int {
	lo, hi := 0, len(t.leaves)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		from := &t.leaves[mid].from
		if w.At < from.At || w.At == from.At && w.compare(from) < 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// Fire calls f for the timers with at <= upTo in the order of (at, hash, tag),
// each removed before its call. f may set and clear timers; those with
// at <= upTo fire in the same pass. It returns with more = true when it has
// called f budget times and there may be more. After an error of f it returns
// the error; that timer is gone.
func (t *Timers[K]) Fire(upTo int64, budget int, f func(at int64, h uint64, k K, tag uint32) error) (more bool, err error) {
	for {
		if t.at == len(t.due) {
			cost, found := t.collect(upTo)
			budget -= cost
			if !found {
				return false, nil
			}
			continue
		}
		w := &t.due[t.at]
		if w.At > upTo {
			return false, nil // collected by a call with a later upTo
		}
		if budget <= 0 {
			return true, nil
		}
		now := *w
		*w = Timer[K]{}
		t.at++
		t.size--
		budget--
		if err := f(now.At, now.Hash, now.Key, now.Tag); err != nil {
			return true, err
		}
	}
}

// Next returns a time that is not later than that of the next timer, and
// whether there may be one. It is early only when a timer was cleared.
func (t *Timers[K]) Next() (at int64, ok bool) {
	if t.at < len(t.due) {
		return t.due[t.at].At, true
	}
	for _, l := range t.leaves {
		if len(l.rows) > 0 {
			return l.min, true
		}
	}
	return 0, false
}

// Len returns how many timers there are at most: one that was set twice or
// cleared may still count.
func (t *Timers[K]) Len() int { return t.size }

// Bytes returns the memory held, without what the keys point to.
func (t *Timers[K]) Bytes() int64 {
	return int64(t.held+cap(t.due))*int64(unsafe.Sizeof(Timer[K]{})) + 4*int64(len(t.seen)) + int64(len(t.leaves))*int64(unsafe.Sizeof(leaf[K]{}))
}

// All returns the timers in the order in which they fire. They must not be
// changed meanwhile.
func (t *Timers[K]) All() iter.Seq[Timer[K]] {
	return func(yield func(Timer[K]) bool) {
		for _, w := range t.due[t.at:] {
			if !yield(w) {
				return
			}
		}
		for _, l := range t.leaves {
			t.settle(l)
			for _, w := range l.rows {
				if !yield(w) {
					return
				}
			}
		}
	}
}
