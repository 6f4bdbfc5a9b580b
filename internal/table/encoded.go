package table

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// encodedRow is a row whose key lies in the arena of its segment.
type encodedRow[V any] struct {
	val V
	low uint32 // half of the hash: the home slot, and a filter before the bytes
	off uint32 // where the key begins in the arena: its length (uvarint), its bytes
}

// arena is append-only memory for the keys of one segment. Bytes never change
// in place; those of deleted keys are dead until the arena is compacted.
type arena struct {
	base unsafe.Pointer
	mem  block
	used uint32
	dead uint32
}

func (a *arena) at(off uint32) (key []byte, size uint32) {
	p := unsafe.Add(a.base, off)
	n := uint64(*(*byte)(p))
	w := 1
	if n >= 0x80 {
		n, w = binary.Uvarint(unsafe.Slice((*byte)(p), a.used-off))
	}
	return unsafe.Slice((*byte)(unsafe.Add(p, w)), n), uint32(w) + uint32(n)
}

// addKey appends a key to the arena of s.
func (c *core) addKey(s *segment, key []byte) (off uint32) {
	var head [binary.MaxVarintLen64]byte
	w := binary.PutUvarint(head[:], uint64(len(key)))
	need := int(s.keys.used) + w + len(key)
	if s.keys.mem.slab == 0 || need > c.heap.bytes(s.keys.mem) {
		c.moveArena(s, need)
	}
	a := &s.keys
	off = a.used
	dst := unsafe.Slice((*byte)(unsafe.Add(a.base, off)), w+len(key))
	copy(dst, head[:w])
	copy(dst[w:], key)
	a.used += uint32(len(dst))
	return off
}

// moveArena moves the arena of s to a block with room for need bytes.
func (c *core) moveArena(s *segment, need int) {
	invariant.Check(need <= math.MaxUint32, "%d bytes of keys in a segment", need)
	old := s.keys
	var class uint8
	for c.heap.unit<<class < need {
		class++
	}
	mem := c.heap.alloc(class)
	s.keys = arena{base: c.heap.addr(mem), mem: mem, used: old.used, dead: old.dead}
	if old.used > 0 {
		copyMemory(s.keys.base, old.base, uintptr(old.used))
	}
	c.heap.release(old.mem)
}

// encodedTable is a Table seen as the rows of its core.
type encodedTable[K comparable, V any] Table[K, V]

func (t *encodedTable[K, V]) hashOf(s *segment, row unsafe.Pointer) uint64 {
	key, _ := s.keys.at((*encodedRow[V])(row).off)
	if t.keys.isString {
		return HashString(unsafe.String(unsafe.SliceData(key), len(key)))
	}
	h := t.hash((*Table[K, V])(t).lend(key, true))
	t.lent = *new(K)
	return h
}

// lend decodes a key into t.lent; with alias its strings are the bytes in the
// arena. The caller clears t.lent: what was in an arena must not be seen by the
// collector once the arena is gone.
func (t *Table[K, V]) lend(key []byte, alias bool) *K {
	t.lent = *new(K)
	if err := t.keys.decode(key, unsafe.Pointer(&t.lent), alias); err != nil {
		invariant.Fail("a key in an arena: %v", err)
	}
	return &t.lent
}

func (t *encodedTable[K, V]) lowOf(row unsafe.Pointer) uint32 { return (*encodedRow[V])(row).low }

func (t *encodedTable[K, V]) adopt(s, old *segment, row unsafe.Pointer) {
	r := (*encodedRow[V])(row)
	key, _ := old.keys.at(r.off)
	r.off = t.addKey(s, key)
}

func (t *encodedTable[K, V]) forget(s *segment, row unsafe.Pointer) {
	_, size := s.keys.at((*encodedRow[V])(row).off)
	s.keys.dead += size
}

// encodeKey returns the bytes of k: those of the string itself, or a scratch
// buffer that is valid until the next call.
func (t *Table[K, V]) encodeKey(k *K) []byte {
	if t.keys.isString {
		s := *(*string)(unsafe.Pointer(k))
		return unsafe.Slice(unsafe.StringData(s), len(s))
	}
	t.scratch = t.keys.append(t.scratch[:0], unsafe.Pointer(k))
	return t.scratch
}

func (t *Table[K, V]) findEncoded(d *slot, h uint64, key []byte) (uint32, *V) {
	low := uint32(h)
	for i := low & d.mask; *tagAt(d.base, i) != 0; i = (i + 1) & d.mask {
		r := (*encodedRow[V])(unsafe.Add(d.base, uintptr(i)*unsafe.Sizeof(encodedRow[V]{})))
		if r.low != low {
			continue
		}
		if have, _ := t.seg(d.seg).keys.at(r.off); string(have) == string(key) {
			return i, &r.val
		}
	}
	return 0, nil
}

// editString is Edit for string keys.
func (t *Table[K, V]) editString(h uint64, k K) *V {
	i, v := t.findString(h, *(*string)(unsafe.Pointer(&k)))
	if v == nil {
		_, v = t.insertEncoded(h, t.encodeKey(&k))
		return v
	}
	d := &t.dir[h>>(t.shift&63)-t.first]
	if *tagAt(d.base, i)&t.cur == 0 {
		t.touch(t.seg(d.seg), i)
	}
	return v
}

// findString is findEncoded for string keys, and like Edit it looks at the home
// slot and the next without a branch between them.
func (t *Table[K, V]) findString(h uint64, k string) (uint32, *V) {
	d := &t.dir[h>>(t.shift&63)-t.first]
	low, base, mask := uint32(h), d.base, uintptr(d.mask)
	i := uintptr(low) & mask
	next := (i + 1) & mask
	if (*encodedRow[V])(unsafe.Add(base, next*unsafe.Sizeof(encodedRow[V]{}))).low == low {
		i = next
	}
	r := (*encodedRow[V])(unsafe.Add(base, i*unsafe.Sizeof(encodedRow[V]{})))
	if r.low == low && *tagAt(base, uint32(i)) != 0 {
		p := unsafe.Add(t.seg(d.seg).keys.base, r.off)
		if n := int(*(*byte)(p)); n == len(k) && n < 0x80 && unsafe.String((*byte)(unsafe.Add(p, 1)), n) == k {
			return uint32(i), &r.val
		}
	}
	return t.findEncoded(d, h, unsafe.Slice(unsafe.StringData(k), len(k)))
}

func (t *Table[K, V]) insertEncoded(h uint64, key []byte) (uint32, *V) {
	t.compactArena(h)
	s, row, i := t.claim(h)
	r := (*encodedRow[V])(row)
	*r = encodedRow[V]{low: uint32(h)}
	r.off = t.addKey(s, key)
	return i, &r.val
}

// compactArena drops dead bytes when they are half of an arena that is about
// to grow. No row moves and no key changes, so a view may have pages of the
// segment still to encode.
func (t *Table[K, V]) compactArena(h uint64) {
	s := t.seg(t.dir[t.index(h)].seg)
	if s.keys.dead < 256 || s.keys.dead < s.keys.used/2 {
		return
	}
	old := *s
	s.keys = arena{}
	t.moveArena(s, int(old.keys.used-old.keys.dead))
	for i := range uint32(1) << s.log {
		if *tagAt(s.base, i) != 0 {
			(*encodedTable[K, V])(t).adopt(s, &old, t.row(s.base, i))
		}
	}
	t.heap.release(old.keys.mem)
}

func (t *encodedTable[K, V]) layout() uint8 { return uint8(t.kind) }

func (t *encodedTable[K, V]) identity() uint64 { return t.typeID }

func (t *encodedTable[K, V]) appendRow(dst []byte, s *segment, row unsafe.Pointer) ([]byte, error) {
	dst, _ = t.appendKey(dst, s, row)
	return appendMemory(dst, unsafe.Pointer(&(*encodedRow[V])(row).val), unsafe.Sizeof(*new(V))), nil
}

func (t *encodedTable[K, V]) appendKey(dst []byte, s *segment, row unsafe.Pointer) ([]byte, error) {
	off := (*encodedRow[V])(row).off
	_, size := s.keys.at(off)
	return appendMemory(dst, unsafe.Add(s.keys.base, off), uintptr(size)), nil
}
