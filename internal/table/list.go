package table

import (
	"encoding/binary"
	"fmt"
)

// ListTable maps each key to a list of values. The first two values of a list
// lie in a row of their own, under the key; the others in blocks of eight,
// under the key and the number of the block. So a short list costs one probe,
// a long one is written to a checkpoint by blocks, and neither has pointers if
// K (strings apart) and V have none.
//
// Hashes, keys and memory are as in a [Table]. A slice from Peek is read-only
// and valid until the next call on the table.
type ListTable[K comparable, V any] struct {
	heads   *Table[K, listHead[V]]
	blocks  *Table[partKey[K, uint32], listBlock[V]]
	scratch []V
}

const (
	headLen  = 2
	blockLen = 8
)

type listHead[V any] struct {
	n    uint32 // values in the list
	vals [headLen]V
}

type listBlock[V any] struct {
	n    uint32 // values in the block
	vals [blockLen]V
}

// NewList returns an empty table of lists. The Value of cfg is the codec of
// one value.
func NewList[K comparable, V any](cfg Config[K, V]) *ListTable[K, V] {
	if cfg.Slabs == nil {
		cfg.Slabs = NewPool(0, nil)
	}
	t := &ListTable[K, V]{}
	t.heads = New(Config[K, listHead[V]]{
		Groups: cfg.Groups, Lo: cfg.Lo, Hi: cfg.Hi, Slabs: cfg.Slabs, Key: cfg.Key,
		Value: runCodec(cfg.Value, func(h *listHead[V]) (*uint32, []V) { return &h.n, h.vals[:] }),
	})
	key, groups := t.heads.hash, t.heads.groups
	t.blocks = New(Config[partKey[K, uint32], listBlock[V]]{
		Groups: cfg.Groups, Lo: cfg.Lo, Hi: cfg.Hi, Slabs: cfg.Slabs, Key: partCodec(cfg.Key, Codec[uint32]{}),
		Value: runCodec(cfg.Value, func(b *listBlock[V]) (*uint32, []V) { return &b.n, b.vals[:] }),
		hash: func(k *partKey[K, uint32]) uint64 {
			return partHash(key(&k.Key), uint64(k.Part), groups)
		},
	})
	return t
}

// runCodec encodes a count and the values that a head or block has of it.
func runCodec[T, V any](value Codec[V], fields func(*T) (*uint32, []V)) Codec[T] {
	value = value.or()
	return Codec[T]{
		Append: func(dst []byte, t *T) ([]byte, error) {
			n, vals := fields(t)
			dst = binary.AppendUvarint(dst, uint64(*n))
			var err error
			for i := range min(int(*n), len(vals)) {
				if dst, err = value.Append(dst, &vals[i]); err != nil {
					return dst, err
				}
			}
			return dst, nil
		},
		Decode: func(src []byte, t *T) (int, error) {
			n, vals := fields(t)
			count, at := binary.Uvarint(src)
			if at <= 0 || count > 1<<32-1 {
				return 0, errShort
			}
			*n = uint32(count)
			for i := range min(int(count), len(vals)) {
				size, err := value.Decode(src[at:], &vals[i])
				if err != nil {
					return 0, fmt.Errorf("value %d: %w", i, err)
				}
				if size < 0 || size > len(src)-at {
					return 0, errShort
				}
				at += size
			}
			return at, nil
		},
	}
}

// block returns the hash and the key of the block that value i is in, and
// where in it.
func (t *ListTable[K, V]) block(h uint64, k K, i uint32) (uint64, partKey[K, uint32], uint32) {
	part := (i - headLen) / blockLen
	return partHash(h, uint64(part), t.heads.groups), partKey[K, uint32]{k, part}, (i - headLen) % blockLen
}

// Append adds v to the end of the list of k.
func (t *ListTable[K, V]) Append(h uint64, k K, v V) {
	head := t.heads.Edit(h, k)
	i := head.n
	if i < headLen {
		head.vals[i] = v
	} else {
		bh, bk, at := t.block(h, k, i)
		b := t.blocks.Edit(bh, bk)
		b.vals[at] = v
		b.n = at + 1
	}
	head.n++
}

// Size returns how many values the list of k has.
func (t *ListTable[K, V]) Size(h uint64, k K) int {
	if head := t.heads.Peek(h, k); head != nil {
		return int(head.n)
	}
	return 0
}

// Peek returns the list of k to read, nil if it is empty.
func (t *ListTable[K, V]) Peek(h uint64, k K) []V {
	head := t.heads.Peek(h, k)
	if head == nil {
		return nil
	}
	if head.n <= headLen {
		return head.vals[:head.n:head.n]
	}
	list := append(t.scratch[:0], head.vals[:]...)
	for i := uint32(headLen); i < head.n; i += blockLen {
		bh, bk, _ := t.block(h, k, i)
		b := t.blocks.Peek(bh, bk)
		list = append(list, b.vals[:b.n]...)
	}
	t.scratch = list
	return list
}

// Replace makes a copy of vs the list of k. vs may be what Peek returned.
func (t *ListTable[K, V]) Replace(h uint64, k K, vs []V) {
	if len(vs) == 0 {
		t.Clear(h, k)
		return
	}
	if len(vs) <= headLen {
		vs = append(t.scratch[:0], vs...) // it may lie in the row that is about to be written
		t.scratch = vs
	}
	head := t.heads.Edit(h, k)
	before, after := head.n, uint32(len(vs))
	head.n = after
	head.vals = [headLen]V{}
	copy(head.vals[:], vs)
	for i := uint32(headLen); i < after; i += blockLen {
		bh, bk, _ := t.block(h, k, i)
		b := t.blocks.Edit(bh, bk)
		b.vals = [blockLen]V{}
		b.n = uint32(copy(b.vals[:], vs[i:]))
	}
	t.dropBlocks(h, k, after, before)
}

// dropBlocks removes the blocks of a list of before values that one of after
// values does not need.
func (t *ListTable[K, V]) dropBlocks(h uint64, k K, after, before uint32) {
	first := headLen + (max(after, headLen)-headLen+blockLen-1)/blockLen*blockLen
	for i := first; i < before; i += blockLen {
		bh, bk, _ := t.block(h, k, i)
		t.blocks.Delete(bh, bk)
	}
}

// Clear makes the list of k empty. It takes time in proportion to the list.
func (t *ListTable[K, V]) Clear(h uint64, k K) {
	head := t.heads.Peek(h, k)
	if head == nil {
		return
	}
	t.dropBlocks(h, k, 0, head.n)
	t.heads.Delete(h, k)
}

// Len returns the number of keys with a list that is not empty.
func (t *ListTable[K, V]) Len() int { return t.heads.Len() }

// Bytes returns the memory held.
func (t *ListTable[K, V]) Bytes() int64 { return t.heads.Bytes() + t.blocks.Bytes() }

// Scan calls f for the keys, as [Table.Scan] does.
func (t *ListTable[K, V]) Scan(c *Cursor, budget int, f func(k K) (ok bool)) (more bool) {
	return t.heads.Scan(c, budget, func(k K, _ *listHead[V]) bool { return f(k) })
}

// Parts returns the tables that a checkpoint saves.
func (t *ListTable[K, V]) Parts() []Part { return []Part{t.heads, t.blocks} }

// Close gives the memory back.
func (t *ListTable[K, V]) Close() {
	t.heads.Close()
	t.blocks.Close()
}
