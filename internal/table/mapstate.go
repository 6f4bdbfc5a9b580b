package table

import (
	"encoding/binary"
	"iter"
)

// MapTable maps each key to a map from MK to V. An entry is a row under the key
// and the map key; rows of eight hashes under the key and a number remember
// which entries there are, so that a map can be walked. Get and Edit of an
// entry that is there cost one probe, a new entry three.
//
// Hashes, keys and memory are as in a [Table]; a pointer to a value is valid
// until the next call on the table.
type MapTable[K, MK comparable, V any] struct {
	heads   *Table[K, uint32] // entries of the map
	entries *Table[partKey[K, MK], mapEntry[V]]
	index   *Table[partKey[K, uint32], [blockLen]uint64] // hashes of entries
	mapKey  func(*MK) uint64
	asked   MK // apart from the stack: what a hash function is given escapes
}

type mapEntry[V any] struct {
	val V
	at  uint32 // where in the index
}

// MapConfig says what a table of maps is to be.
type MapConfig[K, MK comparable, V any] struct {
	Config[K, V]
	MapKey Codec[MK] // of types that are not copied as memory
}

// NewMap returns an empty table of maps.
func NewMap[K, MK comparable, V any](cfg MapConfig[K, MK, V]) *MapTable[K, MK, V] {
	if cfg.Slabs == nil {
		cfg.Slabs = NewPool(0, nil)
	}
	mapKey, err := HasherOf[MK]()
	if err != nil {
		panic("table: " + err.Error())
	}
	t := &MapTable[K, MK, V]{mapKey: mapKey}
	t.heads = New(Config[K, uint32]{Groups: cfg.Groups, Lo: cfg.Lo, Hi: cfg.Hi, Slabs: cfg.Slabs, Key: cfg.Key})
	key, groups := t.heads.hash, t.heads.groups
	t.entries = New(Config[partKey[K, MK], mapEntry[V]]{
		Groups: cfg.Groups, Lo: cfg.Lo, Hi: cfg.Hi, Slabs: cfg.Slabs,
		Key: partCodec(cfg.Key, cfg.MapKey), Value: entryCodec(cfg.Value),
		hash: func(k *partKey[K, MK]) uint64 { return partHash(key(&k.Key), mapKey(&k.Part), groups) },
	})
	t.index = New(Config[partKey[K, uint32], [blockLen]uint64]{
		Groups: cfg.Groups, Lo: cfg.Lo, Hi: cfg.Hi, Slabs: cfg.Slabs, Key: partCodec(cfg.Key, Codec[uint32]{}),
		hash: func(k *partKey[K, uint32]) uint64 { return partHash(key(&k.Key), uint64(k.Part), groups) },
	})
	return t
}

// entryCodec encodes an entry by the codec of its value.
func entryCodec[V any](value Codec[V]) Codec[mapEntry[V]] {
	value = value.or()
	return Codec[mapEntry[V]]{
		Append: func(dst []byte, e *mapEntry[V]) ([]byte, error) {
			return value.Append(binary.AppendUvarint(dst, uint64(e.at)), &e.val)
		},
		Decode: func(src []byte, e *mapEntry[V]) (int, error) {
			at, n := binary.Uvarint(src)
			if n <= 0 || at > 1<<32-1 {
				return 0, errShort
			}
			e.at = uint32(at)
			size, err := value.Decode(src[n:], &e.val)
			return n + size, err
		},
	}
}

func (t *MapTable[K, MK, V]) hashOf(h uint64, mk MK) uint64 {
	t.asked = mk
	return partHash(h, t.mapKey(&t.asked), t.heads.groups)
}

// Peek returns the value of mk in the map of k to read, nil if there is none.
func (t *MapTable[K, MK, V]) Peek(h uint64, k K, mk MK) *V {
	if e := t.entries.Peek(t.hashOf(h, mk), partKey[K, MK]{k, mk}); e != nil {
		return &e.val
	}
	return nil
}

// Get returns a copy of the value of mk in the map of k.
func (t *MapTable[K, MK, V]) Get(h uint64, k K, mk MK) (v V, ok bool) {
	if p := t.Peek(h, k, mk); p != nil {
		return *p, true
	}
	return v, false
}

// Edit returns the value of mk in the map of k to change in place, a zero one
// that it inserts if there is none.
func (t *MapTable[K, MK, V]) Edit(h uint64, k K, mk MK) *V {
	eh := t.hashOf(h, mk)
	before := t.entries.Len()
	e := t.entries.Edit(eh, partKey[K, MK]{k, mk})
	if t.entries.Len() > before {
		n := t.heads.Edit(h, k)
		e.at = *n
		*n++
		*t.slot(h, k, e.at) = eh
	}
	return &e.val
}

// Set makes v the value of mk in the map of k.
func (t *MapTable[K, MK, V]) Set(h uint64, k K, mk MK, v V) { *t.Edit(h, k, mk) = v }

// slot returns where the hash of entry i of the map of k is, to be written.
func (t *MapTable[K, MK, V]) slot(h uint64, k K, i uint32) *uint64 {
	part := i / blockLen
	return &t.index.Edit(partHash(h, uint64(part), t.heads.groups), partKey[K, uint32]{k, part})[i%blockLen]
}

// entry returns entry i of the map of k.
func (t *MapTable[K, MK, V]) entry(h uint64, k K, i uint32) (eh uint64, slot uint32, e *mapEntry[V]) {
	part := i / blockLen
	eh = t.index.Peek(partHash(h, uint64(part), t.heads.groups), partKey[K, uint32]{k, part})[i%blockLen]
	slot, e = t.entries.findBy(eh, func(have *partKey[K, MK], e *mapEntry[V]) bool {
		return e.at == i && t.heads.equal(&have.Key, k)
	})
	return eh, slot, e
}

// Delete removes mk from the map of k and returns whether it was there.
func (t *MapTable[K, MK, V]) Delete(h uint64, k K, mk MK) bool {
	eh := t.hashOf(h, mk)
	e := t.entries.Peek(eh, partKey[K, MK]{k, mk})
	if e == nil {
		return false
	}
	at := e.at
	t.entries.Delete(eh, partKey[K, MK]{k, mk})
	n := t.heads.Edit(h, k)
	*n--
	last := *n
	if at != last { // the last entry takes its place in the index
		lh, slot, moved := t.entry(h, k, last)
		t.entries.mark(lh, slot)
		moved.at = at
		*t.slot(h, k, at) = lh
	}
	if last%blockLen == 0 {
		part := last / blockLen
		t.index.Delete(partHash(h, uint64(part), t.heads.groups), partKey[K, uint32]{k, part})
	}
	if last == 0 {
		t.heads.Delete(h, k)
	}
	return true
}

// Size returns how many entries the map of k has.
func (t *MapTable[K, MK, V]) Size(h uint64, k K) int {
	n, _ := t.heads.Get(h, k)
	return int(n)
}

// All returns the entries of the map of k to read: in the order in which they
// came, unless some were deleted. The table must not be changed meanwhile.
func (t *MapTable[K, MK, V]) All(h uint64, k K) iter.Seq2[MK, *V] {
	return func(yield func(MK, *V) bool) {
		for i := range uint32(t.Size(h, k)) {
			eh, slot, e := t.entry(h, k, i)
			key, _ := t.entries.at(t.entries.seg(t.entries.dir[t.entries.index(eh)].seg), slot)
			if !yield(key.Part, &e.val) {
				return
			}
		}
	}
}

// Clear makes the map of k empty. It takes time in proportion to the map.
func (t *MapTable[K, MK, V]) Clear(h uint64, k K) {
	n := uint32(t.Size(h, k))
	for i := range n {
		eh, slot, _ := t.entry(h, k, i)
		t.entries.core.delete(t.entries.seg(t.entries.dir[t.entries.index(eh)].seg), slot)
	}
	for part := range (n + blockLen - 1) / blockLen {
		t.index.Delete(partHash(h, uint64(part), t.heads.groups), partKey[K, uint32]{k, part})
	}
	t.heads.Delete(h, k)
}

// Len returns the number of keys with a map that is not empty.
func (t *MapTable[K, MK, V]) Len() int { return t.heads.Len() }

// Bytes returns the memory held.
func (t *MapTable[K, MK, V]) Bytes() int64 {
	return t.heads.Bytes() + t.entries.Bytes() + t.index.Bytes()
}

// Scan calls f for the keys, as [Table.Scan] does.
func (t *MapTable[K, MK, V]) Scan(c *Cursor, budget int, f func(k K) (ok bool)) (more bool) {
	return t.heads.Scan(c, budget, func(k K, _ *uint32) bool { return f(k) })
}

// Parts returns the tables that a checkpoint saves.
func (t *MapTable[K, MK, V]) Parts() []Part { return []Part{t.heads, t.entries, t.index} }

// Close gives the memory back.
func (t *MapTable[K, MK, V]) Close() {
	t.heads.Close()
	t.entries.Close()
	t.index.Close()
}
