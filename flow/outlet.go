package flow

// outlet is the producer's end of an edge for one task. It copies records into
// one open batch per lane; a batch that is full is sent.
type outlet[T any] struct {
	lanes []Lane
	open  []*BatchOf[T]
	part  Partition
	turn  int // round robin: the lane of the next record
}

func newOutlet[T any](lanes []Lane, part Partition, first int) *outlet[T] {
	if part != ToAll && len(lanes) == 1 {
		part = Forward
	}
	return &outlet[T]{lanes: lanes, open: make([]*BatchOf[T], len(lanes)), part: part, turn: first % len(lanes)}
}

// openBatch returns the batch that lane i fills.
func (o *outlet[T]) openBatch(i int) *BatchOf[T] {
	b := o.open[i]
	if b == nil {
		b = o.lanes[i].Take().(*BatchOf[T])
		o.open[i] = b
	}
	return b
}

func (o *outlet[T]) send(i int) {
	b := o.open[i]
	o.open[i] = nil
	o.lanes[i].Send(b)
}

// append copies records from..to of in to lane i.
func (o *outlet[T]) append(i int, in *BatchOf[T], from, to int) {
	for from < to {
		b := o.openBatch(i)
		n := min(to-from, cap(b.Recs)-len(b.Recs))
		b.Recs = append(b.Recs, in.Recs[from:from+n]...)
		b.appendTimes(in, from, n)
		from += n
		if len(b.Recs) == cap(b.Recs) {
			o.send(i)
		}
	}
}

// appendTimes gives the last n records of b the times of in from index from.
func (b *BatchOf[T]) appendTimes(in *BatchOf[T], from, n int) {
	if len(in.Head.Times) == 0 && len(b.Head.Times) == 0 {
		return
	}
	for len(b.Head.Times) < len(b.Recs)-n {
		b.Head.Times = append(b.Head.Times, MinTime)
	}
	if len(in.Head.Times) > 0 {
		b.Head.Times = append(b.Head.Times, in.Head.Times[from:from+n]...)
		return
	}
	for range n {
		b.Head.Times = append(b.Head.Times, MinTime)
	}
}

func (o *outlet[T]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[T])
	switch o.part {
	case Forward:
		o.append(0, in, 0, len(in.Recs))
	case ToAll:
		for i := range o.lanes {
			o.append(i, in, 0, len(in.Recs))
		}
	default:
		for r := range in.Recs {
			o.append(o.turn, in, r, r+1)
			if o.turn++; o.turn == len(o.lanes) {
				o.turn = 0
			}
		}
	}
	return nil
}

func (o *outlet[T]) Flush(bool) {
	for i, b := range o.open {
		if b != nil && len(b.Recs) > 0 {
			o.send(i)
		}
	}
}

// keyedOutlet sends each record to the task that owns its key's group, with
// the hash of the key beside it.
type keyedOutlet[K comparable, T any] struct {
	outlet[T]
	keyed Keyed[K, T]
	owner []uint16
	shift uint // 64 - log2(number of key groups)
	look  lookAhead[K]
}

func (o *keyedOutlet[K, T]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[T])
	for from := 0; from < len(in.Recs); from += ahead {
		recs := in.Recs[from:min(from+ahead, len(in.Recs))]
		lookAt(&o.look, &o.keyed, recs, nil)
		if in.timed() {
			o.scatter(recs, in.Head.Times[from:])
		} else {
			o.scatter(recs, nil)
		}
	}
	return nil
}

// scatter copies records that were looked at to the lanes of their keys. times
// has their event times, if they have any.
func (o *keyedOutlet[K, T]) scatter(recs []T, times []Time) {
	owner, shift := o.owner, o.shift
	for r := range recs {
		h := o.look.hashes[r]
		lane := int(owner[h>>shift])
		b := o.open[lane]
		if b == nil {
			b = o.openBatch(lane)
		}
		b.Recs = append(b.Recs, recs[r])
		b.Head.Hashes = append(b.Head.Hashes, h)
		if times != nil {
			b.appendTime(times[r], true)
		} else if len(b.Head.Times) > 0 {
			b.appendTime(MinTime, false)
		}
		if len(b.Recs) == cap(b.Recs) {
			o.send(lane)
		}
	}
}
