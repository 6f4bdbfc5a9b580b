package state

import (
	"slices"
	"sort"
	"unsafe"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/table"
)

// List is a list of V: one for each key, or one of the task.
type List[V any] struct{ of lister[V] }

type lister[V any] interface {
	add(v V)
	peek() []V
	replace(vs []V)
	clear()
}

// ListOf declares a List for each key. An append costs one step, but a list
// that has changed is stored as a whole.
func ListOf[V any, K comparable](s flow.Scope[K], name string, opts ...Option) List[V] {
	o := apply(opts)
	states := s.States()
	l := &keyedList[K, V]{life: o.lifeTime()}
	l.row = plainCell[K, listRow[V]]{hand: s.InHand(), states: states, name: name}
	states.Declare(flow.StateSpec{
		StateDecl: decl[K](name, o.kind("list"), typeName[[]V](), "kept beside the table: it is a slice"),
		Check:     storable(states, name, o, hasCodec[K], hasCodec[[]V]),
		Open:      l.open,
	})
	return List[V]{checkedIn[V](l, states, name)}
}

// Append adds v at the end.
func (h List[V]) Append(v V) { h.of.add(v) }

// Peek returns the list to read, in place; nil when it is empty.
func (h List[V]) Peek() []V { return h.of.peek() }

// Replace makes the list a copy of vs.
func (h List[V]) Replace(vs []V) { h.of.replace(vs) }

// Clear removes all elements.
func (h List[V]) Clear() { h.of.clear() }

// listRow is the list of one key. at has the stamps of the elements, in order
// and never going back, if they expire.
type listRow[V any] struct {
	vals []V
	at   []flow.Time
}

// past is how many elements have expired: they are at the beginning.
func (r *listRow[V]) past(life, now flow.Time) int {
	return sort.Search(len(r.at), func(i int) bool { return !expired(r.at[i], life, now) })
}

// halfPast says whether half of the elements have expired. Fewer are not worth
// moving the others.
func (r *listRow[V]) halfPast(life, now flow.Time) bool {
	return len(r.at) > 0 && expired(r.at[len(r.at)/2], life, now)
}

// expire removes what has expired.
func (r *listRow[V]) expire(life, now flow.Time) {
	n := r.past(life, now)
	r.vals, r.at = slices.Delete(r.vals, 0, n), slices.Delete(r.at, 0, n)
}

// stamp notes that the elements from n on were written now, or, should the
// clock have gone back, with the one before.
func (r *listRow[V]) stamp(n int, now flow.Time) {
	r.at = r.at[:n]
	if n > 0 {
		now = max(now, r.at[n-1])
	}
	for len(r.at) < len(r.vals) {
		r.at = append(r.at, now)
	}
}

// keyedList is a List for each key.
type keyedList[K comparable, V any] struct {
	row    plainCell[K, listRow[V]]
	life   flow.Time // of an element; 0 is for ever
	beyond int64     // bytes of the lists
}

// size is the memory of a row beside the table.
func (l *keyedList[K, V]) size(r *listRow[V]) int64 {
	return int64(cap(r.vals))*int64(unsafe.Sizeof(*new(V))) + int64(cap(r.at))*8
}

func (l *keyedList[K, V]) add(v V) {
	r, _ := l.row.edit()
	l.beyond -= l.size(r)
	if l.life > 0 && r.halfPast(l.life, l.row.now()) {
		r.expire(l.life, l.row.now())
	}
	r.vals = append(r.vals, v)
	if l.life > 0 {
		r.stamp(len(r.at), l.row.now())
	}
	l.beyond += l.size(r)
}

func (l *keyedList[K, V]) peek() []V {
	r := l.row.peek()
	if r == nil {
		return nil
	}
	n := 0
	if l.life > 0 {
		n = r.past(l.life, l.row.now())
	}
	if n == len(r.vals) {
		return nil
	}
	return r.vals[n:len(r.vals):len(r.vals)]
}

func (l *keyedList[K, V]) replace(vs []V) {
	if len(vs) == 0 {
		l.clear()
		return
	}
	r, _ := l.row.edit()
	l.beyond -= l.size(r)
	r.vals = replaced(r.vals, vs)
	if l.life > 0 {
		r.stamp(0, l.row.now())
	}
	l.beyond += l.size(r)
}

// replaced makes old a copy of vs, which may be a part of it.
func replaced[V any](old, vs []V) []V {
	before := len(old)
	now := append(old[:0], vs...)
	if before > len(now) && cap(now) >= before {
		clear(now[len(now):before])
	}
	return now
}

func (l *keyedList[K, V]) clear() {
	if r := l.row.peek(); r != nil {
		l.beyond -= l.size(r)
		l.row.remove()
	}
}

func (l *keyedList[K, V]) open(inst *flow.Instance) (flow.Store, error) {
	codec, err := l.codec()
	if err != nil {
		return nil, err
	}
	if l.row.rows, err = openTable[K, listRow[V]](l.row.states, inst, codec); err != nil {
		return nil, err
	}
	store := &tableStore[K, listRow[V]]{rows: l.row.rows, beyond: &l.beyond}
	if l.life == 0 {
		return store, nil
	}
	return newSweptStore(store,
		func(r *listRow[V]) bool { return r.halfPast(l.life, l.row.now()) },
		func(r *listRow[V]) bool {
			l.beyond -= l.size(r)
			r.expire(l.life, l.row.now())
			if len(r.vals) == 0 {
				return true
			}
			l.beyond += l.size(r)
			return false
		})
}

// codec writes the elements, and their stamps if they expire.
func (l *keyedList[K, V]) codec() (c table.Codec[listRow[V]], err error) {
	vals, err := codecOf[[]V](l.row.states)
	if err != nil {
		return c, err
	}
	at, err := codecOf[[]flow.Time](l.row.states)
	c.Append = func(dst []byte, r *listRow[V]) ([]byte, error) {
		dst, err := vals.Append(dst, &r.vals)
		if err != nil || l.life == 0 {
			return dst, err
		}
		return at.Append(dst, &r.at)
	}
	c.Decode = func(src []byte, r *listRow[V]) (int, error) {
		n, err := vals.Decode(src, &r.vals)
		if err != nil {
			return 0, err
		}
		if l.life > 0 {
			m, err := at.Decode(src[n:], &r.at)
			if err != nil {
				return 0, err
			}
			n += m
		}
		l.beyond += l.size(r)
		return n, nil
	}
	return c, err
}
