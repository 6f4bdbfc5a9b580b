package table

import (
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"
)

// generalRow is a row whose key and value lie in blocks on the Go heap, where
// the collector sees them.
type generalRow struct {
	hash uint64
	ref  uint32
}

// pairs holds the keys and values of general rows in blocks of 64: no block
// ever moves, so growing copies nothing.
type pairs[K comparable, V any] struct {
	blocks  []*pairBlock[K, V]
	partial []uint32 // blocks with free places
}

type pair[K comparable, V any] struct {
	val V
	key K
}

type pairBlock[K comparable, V any] struct {
	free uint64
	at   [64]pair[K, V]
}

func (p *pairs[K, V]) get(ref uint32) *pair[K, V] { return &p.blocks[ref/64].at[ref%64] }

func (p *pairs[K, V]) add() (ref uint32) {
	if len(p.partial) == 0 {
		p.blocks = append(p.blocks, &pairBlock[K, V]{free: ^uint64(0)})
		p.partial = append(p.partial, uint32(len(p.blocks)-1))
	}
	id := p.partial[len(p.partial)-1]
	b := p.blocks[id]
	i := bits.TrailingZeros64(b.free)
	b.free &^= 1 << i
	if b.free == 0 {
		p.partial = p.partial[:len(p.partial)-1]
	}
	return id*64 + uint32(i)
}

func (p *pairs[K, V]) drop(ref uint32) {
	b := p.blocks[ref/64]
	b.at[ref%64] = pair[K, V]{}
	if b.free == 0 {
		p.partial = append(p.partial, ref/64)
	}
	b.free |= 1 << (ref % 64)
}

func (p *pairs[K, V]) bytes() int64 {
	return int64(len(p.blocks)) * int64(unsafe.Sizeof(pairBlock[K, V]{}))
}

// generalTable is a Table seen as the rows of its core.
type generalTable[K comparable, V any] Table[K, V]

func (t *generalTable[K, V]) hashOf(_ *segment, row unsafe.Pointer) uint64 {
	return (*generalRow)(row).hash
}

func (t *generalTable[K, V]) lowOf(row unsafe.Pointer) uint32 {
	return uint32((*generalRow)(row).hash)
}

func (t *generalTable[K, V]) adopt(*segment, *segment, unsafe.Pointer) {}

func (t *generalTable[K, V]) forget(_ *segment, row unsafe.Pointer) {
	t.pairs.drop((*generalRow)(row).ref)
}

func (t *Table[K, V]) findGeneral(d *slot, h uint64, k K) (uint32, *V) {
	for i := uint32(h) & d.mask; *tagAt(d.base, i) != 0; i = (i + 1) & d.mask {
		r := (*generalRow)(unsafe.Add(d.base, uintptr(i)*unsafe.Sizeof(generalRow{})))
		if r.hash != h {
			continue
		}
		if p := t.pairs.get(r.ref); t.equal(&p.key, k) {
			return i, &p.val
		}
	}
	return 0, nil
}

func (t *Table[K, V]) insertGeneral(h uint64, k K) (uint32, *V) {
	_, row, i := t.claim(h)
	r := (*generalRow)(row)
	*r = generalRow{hash: h, ref: t.pairs.add()}
	p := t.pairs.get(r.ref)
	p.key = k
	return i, &p.val
}

func (t *generalTable[K, V]) layout() uint8 { return uint8(t.kind) }

func (t *generalTable[K, V]) identity() uint64 { return t.typeID }

func (t *generalTable[K, V]) appendRow(dst []byte, s *segment, row unsafe.Pointer) ([]byte, error) {
	dst, err := t.appendKey(dst, s, row)
	if err != nil {
		return dst, err
	}
	if dst, err = t.value.Append(dst, &t.pairs.get((*generalRow)(row).ref).val); err != nil {
		err = fmt.Errorf("encode a %s: %w", reflect.TypeFor[V](), err)
	}
	return dst, err
}

func (t *generalTable[K, V]) appendKey(dst []byte, _ *segment, row unsafe.Pointer) ([]byte, error) {
	dst, err := t.key.Append(dst, &t.pairs.get((*generalRow)(row).ref).key)
	if err != nil {
		err = fmt.Errorf("encode a key %s: %w", reflect.TypeFor[K](), err)
	}
	return dst, err
}
