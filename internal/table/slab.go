package table

import (
	"fmt"
	"sync"
	"unsafe"
)

const (
	minSlab  = 4 << 10  // the first slab of a table
	mapFrom  = 64 << 10 // slabs of this size and more are mapped, smaller ones lie on the Go heap
	fullSlab = 4 << 20  // the slab of a large table: two huge pages
	stock    = 2        // full slabs that a Pool keeps ready
	readyBy  = 64 << 10 // other slabs are populated in steps of this: about 20 µs
)

// Slab is a piece of memory without pointers, outside the Go heap where the
// system has mmap. Its content is undefined.
type Slab struct {
	base   unsafe.Pointer
	size   int
	ready  bool // its pages are there
	mapped bool // from mmap; else heap keeps it alive
	heap   []uint64
}

// Size returns the number of bytes.
func (s *Slab) Size() int { return s.size }

// SlabSource gives tables their memory. Get returns at least size bytes,
// aligned to 8, or an error when a limit is reached; the table then panics
// with a [MemoryError], which ends the task. Put takes a slab back. A source
// shared by tables of several workers must be safe for concurrent use.
type SlabSource interface {
	Get(size int) (Slab, error)
	Put(Slab)
}

// MemoryError is what a table panics with when its [SlabSource] refuses.
type MemoryError struct{ Err error }

func (e *MemoryError) Error() string { return "grow a state table: " + e.Err.Error() }

// Unwrap returns the error of the source.
func (e *MemoryError) Unwrap() error { return e.Err }

// Pool is the SlabSource of a job. It is safe for concurrent use.
//
// Fresh memory costs page faults, which are the longest pauses a table has.
// Somebody who calls Stock off the workers, when Get has woken him, moves them
// off the workers: then slabs are huge pages, populated ahead. Without him,
// tables populate small pages step by step as they grow.
type Pool struct {
	limit int64
	wake  func()

	mu    sync.Mutex
	held  int64  // bytes lent out or in stock
	spare []Slab // full slabs, ready ones last
}

// NewPool returns a pool that refuses to hold more than limit bytes; 0 means
// no limit. wake, if not nil, is called, on the worker, when the stock is low.
func NewPool(limit int64, wake func()) *Pool { return &Pool{limit: limit, wake: wake} }

// Get returns a slab of at least size bytes.
func (p *Pool) Get(size int) (Slab, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if size == fullSlab && len(p.spare) > 0 {
		s := p.spare[len(p.spare)-1]
		p.spare = p.spare[:len(p.spare)-1]
		p.callHelper()
		return s, nil
	}
	if p.limit > 0 && p.held+int64(size) > p.limit {
		p.drain()
		if p.held+int64(size) > p.limit {
			return Slab{}, fmt.Errorf("%d bytes more than the %d held: over the limit of %d", size, p.held, p.limit)
		}
	}
	s, err := newSlab(size, false)
	if err != nil {
		return Slab{}, err
	}
	p.held += int64(s.size)
	if size == fullSlab { // small tables need no reserve
		p.callHelper()
	}
	return s, nil
}

func (p *Pool) callHelper() {
	if p.wake != nil && len(p.spare) < stock {
		p.wake()
	}
}

// Put takes a slab back.
func (p *Pool) Put(s Slab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.size == fullSlab && len(p.spare) < stock {
		p.spare = append([]Slab{s}, p.spare...)
		return
	}
	p.held -= int64(s.size)
	s.release()
}

// Stock makes one populated slab if there are fewer than two in reserve and
// the limit has room. It returns whether it is to be called again at once. It
// takes milliseconds: call it off the workers.
func (p *Pool) Stock() (more bool) {
	p.mu.Lock()
	full := len(p.spare) >= stock || p.limit > 0 && p.held+fullSlab > p.limit
	if !full {
		p.held += fullSlab
	}
	p.mu.Unlock()
	if full {
		return false
	}
	s, err := newSlab(fullSlab, true)
	if err == nil {
		populate(slabBytes(s.base, s.size))
		s.ready = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.held -= fullSlab // Get will meet the same error and report it
		return false
	}
	p.spare = append(p.spare, s)
	return len(p.spare) < stock
}

// Held returns the bytes lent out and in reserve.
func (p *Pool) Held() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// Drain gives the reserve back to the system.
func (p *Pool) Drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drain()
}

func (p *Pool) drain() {
	for i := range p.spare {
		p.held -= int64(p.spare[i].size)
		p.spare[i].release()
	}
	p.spare = nil
}

// newSlab makes a slab; huge asks for huge pages.
func newSlab(size int, huge bool) (Slab, error) {
	if canMap && size >= mapFrom {
		base, err := mapMemory(size, huge)
		if err != nil {
			return Slab{}, fmt.Errorf("map %d bytes: %w", size, err)
		}
		return Slab{base: base, size: size, mapped: true}, nil
	}
	mem := make([]uint64, (size+7)/8)
	return Slab{base: unsafe.Pointer(unsafe.SliceData(mem)), size: len(mem) * 8, ready: true, heap: mem}, nil
}

func (s *Slab) release() {
	if s.mapped {
		unmapMemory(s.base, s.size)
	}
	*s = Slab{}
}

func slabBytes(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }
