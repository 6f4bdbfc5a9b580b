package flow

// Batch is a run of records that travels as one: the engine's view, without
// the record type. Its only implementation is *BatchOf.
//
// A batch is lent to whom it is passed: it and its records are read-only, and
// invalid after the call, unless the engine has handed it over through a ring.
type Batch interface {
	// Len is the number of records.
	Len() int
	// Header is what travels beside the records.
	Header() *Header
	// Reset empties the batch for reuse, dropping what its records refer to.
	Reset()
}

// Header holds the columns and facts beside a batch's records.
type Header struct {
	// Times has the event time of each record; empty in a stream without
	// timestamps.
	Times []Time
	// Hashes has the hash of each record's key on a keyed edge, so that the
	// consumer need not hash again; empty elsewhere.
	Hashes []uint64
	// Split is the index of the split the records came from, within the list
	// of the source; -1 after an exchange. Pos is the position after the last
	// of them.
	Split int
	Pos   Position
	// OneUse says that the engine made the batch beyond its budget and drops it after use.
	OneUse bool
	// Bad is a record that could not be read, after those of the batch.
	Bad *RecordError
}

// carried returns the hashes of the records from index i on, nil if the batch
// has none.
func (h *Header) carried(i int) []uint64 {
	if len(h.Hashes) == 0 {
		return nil
	}
	return h.Hashes[i:]
}

// BatchOf is a batch of records of type T.
type BatchOf[T any] struct {
	Head Header
	Recs []T
}

// NewBatch returns an empty batch with room for n records.
func NewBatch[T any](n int) *BatchOf[T] {
	return &BatchOf[T]{Recs: make([]T, 0, n), Head: Header{Split: -1}}
}

func (b *BatchOf[T]) Len() int        { return len(b.Recs) }
func (b *BatchOf[T]) Header() *Header { return &b.Head }

func (b *BatchOf[T]) Reset() {
	clear(b.Recs)
	b.Recs = b.Recs[:0]
	b.Head.Times = b.Head.Times[:0]
	b.Head.Hashes = b.Head.Hashes[:0]
	b.Head.Split, b.Head.Pos, b.Head.Bad = -1, nil, nil
}

// time returns the event time of record i, MinTime in a stream without
// timestamps.
func (b *BatchOf[T]) time(i int) Time {
	if len(b.Head.Times) == 0 {
		return MinTime
	}
	return b.Head.Times[i]
}

// timed says whether the records carry event times.
func (b *BatchOf[T]) timed() bool { return len(b.Head.Times) > 0 }

// appendTime gives the record just appended to b its event time. A batch in
// which only some records have one gives the others MinTime.
func (b *BatchOf[T]) appendTime(t Time, timed bool) {
	have := len(b.Head.Times)
	if !timed && have == 0 {
		return
	}
	if !timed {
		t = MinTime
	}
	for ; have < len(b.Recs)-1; have++ {
		b.Head.Times = append(b.Head.Times, MinTime)
	}
	b.Head.Times = append(b.Head.Times, t)
}
