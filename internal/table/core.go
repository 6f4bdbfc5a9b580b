package table

import (
	"unsafe"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// tag is the state of one slot. The zero tag is a free slot.
type tag = uint8

const (
	occupied tag = 1 << 0
	born     tag = 1 << 1 // inserted in the current phase; means nothing without it
	phaseOne tag = 1 << 2 // the first of six phase bits
	phases   tag = 0xfc   // in which of them it was written since the last commit
)

const (
	minLog  = 3  // a segment has at least 8 slots: one word of tags
	mostLog = 10 // and at most 1024, unless hashes collide
	// mostSegment bounds the memory of a segment, and with it the longest step.
	mostSegment = 128 << 10
)

// slot of the directory: all that an update needs of a segment.
//
// The memory of a segment is ...tag[2] tag[1] tag[0] | row[0] row[1]..., and
// base points between. Rows go up, tags go down, so neither needs a second
// pointer.
type slot struct {
	base unsafe.Pointer
	mask uint32 // slots-1
	seg  uint32
}

// segment is what only a first touch, an insert or a delete needs.
type segment struct {
	base   unsafe.Pointer
	mem    block
	prefix uint64 // the smallest hash it covers
	live   uint32
	max    uint32 // live rows at which it grows
	log    uint8  // log2 of its slots
	depth  uint8  // hash bits that its prefix fixes

	// dirty is a superset of the phases in its tags.
	dirty tag
	seq   uint32 // of the last view that looked at it
	pend  uint64 // its pages that view.seq has still to encode

	keys arena // of encoded keys
}

// rows is what the core asks of a layout, never on the path of an update.
type rows interface {
	hashOf(s *segment, row unsafe.Pointer) uint64
	// lowOf returns the low half of the hash.
	lowOf(row unsafe.Pointer) uint32
	// adopt is called when row, copied from old, has arrived in s.
	adopt(s, old *segment, row unsafe.Pointer)
	// forget is called before a row goes.
	forget(s *segment, row unsafe.Pointer)

	layout() uint8
	identity() uint64
	appendRow(dst []byte, s *segment, row unsafe.Pointer) ([]byte, error)
	appendKey(dst []byte, s *segment, row unsafe.Pointer) ([]byte, error)
}

// core is the part of a Table that does not know its types.
type core struct {
	// Read by every operation.
	dir   []slot // index = hash>>shift - first, in hash order
	shift uint   // below 64
	first uint64

	rows     rows
	stride   uintptr // of a row
	heap     *heap   // apart, so that a lost table can be cleaned up after
	unitLog  uint8   // log2 of the slots in a heap unit
	maxLog   uint8
	pageSize uint8 // log2 of the slots of a page
	groups   int
	lo, hi   int // owned key groups
	live     int

	segs  []*[segsPerBlock]segment // headers; blocks, since one big slice would be copied
	nsegs uint32
	// Segment 0 is shared by all key groups that never had a row.

	freezer
	old    segment // what is being moved, for that moment: no pointer to given back memory may stay
	keyBuf []byte  // the key of a deleted row
	logErr error   // of the codec of a deleted key
}

const segsPerBlock = 256

// emptyMemory is the segment of one free slot that has room for no row. Its
// row is never read: the tag says that it is free.
var emptyMemory [8 + maxInlineRow]byte

func (c *core) seg(id uint32) *segment { return &c.segs[id/segsPerBlock][id%segsPerBlock] }

func (c *core) init(groups, lo, hi int, src SlabSource, stride uintptr, pageSize uint8, r rows) {
	c.rows, c.stride, c.pageSize = r, stride, pageSize
	c.groups, c.lo, c.hi = groups, lo, hi
	c.unitLog = minLog
	for uintptr(1)<<c.unitLog*(stride+1) < uintptr(minUnit) {
		c.unitLog++
	}
	c.maxLog = mostLog
	for c.maxLog > c.unitLog && uintptr(1)<<c.maxLog*(stride+1) > mostSegment {
		c.maxLog--
	}
	c.heap = &heap{src: src, unit: int(stride+1) << c.unitLog}
	c.freezer.init()
	c.reset()
}

// reset makes the table empty. It keeps the phases.
func (c *core) reset() {
	c.shift = min(63, 64-groupBits(c.groups))
	c.first = uint64(c.lo) << (64 - c.shift - groupBits(c.groups))
	n := (c.hi - c.lo) << (64 - c.shift - groupBits(c.groups))
	c.dir = make([]slot, n)
	for i := range c.dir {
		c.dir[i].base = unsafe.Pointer(&emptyMemory[8])
	}
	c.segs, c.nsegs, c.live = nil, 0, 0
	c.newSegment()
}

// newSegment returns the id of a segment without memory.
func (c *core) newSegment() uint32 {
	if c.nsegs%segsPerBlock == 0 {
		c.segs = append(c.segs, new([segsPerBlock]segment))
	}
	c.nsegs++
	s := c.seg(c.nsegs - 1)
	s.base, s.seq = unsafe.Pointer(&emptyMemory[8]), c.view.seq
	return c.nsegs - 1
}

func (c *core) index(h uint64) uint64 { return h>>(c.shift&63) - c.first }

func (c *core) row(base unsafe.Pointer, i uint32) unsafe.Pointer {
	return unsafe.Add(base, uintptr(i)*c.stride)
}

func tagAt(base unsafe.Pointer, i uint32) *tag { return (*tag)(unsafe.Add(base, ^int(i))) }

// claim returns a free slot for a new row of hash h, tagged as written now. The
// caller fills the row. The live count includes it already.
func (c *core) claim(h uint64) (s *segment, row unsafe.Pointer, i uint32) {
	d := &c.dir[c.index(h)]
	s = c.seg(d.seg)
	for s.live >= s.max {
		c.grow(h)
		d = &c.dir[c.index(h)]
		s = c.seg(d.seg)
	}
	i = uint32(h) & d.mask
	for *tagAt(s.base, i) != 0 {
		i = (i + 1) & d.mask
	}
	c.beforeWrite(s, i)
	*tagAt(s.base, i) = occupied | born | c.cur
	s.dirty |= c.cur
	s.live++
	c.live++
	return s, c.row(s.base, i), i
}

// remove frees slot i by shifting the rows after it back (Knuth, 6.4 R), so
// that deletes leave nothing behind.
func (c *core) remove(s *segment, i uint32) {
	mask := uint32(1)<<s.log - 1
	c.beforeWrite(s, i)
	c.rows.forget(s, c.row(s.base, i))
	hole := i
	for j := (i + 1) & mask; ; j = (j + 1) & mask {
		g := *tagAt(s.base, j)
		if g == 0 {
			break
		}
		row := c.row(s.base, j)
		home := c.rows.lowOf(row) & mask
		if (j-home)&mask < (j-hole)&mask {
			continue // it would land before its home
		}
		c.beforeWrite(s, j) // the page of the hole was encoded before
		copyMemory(c.row(s.base, hole), row, c.stride)
		*tagAt(s.base, hole) = *tagAt(s.base, j)
		hole = j
	}
	*tagAt(s.base, hole) = 0
	s.live--
	c.live--
	switch {
	case s.live == 0:
		c.strip(s)
	case s.log >= 6 && s.live<<3 < 1<<s.log:
		c.resize(s, s.log-1)
	}
}

// grow makes room in the segment of h: one step, of one segment.
func (c *core) grow(h uint64) {
	d := &c.dir[c.index(h)]
	if d.seg == 0 {
		id := c.newSegment()
		s := c.seg(id)
		s.depth = uint8(groupBits(c.groups))
		s.prefix = c.prefixOf(h, s.depth)
		c.point(id)
	}
	id := c.dir[c.index(h)].seg
	s := c.seg(id)
	switch {
	case s.base == unsafe.Pointer(&emptyMemory[8]):
		c.resize(s, max(minLog, c.unitLog))
	case s.log < c.maxLog:
		c.resize(s, s.log+1)
	case uint(s.depth) < 64-c.shift || c.growDir():
		c.split(id)
	default:
		c.resize(s, s.log+1) // hashes collide: a longer segment, not a deeper directory
	}
}

// growDir doubles the directory, unless that would leave it with more than
// eight entries a segment.
func (c *core) growDir() bool {
	if len(c.dir)*2 > 8*max(int(c.nsegs), c.hi-c.lo) || c.shift <= 1 {
		return false
	}
	c.doubleDir()
	return true
}

func (c *core) doubleDir() {
	dir := make([]slot, len(c.dir)*2)
	for i, d := range c.dir {
		dir[2*i], dir[2*i+1] = d, d
	}
	c.dir = dir
	c.shift--
	c.first <<= 1
}

func (c *core) prefixOf(h uint64, depth uint8) uint64 {
	return h >> 1 >> (63 - depth) << (63 - depth) << 1
}

// point makes the directory show where a segment is now.
func (c *core) point(id uint32) {
	s := c.seg(id)
	d := slot{base: s.base, seg: id}
	if s.mem.slab != 0 {
		d.mask = 1<<s.log - 1
	}
	from := c.index(s.prefix)
	n := uint64(1) << (64 - c.shift - uint(s.depth))
	for i := from; i < from+n; i++ {
		c.dir[i] = d
	}
}

// strip takes the memory of a segment without rows.
func (c *core) strip(s *segment) {
	c.finish(s)
	c.heap.release(s.mem)
	c.heap.release(s.keys.mem)
	s.mem, s.keys, s.base = block{}, arena{}, unsafe.Pointer(&emptyMemory[8])
	s.max, s.log, s.dirty = 0, 0, 0
	c.point(c.dir[c.index(s.prefix)].seg)
}

// give lends a segment memory of 1<<log slots, all free.
func (c *core) give(s *segment, log uint8, mem block) {
	s.mem, s.log = mem, log
	slots := 1 << log
	memory := c.heap.addr(s.mem)
	clear(unsafe.Slice((*byte)(memory), slots))
	s.base = unsafe.Add(memory, slots)
	s.max = uint32(slots) * 13 / 16
	invariant.Check(uintptr(s.base)%8 == 0, "segment rows are not aligned: %p", s.base)
}

// resize moves a segment to memory of 1<<log slots.
func (c *core) resize(s *segment, log uint8) {
	c.finish(s)
	mem := c.heap.alloc(log - c.unitLog) // panics over the limit; nothing has changed then
	c.old = *s
	c.give(s, log, mem)
	c.move(&c.old, s, s, 0)
	c.heap.release(c.old.mem)
	c.old = segment{}
	c.point(c.dir[c.index(s.prefix)].seg)
}

// split divides a segment by the next bit of the hashes.
func (c *core) split(id uint32) {
	left := c.seg(id)
	c.finish(left)
	c.old = *left
	old := &c.old
	// As large as old: its rows may all belong to one side.
	lower, upper := c.heap.alloc(old.log-c.unitLog), c.heap.alloc(old.log-c.unitLog)
	rightID := c.newSegment()
	right := c.seg(rightID)
	left.keys, left.live, left.depth = arena{}, 0, old.depth+1
	*right = *left
	c.give(left, old.log, lower)
	c.give(right, old.log, upper)
	right.prefix = old.prefix | 1<<(63-old.depth)
	c.move(old, left, right, right.prefix)
	c.heap.release(old.mem)
	c.heap.release(old.keys.mem)
	c.old = segment{}
	c.point(id)
	c.point(rightID)
}

// move copies the rows of old to where their hash belongs: to right from the
// hash edge on.
func (c *core) move(old, left, right *segment, edge uint64) {
	if old.mem.slab == 0 {
		return
	}
	for i := range uint32(1) << old.log {
		g := *tagAt(old.base, i)
		if g == 0 {
			continue
		}
		row, s := c.row(old.base, i), left
		if left != right && c.rows.hashOf(old, row) >= edge {
			s = right
		}
		mask := uint32(1)<<s.log - 1
		j := c.rows.lowOf(row) & mask
		for *tagAt(s.base, j) != 0 {
			j = (j + 1) & mask
		}
		*tagAt(s.base, j) = g
		copyMemory(c.row(s.base, j), row, c.stride)
		if left != right {
			s.live++
			c.rows.adopt(s, old, c.row(s.base, j))
		}
	}
}

func copyMemory(dst, src unsafe.Pointer, n uintptr) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

// nextSegment returns the segment that covers hash pos and the first hash
// after it; 0 is the end of the hashes.
func (c *core) nextSegment(pos uint64) (s *segment, after uint64) {
	i := c.index(pos)
	s = c.seg(c.dir[i].seg)
	if c.dir[i].seg == 0 {
		return s, (i + c.first + 1) << c.shift
	}
	return s, s.prefix + 1<<1<<(63-s.depth)
}

// span returns the first hash of the table and the first one after it, 0 if
// there is none.
func (c *core) span() (from, to uint64) {
	return c.first << c.shift, (c.first + uint64(len(c.dir))) << c.shift
}
