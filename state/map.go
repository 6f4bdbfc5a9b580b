package state

import (
	"iter"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/invariant"
)

// Map is a map for each key.
type Map[MK comparable, V any] struct{ of mapper[MK, V] }

type mapper[MK comparable, V any] interface {
	peek(k MK) *V
	edit(k MK) *V
	remove(k MK)
	count() int
	all() iter.Seq2[MK, *V]
	clear()
}

// MapOf declares a Map for each key. A map that has changed is stored as a
// whole.
func MapOf[MK comparable, V any, K comparable](s flow.Scope[K], name string, opts ...Option) Map[MK, V] {
	o := apply(opts)
	states := s.States()
	m := &keyedMap[K, MK, V]{life: o.lifeTime()}
	m.row = plainCell[K, *entries[MK, V]]{hand: s.InHand(), states: states, name: name}
	states.Declare(flow.StateSpec{
		StateDecl: decl[K](name, o.kind("map"), typeName[map[MK]V](), "kept beside the table: it is a map"),
		Check:     storable(states, name, o, hasCodec[K], hasCodec[MK], hasCodec[V]),
		Open:      m.open,
	})
	if invariant.Enabled {
		return Map[MK, V]{&checkedMap[MK, V]{mapper: m, loan: loan[V]{states: states, name: name}}}
	}
	return Map[MK, V]{m}
}

// Get returns a copy of the value of k, and whether there is one.
func (h Map[MK, V]) Get(k MK) (v V, ok bool) {
	if p := h.of.peek(k); p != nil {
		return *p, true
	}
	return v, false
}

// Peek returns the value of k to read, in place; nil when it is absent.
func (h Map[MK, V]) Peek(k MK) *V { return h.of.peek(k) }

// Edit returns the value of k to change in place; a zero V when it is absent.
func (h Map[MK, V]) Edit(k MK) *V { return h.of.edit(k) }

// Set makes v the value of k.
func (h Map[MK, V]) Set(k MK, v V) { *h.of.edit(k) = v }

// Delete removes k.
func (h Map[MK, V]) Delete(k MK) { h.of.remove(k) }

// Len is the number of entries.
func (h Map[MK, V]) Len() int { return h.of.count() }

// All goes over the entries in the order in which their keys were inserted.
// The values are to read. Entries may be set and deleted in the loop; whether
// it sees those inserted is open.
func (h Map[MK, V]) All() iter.Seq2[MK, *V] { return h.of.all() }

// Clear removes all entries.
func (h Map[MK, V]) Clear() { h.of.clear() }

// keyedMap is a Map. No row is without entries.
type keyedMap[K, MK comparable, V any] struct {
	row    plainCell[K, *entries[MK, V]]
	life   flow.Time // of an entry; 0 is for ever
	beyond int64     // bytes of the maps
}

// now is the processing time where it matters.
func (m *keyedMap[K, MK, V]) now() flow.Time {
	if m.life == 0 {
		return 0
	}
	return m.row.now()
}

func (m *keyedMap[K, MK, V]) peek(k MK) *V {
	p := m.row.peek()
	if p == nil {
		return nil
	}
	e := (*p).get(k)
	if e == nil || m.life > 0 && expired(e.at, m.life, m.now()) {
		return nil
	}
	return &e.val
}

func (m *keyedMap[K, MK, V]) edit(k MK) *V {
	p, fresh := m.row.edit()
	if fresh {
		*p = &entries[MK, V]{}
	} else {
		m.beyond -= (*p).bytes()
	}
	e := (*p).put(k)
	m.beyond += (*p).bytes()
	if m.life > 0 {
		now := m.now()
		if expired(e.at, m.life, now) {
			e.val = *new(V)
		}
		e.at = now
	}
	return &e.val
}

func (m *keyedMap[K, MK, V]) remove(k MK) {
	p := m.row.peek()
	if p == nil || (*p).get(k) == nil {
		return
	}
	p, _ = m.row.edit()
	m.beyond -= (*p).bytes()
	(*p).delete(k)
	if (*p).live == 0 {
		m.row.remove()
		return
	}
	m.beyond += (*p).bytes()
}

func (m *keyedMap[K, MK, V]) count() int {
	p := m.row.peek()
	if p == nil {
		return 0
	}
	return (*p).count(m.life, m.now())
}

func (m *keyedMap[K, MK, V]) all() iter.Seq2[MK, *V] {
	p := m.row.peek()
	if p == nil {
		return func(func(MK, *V) bool) {}
	}
	return (*p).all(m.life, m.now())
}

func (m *keyedMap[K, MK, V]) clear() {
	if p := m.row.peek(); p != nil {
		m.beyond -= (*p).bytes()
		m.row.remove()
	}
}

func (m *keyedMap[K, MK, V]) open(inst *flow.Instance) (flow.Store, error) {
	codec, err := entriesCodec[MK, V](m.row.states, m.life > 0, func(n int64) { m.beyond += n })
	if err != nil {
		return nil, err
	}
	if m.row.rows, err = openTable[K, *entries[MK, V]](m.row.states, inst, codec); err != nil {
		return nil, err
	}
	store := &tableStore[K, *entries[MK, V]]{rows: m.row.rows, beyond: &m.beyond}
	if m.life == 0 {
		return store, nil
	}
	return newSweptStore(store,
		func(p **entries[MK, V]) bool { return (*p).count(m.life, m.now()) < (*p).live },
		func(p **entries[MK, V]) bool {
			m.beyond -= (*p).bytes()
			(*p).expire(m.life, m.now())
			if (*p).live == 0 {
				return true
			}
			m.beyond += (*p).bytes()
			return false
		})
}
