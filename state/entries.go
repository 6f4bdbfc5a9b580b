package state

import (
	"encoding/binary"
	"fmt"
	"iter"
	"unsafe"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/table"
)

// entries is a map that keeps the order in which its keys were inserted, also
// through a checkpoint: what a processor emits while it goes over it is the
// same in each run. Small ones are searched through, larger ones have an index.
type entries[MK comparable, V any] struct {
	list    []entry[MK, V]
	index   map[MK]int32 // of list; nil while it is small
	live    int
	reading int // iterations in progress: the list is not compacted meanwhile
}

type entry[MK comparable, V any] struct {
	key  MK
	val  V
	at   flow.Time // of the last write, if entries expire
	dead bool
}

// smallMap is how many entries are searched through without an index.
const smallMap = 8

// find returns the place of k in the list.
func (m *entries[MK, V]) find(k MK) (int, bool) {
	if m.index != nil {
		i, ok := m.index[k]
		return int(i), ok
	}
	for i := range m.list {
		if e := &m.list[i]; e.key == k && !e.dead {
			return i, true
		}
	}
	return 0, false
}

// get returns the entry of k, nil if there is none.
func (m *entries[MK, V]) get(k MK) *entry[MK, V] {
	if i, ok := m.find(k); ok {
		return &m.list[i]
	}
	return nil
}

// put returns the entry of k, a new one at the end if there is none.
func (m *entries[MK, V]) put(k MK) *entry[MK, V] {
	if e := m.get(k); e != nil {
		return e
	}
	if len(m.list) == cap(m.list) && m.live <= len(m.list)/2 && m.reading == 0 {
		m.compact()
	}
	if m.index == nil && len(m.list) == smallMap {
		m.makeIndex()
	}
	if m.index != nil {
		m.index[k] = int32(len(m.list))
	}
	m.list = append(m.list, entry[MK, V]{key: k})
	m.live++
	return &m.list[len(m.list)-1]
}

func (m *entries[MK, V]) makeIndex() {
	m.index = make(map[MK]int32, 2*smallMap)
	for i := range m.list {
		if e := &m.list[i]; !e.dead {
			m.index[e.key] = int32(i)
		}
	}
}

// compact moves the entries together.
func (m *entries[MK, V]) compact() {
	n := 0
	for i := range m.list {
		if m.list[i].dead {
			continue
		}
		m.list[n] = m.list[i]
		n++
	}
	clear(m.list[n:])
	m.list = m.list[:n]
	m.index = nil
	if n > smallMap {
		m.makeIndex()
	}
}

func (m *entries[MK, V]) delete(k MK) {
	if i, ok := m.find(k); ok {
		m.kill(i)
	}
}

func (m *entries[MK, V]) kill(i int) {
	e := &m.list[i]
	if m.index != nil {
		delete(m.index, e.key)
	}
	*e = entry[MK, V]{dead: true}
	if m.live--; m.live == 0 {
		m.list, m.index = m.list[:0], nil
	}
}

// expire removes what has expired.
func (m *entries[MK, V]) expire(life, now flow.Time) {
	for i := range m.list {
		if e := &m.list[i]; !e.dead && expired(e.at, life, now) {
			m.kill(i)
			if m.live == 0 {
				return
			}
		}
	}
}

// count is the number of entries that have not expired; a life of 0 is for ever.
func (m *entries[MK, V]) count(life, now flow.Time) int {
	if life == 0 {
		return m.live
	}
	n := 0
	for i := range m.list {
		if e := &m.list[i]; !e.dead && !expired(e.at, life, now) {
			n++
		}
	}
	return n
}

// all goes over the entries in the order of insertion. Entries may be changed,
// deleted and inserted meanwhile.
func (m *entries[MK, V]) all(life, now flow.Time) iter.Seq2[MK, *V] {
	return func(yield func(MK, *V) bool) {
		m.reading++
		defer func() { m.reading-- }()
		for i := 0; i < len(m.list); i++ {
			e := &m.list[i]
			if e.dead || life > 0 && expired(e.at, life, now) {
				continue
			}
			if !yield(e.key, &e.val) {
				return
			}
		}
	}
}

// bytes is the memory held, without what keys and values point to.
func (m *entries[MK, V]) bytes() int64 {
	n := int64(unsafe.Sizeof(*m)) + int64(cap(m.list))*int64(unsafe.Sizeof(entry[MK, V]{}))
	return n + int64(len(m.index))*int64(2*(unsafe.Sizeof(*new(MK))+4))
}

// entriesCodec writes number of entries, then of each: key, value, and the
// stamp if they expire. sized is told of the memory of each that is decoded.
func entriesCodec[MK comparable, V any](s *flow.States, expires bool, sized func(int64)) (c table.Codec[*entries[MK, V]], err error) {
	keys, err := codecOf[MK](s)
	if err != nil {
		return c, err
	}
	vals, err := codecOf[V](s)
	c.Append = func(dst []byte, m **entries[MK, V]) (_ []byte, err error) {
		dst = binary.AppendUvarint(dst, uint64((*m).live))
		for i := range (*m).list {
			e := &(*m).list[i]
			if e.dead {
				continue
			}
			if dst, err = keys.Append(dst, &e.key); err != nil {
				return nil, fmt.Errorf("map key %v: %w", e.key, err)
			}
			if dst, err = vals.Append(dst, &e.val); err != nil {
				return nil, fmt.Errorf("value of map key %v: %w", e.key, err)
			}
			if expires {
				dst = binary.AppendVarint(dst, int64(e.at))
			}
		}
		return dst, nil
	}
	c.Decode = func(src []byte, m **entries[MK, V]) (int, error) {
		r := decoder{src: src}
		*m = &entries[MK, V]{}
		n := r.uvarint()
		if n > uint64(len(r.src))+1 { // keys are different, so all but one take a byte
			return 0, errShort
		}
		for ; n > 0 && r.err == nil; n-- {
			k, v := new(MK), new(V)
			decode(&r, keys, k)
			decode(&r, vals, v)
			e := (*m).put(*k)
			e.val = *v
			if expires {
				e.at = flow.Time(r.varint())
			}
		}
		sized((*m).bytes())
		return len(src) - len(r.src), r.err
	}
	return c, err
}

// decoder reads numbers and values from the start of src. After the first
// mistake it reads nothing more.
type decoder struct {
	src []byte
	err error
}

func (r *decoder) uvarint() uint64 {
	n, w := binary.Uvarint(r.src)
	if !r.took(w, nil) {
		return 0
	}
	return n
}

func (r *decoder) varint() int64 {
	n, w := binary.Varint(r.src)
	if !r.took(w, nil) {
		return 0
	}
	return n
}

func (r *decoder) took(n int, err error) bool {
	if r.err == nil && err != nil {
		r.err = err
	}
	if r.err == nil && (n < 0 || n > len(r.src)) {
		r.err = errShort
	}
	if r.err != nil {
		return false
	}
	r.src = r.src[n:]
	return true
}

func decode[T any](r *decoder, c table.Codec[T], v *T) {
	if r.err == nil {
		r.took(c.Decode(r.src, v))
	}
}
