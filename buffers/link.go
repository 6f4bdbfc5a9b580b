package buffers

import (
	"iter"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// Link connects one producer to one consumer: elements E forward, used buffers
// B back, and words that travel beside the elements. Like a Ring it has exactly one thread on
// each side, and the methods say whose they are.
//
// The buffers that come back are the credit: a producer that takes a buffer
// from the link before it fills one can never have more in flight than the link
// was made with, and giving one back never fails. There is no other limit to
// wait for, except that elements without a buffer (events) take slots too, so a
// push can find the ring full.
//
// A buffer that is used up elsewhere must not be given back by that thread:
// the consumer gives back another one in its place, or the link is one poorer
// for good. A task that passes a buffer on, from one link to the next, takes
// one of the next link and gives it back to the first.
type Link[E, B any] struct {
	data Ring[E]
	free Ring[B] // pushed by the consumer, popped by the producer
	side side
	// replay: elements that were in flight in the run before. They take the
	// positions just below those of the ring, and no room in it. Consumer.
	replay []E
}

// NewLink returns a link of that capacity, a power of two, whose first element
// gets position start, and whose credit is the given buffers: at most capacity.
func NewLink[E, B any](capacity int, start uint64, buffers ...B) *Link[E, B] {
	invariant.Check(len(buffers) <= capacity, "%d buffers in a link of capacity %d", len(buffers), capacity)
	l := new(Link[E, B])
	l.data.init(capacity, start)
	l.free.init(capacity, 0)
	for _, b := range buffers {
		l.free.TryPush(b)
	}
	return l
}

// Replay puts elements in front of the ring, oldest first: they take the
// positions below the start of the link and are popped, peeked at and ranged
// over like all others, but have no buffer of its credit. Before the link is
// used. Consumer.
func (l *Link[E, B]) Replay(elements []E) { l.replay = elements }

// TakeBuffer takes a buffer to be filled, or returns false if all are in
// flight: that is backpressure. Producer.
func (l *Link[E, B]) TakeBuffer() (B, bool) { return l.free.TryPop() }

// TryPush appends e, or returns false if the ring is full. Nothing may be pushed
// after PublishEnd. Producer.
func (l *Link[E, B]) TryPush(e E) bool {
	if _, ended := l.side.end(); ended {
		invariant.Fail("element pushed at %d after the end of data", l.data.WriteSeq())
	}
	return l.data.TryPush(e)
}

// Free is the number of elements that can be pushed now. Producer.
func (l *Link[E, B]) Free() int { return l.data.Free() }

// PublishMark publishes the cut id, behind everything emitted until now: what
// was pushed and unpushed elements more, which the producer still holds. Nothing
// emitted after the cut may have been pushed. Ids start above zero and grow, and
// id-Window is of no interest any more. It returns the mark. Producer.
func (l *Link[E, B]) PublishMark(id uint64, unpushed int) Mark {
	m := Mark{ID: id, RingSeq: l.data.WriteSeq()}
	m.BarrierSeq = m.RingSeq + uint64(unpushed)
	if _, ended := l.side.end(); ended {
		invariant.Check(unpushed == 0, "mark %d: %d elements emitted after the end of data", id, unpushed)
		m.BarrierSeq++ // the end of data takes a position, or it would be on both sides of a cut
	}
	l.side.publishMark(m)
	return m
}

// PublishEnd publishes the end of data behind everything pushed, and returns its
// position. Once. Producer.
func (l *Link[E, B]) PublishEnd() uint64 {
	seq := l.data.WriteSeq()
	l.side.publishEnd(seq)
	return seq
}

// PublishClosed publishes that no mark follows either. The marks stay to be
// seen. After PublishEnd. Producer.
func (l *Link[E, B]) PublishClosed() { l.side.publishClosed() }

// Acked reports whether the consumer has dealt with the end of data. Producer.
func (l *Link[E, B]) Acked() bool { return l.side.acked.Load() }

// Look sees what there is: elements, marks with ids above after, end of data,
// closed. What TryPop and Peek return until the next look was in the ring before the
// marks were read, so no element overtakes a mark. It never waits. Consumer.
func (l *Link[E, B]) Look(after uint64) (s Sight) {
	s.WriteSeq = l.data.Look()
	l.side.look(&s, after)
	return s
}

// TryPop takes the oldest element that the last Look saw, or returns false if
// there is none. Consumer.
func (l *Link[E, B]) TryPop() (e E, ok bool) {
	if len(l.replay) == 0 {
		return l.data.PopSeen()
	}
	e, l.replay[0] = l.replay[0], e
	l.replay = l.replay[1:]
	return e, true
}

// Peek returns the oldest element that the last Look saw without taking it. The
// pointer is good until the element is popped. Consumer.
func (l *Link[E, B]) Peek() (*E, bool) {
	if len(l.replay) == 0 {
		return l.data.Peek()
	}
	return &l.replay[0], true
}

// Range visits the elements at positions [from, to) in place, without taking
// them: from at least ReadSeq, to at most the WriteSeq of a look or the RingSeq
// of a mark. The pointers are good until the element is popped. Consumer.
func (l *Link[E, B]) Range(from, to uint64) iter.Seq2[uint64, *E] {
	start := l.data.ReadSeq()
	before := uint64(len(l.replay)) // positions [start-before, start)
	if before == 0 || start-from > before {
		return l.data.Range(from, to) // which says what is wrong with a from below ReadSeq
	}
	if from > to {
		invariant.Fail("range [%d, %d) of a link", from, to)
	}
	inReplay := l.replay[before-(start-from):]
	inRing := l.data.Range(start, max(start, to))
	return func(visit func(uint64, *E) bool) {
		for i := range inReplay {
			if from+uint64(i) >= to {
				return
			}
			if !visit(from+uint64(i), &inReplay[i]) {
				return
			}
		}
		inRing(visit)
	}
}

// GiveBack returns a buffer to the producer, which may fill it at once: nobody
// reads it any more. Consumer.
func (l *Link[E, B]) GiveBack(b B) {
	if !l.free.TryPush(b) {
		invariant.Fail("more buffers given back than the link has: %d", l.free.Cap())
	}
}

// Ack tells the producer that its end of data was dealt with. Consumer.
func (l *Link[E, B]) Ack() { l.side.ack() }

// Cap is the most elements the link can hold. Both.
func (l *Link[E, B]) Cap() int { return l.data.Cap() }

// Len is the number of elements in the ring, as Ring.Len. Both.
func (l *Link[E, B]) Len() int { return l.data.Len() }

// ReadSeq is the position of the next element to be popped. Consumer.
func (l *Link[E, B]) ReadSeq() uint64 { return l.data.ReadSeq() - uint64(len(l.replay)) }

// WriteSeq is the position of the next element to be pushed. Both.
func (l *Link[E, B]) WriteSeq() uint64 { return l.data.WriteSeq() }

// End returns the position of the end of data, if it was published. Both.
func (l *Link[E, B]) End() (seq uint64, ok bool) { return l.side.end() }

// Credit is the number of buffers that wait to be taken, as Ring.Len. Both.
func (l *Link[E, B]) Credit() int { return l.free.Len() }
