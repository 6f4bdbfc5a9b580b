package table

import (
	"math/bits"
	"unsafe"
)

// heap is a buddy allocator (Knowlton 1965) over the slabs of one table. All
// blocks are unit<<class bytes, unit being the smallest segment, so a segment
// that doubled gives its old block to one that doubles later, or to its buddy.
type heap struct {
	src   SlabSource
	unit  int
	slabs []heapSlab
	lists [64]place // free blocks by class
	some  uint64    // bit c: lists[c] is not empty
	held  int64     // bytes of all slabs
	empty []uint32  // ids of slabs given back
}

type heapSlab struct {
	Slab
	units int
	inUse int     // units lent out
	first []uint8 // by unit: 1+class if a free block begins there
	ready []bool  // by step of readyBy: has pages; nil if all have
}

// block names memory of a heap. The zero block is none.
type block struct {
	slab  uint32 // index+1
	unit  uint32
	class uint8
}

// place packs slab and unit of a free block; 0 is none.
type place uint64

func (b block) place() place { return place(b.slab)<<32 | place(b.unit) }

// freeBlock lies at the start of free memory: a unit has room for it.
type freeBlock struct{ next, prev place }

const minUnit = 64

func (h *heap) bytes(b block) int { return h.unit << b.class }

func (h *heap) addr(b block) unsafe.Pointer {
	return unsafe.Add(h.slabs[b.slab-1].base, int(b.unit)*h.unit)
}

// alloc returns a block of that class. It panics with a *MemoryError, and has
// then changed nothing.
func (h *heap) alloc(class uint8) block {
	fit := h.some >> class << class
	if fit == 0 {
		h.grow(class)
		fit = h.some >> class << class
	}
	b := h.pop(uint8(bits.TrailingZeros64(fit)))
	for b.class > class {
		b.class--
		h.push(block{b.slab, b.unit + 1<<b.class, b.class})
	}
	s := &h.slabs[b.slab-1]
	s.inUse += 1 << class
	s.populate(int(b.unit)*h.unit, h.unit<<class)
	return b
}

// populate makes sure that n bytes from at have pages.
func (s *heapSlab) populate(at, n int) {
	if s.Slab.ready {
		return
	}
	for step := at / readyBy; step*readyBy < at+n; step++ {
		if !s.ready[step] {
			from := step * readyBy
			populate(unsafe.Slice((*byte)(unsafe.Add(s.base, from)), min(readyBy, s.size-from)))
			s.ready[step] = true
		}
	}
}

// release takes a block back and joins it with its free buddies.
func (h *heap) release(b block) {
	if b.slab == 0 {
		return
	}
	s := &h.slabs[b.slab-1]
	s.inUse -= 1 << b.class
	for {
		buddy := block{b.slab, b.unit ^ 1<<b.class, b.class}
		if int(buddy.unit)+1<<b.class > s.units || s.first[buddy.unit] != b.class+1 {
			break
		}
		h.unlink(buddy)
		b.unit &^= 1 << b.class
		b.class++
	}
	h.push(b)
	if s.inUse == 0 && h.held-int64(s.size) > 0 {
		h.giveBack(b.slab)
	}
}

// grow gets a slab with room for a block of that class. Slabs start small and
// grow with the heap.
func (h *heap) grow(class uint8) {
	size := fullSlab
	if quarter := int(h.held / 4); quarter < fullSlab {
		size = max(minSlab, 1<<bits.Len(uint(quarter))>>1)
	}
	if need := h.unit << class; need > size {
		size = (need + minSlab - 1) / minSlab * minSlab
	}
	mem, err := h.src.Get(size)
	if err != nil {
		panic(&MemoryError{err})
	}
	s := heapSlab{Slab: mem, units: mem.size / h.unit}
	s.first = make([]uint8, s.units)
	if !mem.ready {
		s.ready = make([]bool, (mem.size+readyBy-1)/readyBy)
	}
	h.held += int64(mem.size)
	id := uint32(len(h.slabs) + 1)
	if n := len(h.empty); n > 0 {
		id, h.empty = h.empty[n-1], h.empty[:n-1]
		h.slabs[id-1] = s
	} else {
		h.slabs = append(h.slabs, s)
	}
	h.carve(id)
}

// carve makes all of a slab free: the largest blocks first, so that each is
// aligned to its size.
func (h *heap) carve(id uint32) {
	at, units := 0, h.slabs[id-1].units
	for at < units {
		class := bits.Len(uint(units-at)) - 1
		h.push(block{id, uint32(at), uint8(class)})
		at += 1 << class
	}
}

// giveBack returns a slab without blocks in use to the source.
func (h *heap) giveBack(id uint32) {
	s := &h.slabs[id-1]
	for at := 0; at < s.units; {
		b := block{id, uint32(at), s.first[at] - 1}
		h.unlink(b)
		at += 1 << b.class
	}
	h.held -= int64(s.size)
	h.src.Put(s.Slab)
	*s = heapSlab{}
	h.empty = append(h.empty, id)
}

// close returns all slabs, whatever is in use.
func (h *heap) close() {
	for i := range h.slabs {
		if h.slabs[i].size > 0 {
			h.src.Put(h.slabs[i].Slab)
		}
	}
	*h = heap{src: h.src, unit: h.unit}
}

func (h *heap) at(p place) *freeBlock {
	return (*freeBlock)(unsafe.Add(h.slabs[p>>32-1].base, int(uint32(p))*h.unit))
}

func (h *heap) push(b block) {
	f := h.at(b.place())
	*f = freeBlock{next: h.lists[b.class]}
	if f.next != 0 {
		h.at(f.next).prev = b.place()
	}
	h.lists[b.class] = b.place()
	h.some |= 1 << b.class
	h.slabs[b.slab-1].first[b.unit] = b.class + 1
}

func (h *heap) pop(class uint8) block {
	p := h.lists[class]
	b := block{uint32(p >> 32), uint32(p), class}
	h.unlink(b)
	return b
}

func (h *heap) unlink(b block) {
	f := h.at(b.place())
	if f.next != 0 {
		h.at(f.next).prev = f.prev
	}
	if f.prev != 0 {
		h.at(f.prev).next = f.next
	} else if h.lists[b.class] = f.next; f.next == 0 {
		h.some &^= 1 << b.class
	}
	h.slabs[b.slab-1].first[b.unit] = 0
}
