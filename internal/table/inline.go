package table

import (
	"unsafe"
)

// inlineRow is a row without pointers. The value comes first, so that a value
// of size zero costs nothing.
type inlineRow[K comparable, V any] struct {
	val V
	key K
}

// inlineTable is a Table seen as the rows of its core.
type inlineTable[K comparable, V any] Table[K, V]

func (t *inlineTable[K, V]) hashOf(_ *segment, row unsafe.Pointer) uint64 {
	return t.hash(&(*inlineRow[K, V])(row).key)
}

func (t *inlineTable[K, V]) lowOf(row unsafe.Pointer) uint32 {
	return uint32(t.hash(&(*inlineRow[K, V])(row).key))
}

func (t *inlineTable[K, V]) adopt(*segment, *segment, unsafe.Pointer) {}

func (t *inlineTable[K, V]) forget(*segment, unsafe.Pointer) {}

func (t *Table[K, V]) findInline(d *slot, h uint64, k K) (uint32, *V) {
	for i := uint32(h) & d.mask; *tagAt(d.base, i) != 0; i = (i + 1) & d.mask {
		r := (*inlineRow[K, V])(t.row(d.base, i))
		if t.equal(&r.key, k) {
			return i, &r.val
		}
	}
	return 0, nil
}

func (t *inlineTable[K, V]) layout() uint8 { return uint8(t.kind) }

func (t *inlineTable[K, V]) identity() uint64 { return t.typeID }

func (t *inlineTable[K, V]) appendRow(dst []byte, _ *segment, row unsafe.Pointer) ([]byte, error) {
	return appendMemory(dst, row, unsafe.Sizeof(inlineRow[K, V]{})), nil
}

func (t *inlineTable[K, V]) appendKey(dst []byte, _ *segment, row unsafe.Pointer) ([]byte, error) {
	return appendMemory(dst, unsafe.Pointer(&(*inlineRow[K, V])(row).key), unsafe.Sizeof(*new(K))), nil
}
