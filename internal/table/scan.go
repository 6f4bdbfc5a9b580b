package table

import (
	"iter"
	"unsafe"
)

// Cursor is a place in a table that is being scanned. Its zero value is the
// beginning.
type Cursor struct {
	pos     uint64 // the first hash of the segment
	slot    uint32 // the next slot of it
	started bool
	done    bool
}

// Scan calls f for the rows of the table, key group by key group in the order
// of their hashes' top bits, from where c stands. It returns after about
// budget rows, or when f returns false, with more = true if there is more to
// scan; the next call goes on after the last row that f saw. f must not call
// the table, and must not write through v; a string in k is its own copy.
//
// Values may change between calls. A key that is inserted or deleted between
// calls may make the rows of its segment be seen again or be missed.
func (t *Table[K, V]) Scan(c *Cursor, budget int, f func(k K, v *V) (ok bool)) (more bool) {
	if !c.started {
		c.started = true
		c.pos, _ = t.span()
	}
	_, end := t.span()
	for !c.done {
		s, after := t.nextSegment(c.pos)
		if s.mem.slab != 0 {
			for c.slot < 1<<s.log {
				i := c.slot
				c.slot++
				if *tagAt(s.base, i) == 0 {
					continue
				}
				budget--
				if k, v := t.at(s, i); !f(k, v) || budget <= 0 {
					return true
				}
			}
		}
		c.pos, c.slot = after, 0
		c.done = after == end
	}
	return false
}

// at returns the row in slot i.
func (t *Table[K, V]) at(s *segment, i uint32) (k K, v *V) {
	row := t.row(s.base, i)
	switch t.kind {
	case inlineRows:
		r := (*inlineRow[K, V])(row)
		return r.key, &r.val
	case encodedRows:
		r := (*encodedRow[V])(row)
		key, _ := s.keys.at(r.off)
		if t.keys.isString {
			*(*string)(unsafe.Pointer(&k)) = string(key)
			return k, &r.val
		}
		k = *t.lend(key, false)
		t.lent = *new(K)
		return k, &r.val
	}
	p := t.pairs.get((*generalRow)(row).ref)
	return p.key, &p.val
}

// All returns the rows of the table to read, in the order of Scan. The table
// must not be changed meanwhile.
func (t *Table[K, V]) All() iter.Seq2[K, *V] {
	return func(yield func(K, *V) bool) {
		var c Cursor
		ok := true
		for ok && t.Scan(&c, 1<<30, func(k K, v *V) bool {
			ok = yield(k, v)
			return ok
		}) {
		}
	}
}
