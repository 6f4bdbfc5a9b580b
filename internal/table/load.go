package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// ErrChunk is in the error of Load for bytes that are no chunk of this table.
var ErrChunk = errors.New("not a chunk of this table")

// Load applies a chunk of a view: rows overwrite those with the same key,
// deleted keys go. A checkpoint is loaded chunk by chunk, those with Deletes
// first; a chain of them from the base on. Rows of key groups that the table
// does not own are passed over. What is loaded counts as unchanged: the next
// delta is without it. A table that failed to load is of no use any more.
//
// The bytes are believed to be those of a view, but every length in them is
// checked: wrong bytes are an error and never an access out of bounds.
func (t *Table[K, V]) Load(chunk []byte) error {
	if len(chunk) < chunkHead || chunk[0] != chunkVersion || chunk[1] != chunkRows && chunk[1] != chunkKeys {
		return fmt.Errorf("%w: unknown header", ErrChunk)
	}
	if id := binary.LittleEndian.Uint64(chunk[8:]); chunk[2] != uint8(t.kind) || id != t.typeID {
		return fmt.Errorf("%w: rows of layout %d, types %x; the table has %d, %x", ErrChunk, chunk[2], id, t.kind, t.typeID)
	}
	invariant.Check(!t.view.active, "load during a view")
	t.tracked = true
	apply := t.loadRow
	if chunk[1] == chunkKeys {
		apply = t.loadDelete
	}
	for at := chunkHead; at < len(chunk); {
		if len(chunk)-at < runHead {
			return fmt.Errorf("%w: run at %d: %w", ErrChunk, at, errShort)
		}
		group, n := int(binary.LittleEndian.Uint32(chunk[at:])), binary.LittleEndian.Uint32(chunk[at+4:])
		at += runHead
		if group >= t.groups {
			return fmt.Errorf("%w: run at %d: key group %d of %d", ErrChunk, at, group, t.groups)
		}
		if n&allGroups != 0 {
			t.dropGroups(group, group+int(n&^allGroups))
			continue
		}
		owned := t.lo <= group && group < t.hi
		for range n {
			size, err := apply(chunk[at:], group, owned)
			if err != nil {
				return fmt.Errorf("%w: row at %d: %w", ErrChunk, at, err)
			}
			if size == 0 && n > 1 {
				return fmt.Errorf("%w: row at %d: %d keys of no bytes", ErrChunk, at, n)
			}
			at += size
		}
	}
	return nil
}

var errGroup = errors.New("a key of another key group")

// loadRow reads one row, and applies it if its key group is owned.
func (t *Table[K, V]) loadRow(src []byte, group int, owned bool) (size int, err error) {
	key, size, err := t.loadKey(src, t.kind == inlineRows)
	if err != nil {
		return 0, err
	}
	v := &t.loaded.val
	switch t.kind {
	case encodedRows:
		need := int(unsafe.Sizeof(*v))
		if len(src)-size < need {
			return 0, errShort
		}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(v)), need), src[size:])
		size += need
	case generalRows:
		*v = *new(V)
		n, err := t.value.Decode(src[size:], v)
		if err != nil {
			return 0, fmt.Errorf("decode a %T: %w", *v, err)
		}
		if n < 0 || n > len(src)-size {
			return 0, errShort
		}
		size += n
	}
	if !owned {
		return size, nil
	}
	h := t.loadedHash(key)
	if KeyGroup(h, t.groups) != group {
		return 0, errGroup
	}
	i, have := t.findLoaded(h, key)
	if have == nil {
		i, have = t.insertLoaded(h, key)
	}
	*have = *v
	*tagAt(t.dir[t.index(h)].base, i) = occupied
	return size, nil
}

// loadDelete reads one key, and removes it if its key group is owned.
func (t *Table[K, V]) loadDelete(src []byte, group int, owned bool) (size int, err error) {
	key, size, err := t.loadKey(src, false)
	if err != nil || !owned {
		return size, err
	}
	h := t.loadedHash(key)
	if KeyGroup(h, t.groups) != group {
		return 0, errGroup
	}
	if i, v := t.findLoaded(h, key); v != nil {
		t.remove(t.seg(t.dir[t.index(h)].seg), i)
	}
	return size, nil
}

// loadKey reads a key, or a whole inline row, into t.loaded, or returns the
// bytes of an encoded key. size is how many bytes it read.
func (t *Table[K, V]) loadKey(src []byte, whole bool) (key []byte, size int, err error) {
	switch t.kind {
	case inlineRows:
		dst := unsafe.Slice((*byte)(unsafe.Pointer(&t.loaded.key)), unsafe.Sizeof(t.loaded.key))
		if whole {
			dst = unsafe.Slice((*byte)(unsafe.Pointer(&t.loaded)), unsafe.Sizeof(t.loaded))
		}
		if len(src) < len(dst) {
			return nil, 0, errShort
		}
		return nil, copy(dst, src), nil
	case encodedRows:
		n, w := binary.Uvarint(src)
		if w <= 0 || n > uint64(len(src)-w) {
			return nil, 0, errShort
		}
		key, size = src[w:w+int(n)], w+int(n)
		if t.keys.isString {
			return key, size, nil
		}
		t.loaded.key = *new(K)
		return key, size, t.keys.decode(key, unsafe.Pointer(&t.loaded.key), false)
	}
	t.loaded.key = *new(K)
	n, err := t.key.Decode(src, &t.loaded.key)
	if err == nil && (n < 0 || n > len(src)) {
		err = errShort
	}
	return nil, n, err
}

func (t *Table[K, V]) loadedHash(key []byte) uint64 {
	if t.kind == encodedRows && t.keys.isString {
		return HashString(unsafe.String(unsafe.SliceData(key), len(key)))
	}
	return t.hash(&t.loaded.key)
}

func (t *Table[K, V]) findLoaded(h uint64, key []byte) (uint32, *V) {
	if t.kind == encodedRows {
		return t.findEncoded(&t.dir[t.index(h)], h, key)
	}
	return t.findSlow(h, t.loaded.key)
}

func (t *Table[K, V]) insertLoaded(h uint64, key []byte) (uint32, *V) {
	if t.kind == encodedRows {
		return t.insertEncoded(h, key)
	}
	return t.insert(h, t.loaded.key)
}

// dropGroups removes the rows of the owned ones of key groups [lo, hi).
func (c *core) dropGroups(lo, hi int) {
	for id := range c.nsegs {
		s := c.seg(id)
		if g := KeyGroup(s.prefix, c.groups); s.mem.slab == 0 || g < lo || g >= hi {
			continue
		}
		for i := range uint32(1) << s.log {
			if g := tagAt(s.base, i); *g != 0 {
				c.rows.forget(s, c.row(s.base, i))
				*g = 0
			}
		}
		c.live -= int(s.live)
		s.live, s.dirty = 0, 0
	}
}
