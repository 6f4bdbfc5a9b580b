package buffers

import (
	"sync/atomic"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// Window is the number of marks a ring can hold. Mark id takes the place of
// mark id-Window: whoever publishes id knows that id-Window is of no interest
// any more.
const Window = 4

// Mark says where an id cuts a ring: everything emitted before BarrierSeq is
// before the cut.
type Mark struct {
	ID uint64
	// RingSeq is writeSeq at the cut.
	RingSeq uint64
	// BarrierSeq is the position of the next emission at the cut. What lies in
	// [RingSeq, BarrierSeq) was emitted and not yet pushed.
	BarrierSeq uint64
}

// side holds the words that travel beside the elements of a ring, each at a
// position and without a slot, so that they never wait for one. The producer
// publishes marks, the end of data and that the ring is closed; the consumer
// answers with one word. The zero value has none of them.
type side struct {
	_ pad
	// newest: the id of the last mark; marks up to it are published, none above
	// it is. Without this word a consumer that reads the slots one by one could
	// see a mark and miss the one before it.
	// Owner: producer.  Publishes: marks[newest mod Window] and all before it.
	// Observed by: look.  Invariant: grows; 0 for none.
	newest atomic.Uint64
	// endSeq: the position of the end of data, plus one; 0 for none.
	// Owner: producer.  Publishes: that nothing is pushed at it or above.
	// Observed by: look.  Invariant: set once, to writeSeq+1.
	endSeq atomic.Uint64
	// closed: no more marks either.
	// Owner: producer.  Publishes: that newest is final.  Observed by: look.
	// Invariant: set once, after endSeq.
	closed atomic.Bool
	marks  [Window]markWords

	_ pad
	// acked: the consumer has dealt with the end of data.
	// Owner: consumer.  Publishes: what the consumer did before.
	// Observed by: Acked.  Invariant: set once, after endSeq was seen.
	acked atomic.Bool
	_     pad
}

// markWords is a Mark that is read while it is replaced. The writer takes id
// away, writes the positions, and sets id; the reader takes the positions only
// if id is the same before and after (a sequence lock with the id as sequence).
type markWords struct {
	// id: the mark that the positions belong to, 0 while they are being written.
	// Owner: producer.  Publishes: the two below.  Observed by: read.
	id                  atomic.Uint64
	ringSeq, barrierSeq atomic.Uint64
}

// publishMark publishes m. Producer. It comes after everything emitted before
// the cut that could be pushed, and before anything emitted after it is pushed.
func (s *side) publishMark(m Mark) {
	if last := s.newest.Load(); m.ID <= last || m.ID+1 == 0 {
		invariant.Fail("mark %d published after mark %d", m.ID, last)
	}
	w := &s.marks[m.ID%Window]
	at(store, &w.id)
	w.id.Store(0)
	at(store, &w.barrierSeq)
	w.barrierSeq.Store(m.BarrierSeq)
	at(store, &w.ringSeq)
	w.ringSeq.Store(m.RingSeq)
	at(store, &w.id)
	w.id.Store(m.ID)
	at(store, &s.newest)
	s.newest.Store(m.ID)
}

// publishEnd publishes the end of data at position seq. Producer.
func (s *side) publishEnd(seq uint64) {
	invariant.Check(s.endSeq.Load() == 0, "end of data published twice")
	invariant.Check(seq+1 != 0, "end of data at the last position there is")
	at(store, &s.endSeq)
	s.endSeq.Store(seq + 1)
}

// publishClosed publishes that nothing follows at all. Producer.
func (s *side) publishClosed() {
	invariant.Check(s.endSeq.Load() != 0, "closed before its end of data")
	at(store, &s.closed)
	s.closed.Store(true)
}

// end returns the position of the end of data, if it was published. Both.
func (s *side) end() (seq uint64, ok bool) {
	end := s.endSeq.Load()
	return end - 1, end != 0
}

// ack tells the producer that its end of data was dealt with. Consumer.
func (s *side) ack() {
	invariant.Check(s.endSeq.Load() != 0, "end of data acked before it was published")
	at(store, &s.acked)
	s.acked.Store(true)
}

// Sight is what a consumer saw of a ring in one look.
type Sight struct {
	WriteSeq uint64 // elements below it are in the ring
	EndSeq   uint64 // position of the end of data, if Ended
	Ended    bool   // the end of data was published, perhaps above elements still to be consumed
	Closed   bool   // no mark comes after those seen in this look and before
	count    uint8
	marks    [Window]Mark
}

// Marks returns the marks that the look found, ids growing. They stay in s.
func (s *Sight) Marks() []Mark { return s.marks[:s.count] }

// look adds the side words to seen, whose WriteSeq is loaded already. The order
// is the protocol: an element is pushed after the marks of the cuts before it,
// so whoever sees the element first and the marks second has seen both. The end
// of data and closed come before the marks for the same reason.
func (s *side) look(seen *Sight, after uint64) {
	at(load, &s.endSeq)
	seen.EndSeq, seen.Ended = s.end()
	at(load, &s.closed)
	seen.Closed = s.closed.Load()
	at(load, &s.newest)
	newest := s.newest.Load()
	if newest <= after {
		return
	}
	if newest-after > Window {
		after = newest - Window // the places of those were taken
	}
	for id := after + 1; id <= newest; id++ {
		if m, ok := s.marks[id%Window].read(id); ok {
			seen.marks[seen.count] = m
			seen.count++
		}
	}
}

// read returns mark id, or false if it is not there: never published, or
// replaced, even while it is being read. In no case does the reader wait.
func (w *markWords) read(id uint64) (m Mark, ok bool) {
	at(load, &w.id)
	if w.id.Load() != id {
		return Mark{}, false
	}
	at(load, &w.barrierSeq)
	m.BarrierSeq = w.barrierSeq.Load()
	at(load, &w.ringSeq)
	m.RingSeq = w.ringSeq.Load()
	m.ID = id
	at(load, &w.id)
	return m, w.id.Load() == id
}
