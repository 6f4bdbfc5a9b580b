package buffers

import (
	"iter"
	"sync/atomic"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// pad keeps what is before it and what is after it at least 128 bytes apart,
// wherever the object starts: two cache lines, because the prefetcher of some
// processors fetches lines in pairs.
type pad [128]byte

// Ring is a bounded queue for exactly one producer and one consumer, which may
// be on different threads. A method belongs to the producer or to the consumer,
// as its comment says; those that belong to both are safe for anybody.
//
// The design is the single-producer ring of the LMAX Disruptor with the cached
// opposite index of Rigtorp's SPSCQueue.
type Ring[T any] struct {
	slots []T
	mask  uint64 // len(slots)-1

	_ pad
	// writeSeq: positions below it were pushed.
	// Owner: producer.  Publishes: slots[writeSeq-1].  Observed by: Look.
	// Invariant: readSeq <= writeSeq <= readSeq+capacity.
	writeSeq atomic.Uint64
	// readSeqSeen is the producer's last sight of readSeq: while it shows room,
	// the consumer's line is left alone.
	readSeqSeen uint64

	_ pad
	// readSeq: positions below it were popped.
	// Owner: consumer.  Publishes: that slots[readSeq-1] is clear and free.
	// Observed by: TryPush, Free.  Invariant: as writeSeq.
	readSeq atomic.Uint64
	// writeSeqSeen is the consumer's last sight of writeSeq: what PopSeen may
	// take.
	writeSeqSeen uint64
	_            pad
}

// NewRing returns an empty ring of a capacity that is a power of two and whose
// first element gets position start.
func NewRing[T any](capacity int, start uint64) *Ring[T] {
	r := new(Ring[T])
	r.init(capacity, start)
	return r
}

func (r *Ring[T]) init(capacity int, start uint64) {
	invariant.Check(capacity > 0 && capacity&(capacity-1) == 0, "ring capacity %d is not a power of two", capacity)
	r.slots = make([]T, capacity)
	r.mask = uint64(capacity) - 1
	r.writeSeq.Store(start)
	r.readSeqSeen = start
	r.readSeq.Store(start)
	r.writeSeqSeen = start
}

// TryPush appends v, or returns false if the ring is full. Producer.
func (r *Ring[T]) TryPush(v T) bool {
	seq := r.writeSeq.Load()
	if seq-r.readSeqSeen > r.mask {
		at(load, &r.readSeq)
		r.readSeqSeen = r.readSeq.Load()
		if seq-r.readSeqSeen > r.mask {
			return false
		}
	}
	slot := &r.slots[seq&r.mask]
	at(store, slot)
	*slot = v
	at(store, &r.writeSeq)
	r.writeSeq.Store(seq + 1)
	return true
}

// Free is the number of elements that can be pushed now. Producer.
func (r *Ring[T]) Free() int {
	at(load, &r.readSeq)
	r.readSeqSeen = r.readSeq.Load()
	return len(r.slots) - int(r.writeSeq.Load()-r.readSeqSeen)
}

// TryPop takes the oldest element, or returns false if there is none. Consumer.
func (r *Ring[T]) TryPop() (T, bool) {
	if r.readSeq.Load() == r.writeSeqSeen {
		r.Look()
	}
	return r.PopSeen()
}

// Look finds what was pushed until now and returns writeSeq. Consumer.
func (r *Ring[T]) Look() uint64 {
	at(load, &r.writeSeq)
	r.writeSeqSeen = r.writeSeq.Load()
	return r.writeSeqSeen
}

// PopSeen takes the oldest element, or returns false if there is none below
// what the last Look (or TryPop) returned: other than TryPop it never looks
// again. Consumer.
func (r *Ring[T]) PopSeen() (v T, ok bool) {
	seq := r.readSeq.Load()
	if seq == r.writeSeqSeen {
		return v, false
	}
	slot := &r.slots[seq&r.mask]
	at(load, slot)
	v = *slot
	at(store, slot)
	var zero T
	*slot = zero // or what it points to would stay reachable for a whole turn
	at(store, &r.readSeq)
	r.readSeq.Store(seq + 1)
	return v, true
}

// Peek returns the oldest element without taking it, or false if there is none
// below what the last Look or TryPop saw. The pointer is good until the element
// is popped. Consumer.
func (r *Ring[T]) Peek() (*T, bool) {
	seq := r.readSeq.Load()
	if seq == r.writeSeqSeen {
		return nil, false
	}
	slot := &r.slots[seq&r.mask]
	at(load, slot)
	return slot, true
}

// Range visits the elements at positions [from, to) in place, oldest first,
// without taking them. They must be in the ring: not popped, and pushed, which
// the caller may know from another word than writeSeq (a mark). The pointers
// are good until the element is popped. Consumer.
func (r *Ring[T]) Range(from, to uint64) iter.Seq2[uint64, *T] {
	read, write := r.readSeq.Load(), r.writeSeq.Load()
	if length := write - read; from-read > length || to-read > length || to-from > length {
		invariant.Fail("range [%d, %d) of a ring that holds [%d, %d)", from, to, read, write)
	}
	return func(visit func(uint64, *T) bool) {
		for seq := from; seq != to; seq++ {
			slot := &r.slots[seq&r.mask]
			at(load, slot)
			if !visit(seq, slot) {
				return
			}
		}
	}
}

// Cap is the most elements the ring can hold. Both.
func (r *Ring[T]) Cap() int { return len(r.slots) }

// ReadSeq is the position of the next element to be popped. Both.
func (r *Ring[T]) ReadSeq() uint64 { return r.readSeq.Load() }

// WriteSeq is the position of the next element to be pushed. Both.
func (r *Ring[T]) WriteSeq() uint64 { return r.writeSeq.Load() }

// Len is the number of elements in the ring. While the other side works it is
// out of date when it returns, but never outside [0, Cap]. Both.
func (r *Ring[T]) Len() int {
	read := r.readSeq.Load() // first: writeSeq can only run away from it
	return min(int(r.writeSeq.Load()-read), len(r.slots))
}
