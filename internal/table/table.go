package table

import (
	"runtime"
	"unsafe"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// Config says what a table is to be. Its zero value works: one key group, no
// limit of memory.
type Config[K comparable, V any] struct {
	// Groups is the number of key groups of the job, a power of two; 0 is 1.
	Groups int
	// Lo and Hi are the owned key groups [Lo, Hi); Hi = 0 means all.
	Lo, Hi int
	// Slabs gives the memory; nil is a Pool of the table's own, without limit.
	Slabs SlabSource
	// Key and Value encode types that are not copied as memory. Without them,
	// keys of strings and plain fields and values without pointers can be
	// encoded all the same, other types cannot: a view of them fails.
	Key   Codec[K]
	Value Codec[V]

	hash func(*K) uint64 // instead of HasherOf, for keys of parts of a key
}

// Table maps keys to values for one worker. Every method that takes a hash and
// a key wants the hash of that key by [HasherOf], and a key whose group the
// table owns. A pointer to a value is valid until the next call on the table
// that is not a Peek or a Get.
//
// A table holds memory outside the Go heap: Close gives it back. A table that
// is lost without Close gives it back when the collector finds it.
type Table[K comparable, V any] struct {
	core
	kind    kind
	hash    func(*K) uint64
	same    func(a, b *K) bool // == with NaN equal to itself; nil if K has no floats
	keys    keyPlan            // of encoded keys
	scratch []byte             // an encoded key
	lent    K                  // a decoded key, for the moment
	pairs   pairs[K, V]        // of general rows
	key     Codec[K]
	value   Codec[V]
	typeID  uint64
	loaded  inlineRow[K, V] // the row that Load is reading
	cleanup runtime.Cleanup
}

// kind is how the rows of a table are kept.
type kind uint8

const (
	inlineRows  kind = iota // key and value without pointers, both in the row
	encodedRows             // key in the arena of the segment, value in the row
	generalRows             // key and value in blocks on the Go heap
)

// maxInlineRow is the largest row in a segment. Larger ones would make
// segments of a few rows, and moving them would cost more than a pointer.
const maxInlineRow = 1024

// New returns an empty table. It panics if HasherOf refuses K or the key
// groups make no sense: both are known when a job is built.
func New[K comparable, V any](cfg Config[K, V]) *Table[K, V] {
	if cfg.hash == nil {
		hash, err := HasherOf[K]()
		if err != nil {
			panic("table: " + err.Error())
		}
		cfg.hash = hash
	}
	cfg.Groups = max(cfg.Groups, 1)
	if cfg.Hi == 0 {
		cfg.Hi = cfg.Groups
	}
	if cfg.Slabs == nil {
		cfg.Slabs = NewPool(0, nil)
	}
	invariant.Check(cfg.Groups&(cfg.Groups-1) == 0 && cfg.Groups <= MaxGroups, "%d key groups: not a power of two up to %d", cfg.Groups, MaxGroups)
	invariant.Check(0 <= cfg.Lo && cfg.Lo < cfg.Hi && cfg.Hi <= cfg.Groups, "key groups [%d, %d) of %d", cfg.Lo, cfg.Hi, cfg.Groups)
	t := &Table[K, V]{hash: cfg.hash, same: sameKeys[K](), key: keyCodec(cfg.Key), value: cfg.Value.or()}
	var stride uintptr
	var r rows
	t.kind, t.keys = kindOf[K, V]()
	t.typeID = typeID[K, V](t.kind)
	pageSize := uint8(6)
	switch t.kind {
	case inlineRows:
		stride, r = unsafe.Sizeof(inlineRow[K, V]{}), (*inlineTable[K, V])(t)
	case encodedRows:
		stride, r = unsafe.Sizeof(encodedRow[V]{}), (*encodedTable[K, V])(t)
	case generalRows:
		stride, r = unsafe.Sizeof(generalRow{}), (*generalTable[K, V])(t)
		pageSize = 4 // codecs are slow: shorter steps
	}
	t.core.init(cfg.Groups, cfg.Lo, cfg.Hi, cfg.Slabs, stride, pageSize, r)
	t.cleanup = runtime.AddCleanup(t, (*heap).close, t.core.heap)
	return t
}

// kindOf chooses the layout of a table.
func kindOf[K comparable, V any]() (kind, keyPlan) {
	k, v := LayoutOf[K](), LayoutOf[V]()
	row := unsafe.Sizeof(inlineRow[K, V]{})
	switch {
	case k.PointerFree && v.PointerFree && row > 0 && row <= maxInlineRow:
		return inlineRows, keyPlan{}
	case v.PointerFree && unsafe.Sizeof(encodedRow[V]{}) <= maxInlineRow:
		if plan, ok := keyPlanOf[K](); ok {
			return encodedRows, plan
		}
	}
	return generalRows, keyPlan{}
}

// Peek returns the value of k to read, nil if there is none.
func (t *Table[K, V]) Peek(h uint64, k K) *V {
	if t.kind != inlineRows {
		_, v := t.findSlow(h, k)
		return v
	}
	s := &t.dir[h>>(t.shift&63)-t.first]
	base, mask := s.base, uintptr(s.mask)
	i := uintptr(h) & mask
	next := (i + 1) & mask
	if (*inlineRow[K, V])(unsafe.Add(base, next*unsafe.Sizeof(inlineRow[K, V]{}))).key == k {
		i = next
	}
	r := (*inlineRow[K, V])(unsafe.Add(base, i*unsafe.Sizeof(inlineRow[K, V]{})))
	if r.key == k && *tagAt(base, uint32(i)) != 0 {
		return &r.val
	}
	_, v := t.findSlow(h, k)
	return v
}

// Get returns a copy of the value of k.
func (t *Table[K, V]) Get(h uint64, k K) (v V, ok bool) {
	if p := t.Peek(h, k); p != nil {
		return *p, true
	}
	return v, false
}

// Edit returns the value of k to change in place, a zero one that it inserts if
// there is none. It marks the row as written before it hands the pointer out.
func (t *Table[K, V]) Edit(h uint64, k K) *V {
	if t.kind != inlineRows {
		if t.keys.isString && t.kind == encodedRows {
			return t.editString(h, k)
		}
		return t.editSlow(h, k)
	}
	s := &t.dir[h>>(t.shift&63)-t.first]
	base, mask := s.base, uintptr(s.mask)
	// The home slot and the next, without a branch between them: in a table
	// that fits the cache a mispredicted branch costs more than a compare. What
	// is called from here is out of line, so that nothing has to be saved.
	i := uintptr(h) & mask
	next := (i + 1) & mask
	if (*inlineRow[K, V])(unsafe.Add(base, next*unsafe.Sizeof(inlineRow[K, V]{}))).key == k {
		i = next
	}
	r := (*inlineRow[K, V])(unsafe.Add(base, i*unsafe.Sizeof(inlineRow[K, V]{})))
	if r.key == k && *(*tag)(unsafe.Add(base, ^i))&t.cur != 0 {
		return &r.val
	}
	return t.editFar(h, k)
}

// editFar is Edit for a row that is further from home, is written for the first
// time in this phase, or is not there.
//
//go:noinline
func (t *Table[K, V]) editFar(h uint64, k K) *V {
	s := &t.dir[t.index(h)]
	base, mask := s.base, uintptr(s.mask)
	for i := uintptr(h) & mask; ; i = (i + 1) & mask {
		g := *tagAt(base, uint32(i))
		if g == 0 {
			return t.editSlow(h, k)
		}
		r := (*inlineRow[K, V])(unsafe.Add(base, i*unsafe.Sizeof(inlineRow[K, V]{})))
		if r.key == k {
			if g&t.cur == 0 {
				t.touch(t.seg(s.seg), uint32(i))
			}
			return &r.val
		}
	}
}

// Set makes v the value of k.
func (t *Table[K, V]) Set(h uint64, k K, v V) { *t.Edit(h, k) = v }

// Delete removes k and returns whether it was there.
func (t *Table[K, V]) Delete(h uint64, k K) bool {
	s := t.seg(t.dir[t.index(h)].seg)
	i, v := t.findSlow(h, k)
	if v == nil {
		return false
	}
	t.core.delete(s, i)
	return true
}

// findSlow finds k in any layout; v is nil if it is not there.
func (t *Table[K, V]) findSlow(h uint64, k K) (i uint32, v *V) {
	d := &t.dir[t.index(h)]
	switch t.kind {
	case inlineRows:
		return t.findInline(d, h, k)
	case encodedRows:
		if t.keys.isString {
			return t.findString(h, *(*string)(unsafe.Pointer(&k)))
		}
		return t.findEncoded(d, h, t.encodeKey(&k))
	}
	return t.findGeneral(d, h, k)
}

// equal is ==, with a NaN equal to a NaN of the same bits.
func (t *Table[K, V]) equal(a *K, b K) bool { return *a == b || b != b && t.equalBits(a, b) }

// equalBits is apart, and not inlined, because b escapes here.
//
//go:noinline
func (t *Table[K, V]) equalBits(a *K, b K) bool { return t.same(a, &b) }

func (t *Table[K, V]) editSlow(h uint64, k K) *V {
	i, v := t.findSlow(h, k)
	if v == nil {
		_, v = t.insert(h, k)
		return v
	}
	d := &t.dir[t.index(h)]
	if *tagAt(d.base, i)&t.cur == 0 {
		t.touch(t.seg(d.seg), i)
	}
	return v
}

// insert adds a key that is not there, and returns its slot.
func (t *Table[K, V]) insert(h uint64, k K) (i uint32, v *V) {
	switch t.kind {
	case inlineRows:
		_, row, i := t.claim(h)
		r := (*inlineRow[K, V])(row)
		*r = inlineRow[K, V]{key: k}
		return i, &r.val
	case encodedRows:
		return t.insertEncoded(h, t.encodeKey(&k))
	}
	return t.insertGeneral(h, k)
}

// Clear removes all rows and gives their memory back. It takes constant time,
// unless a view has pages of the table to encode: then it encodes them all.
func (t *Table[K, V]) Clear() {
	if t.view.active {
		for id := range t.nsegs {
			t.finish(t.seg(id))
		}
	}
	if t.tracked && t.live > 0 {
		t.deleted.appendCleared(uint32(t.lo), t.hi-t.lo)
	}
	t.heap.close()
	t.reset()
	t.pairs = pairs[K, V]{}
}

// Len returns the number of keys.
func (t *Table[K, V]) Len() int { return t.live }

// Bytes returns the memory held: rows, directory, the keys deleted since the
// last commit, and blocks of general rows without what their values point to.
func (t *Table[K, V]) Bytes() int64 {
	return t.heap.held + int64(len(t.dir))*int64(unsafe.Sizeof(slot{})) +
		int64(len(t.segs))*int64(unsafe.Sizeof([segsPerBlock]segment{})) + t.pairs.bytes() + t.deleted.bytes()
}

// Close gives the memory back. The table must not be used after it.
func (t *Table[K, V]) Close() {
	t.cleanup.Stop()
	t.heap.close()
	t.dir, t.segs = nil, nil
	t.pairs = pairs[K, V]{}
}
