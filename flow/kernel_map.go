package flow

// single is the output side of a kernel with one output port, and with dead
// letters on the port after it where the policy has them.
type single[O any] struct{ next Receiver }

func (k *single[O]) Connect(port int, to Receiver) {
	if port == 0 {
		k.next = to
	}
}

// scratch is the batch a one-to-one kernel fills: reused for each call, since
// a batch is only lent downstream.
type scratch[O any] struct{ batch BatchOf[O] }

// take returns n zeroed records, with the head of in passed on.
func (s *scratch[O]) take(n int, head *Header) []O {
	if cap(s.batch.Recs) < n {
		s.batch.Recs = make([]O, n)
	}
	s.batch.Recs = s.batch.Recs[:n]
	s.batch.Head.Times = head.Times
	s.batch.Head.Split, s.batch.Head.Pos = head.Split, head.Pos
	return s.batch.Recs
}

// drop forgets the records, so that nothing they refer to is kept alive and
// the next call finds them zeroed.
func (s *scratch[O]) drop() {
	clear(s.batch.Recs)
	s.batch.Head.Times = nil
}

// mapKernel applies a function to each record.
type mapKernel[I, O any] struct {
	single[O]
	f func(in *I, out *O)
	scratch[O]
}

func (k *mapKernel[I, O]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[I])
	recs := k.take(len(in.Recs), &in.Head)
	for i := range recs {
		k.f(&in.Recs[i], &recs[i])
	}
	err := k.next.OnBatch(0, &k.batch)
	k.drop()
	return err
}

// filterKernel passes on what keep wants. A batch that is kept whole travels
// on as it is; records are only copied after the first one dropped.
type filterKernel[T any] struct {
	single[T]
	keep func(*T) bool
	scratch[T]
	times []Time
}

func (k *filterKernel[T]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[T])
	first := 0
	for first < len(in.Recs) && k.keep(&in.Recs[first]) {
		first++
	}
	if first == len(in.Recs) {
		return k.next.OnBatch(0, in)
	}
	recs := k.take(len(in.Recs), &in.Head)
	n := copy(recs, in.Recs[:first])
	if in.timed() {
		k.times = append(k.times[:0], in.Head.Times[:first]...)
		for i := first + 1; i < len(in.Recs); i++ {
			if r := &in.Recs[i]; k.keep(r) {
				recs[n] = *r
				n++
				k.times = append(k.times, in.Head.Times[i])
			}
		}
		k.batch.Head.Times = k.times
	} else {
		for i := first + 1; i < len(in.Recs); i++ {
			if r := &in.Recs[i]; k.keep(r) {
				recs[n] = *r
				n++
			}
		}
	}
	return k.sendFirst(k.next, n)
}

// tryMapKernel is mapKernel with a function that can fail.
type tryMapKernel[I, O any] struct {
	single[O]
	failures[I]
	f func(in *I, out *O) error
	scratch[O]
	times []Time
	at    int // where to go on after ErrPending
}

func newTryMap[I, O any](f func(in *I, out *O) error, p policy, inst *Instance) *tryMapKernel[I, O] {
	k := &tryMapKernel[I, O]{f: f}
	k.failures.init(p, inst, 1)
	return k
}

func (k *tryMapKernel[I, O]) Connect(port int, to Receiver) {
	k.single.Connect(port, to)
	k.failures.connect(port, to)
}

func (k *tryMapKernel[I, O]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[I])
	if k.waits() {
		return ErrPending
	}
	recs := k.take(len(in.Recs)-k.at, &in.Head)
	k.times = k.times[:0]
	timed, n := in.timed(), 0
	var failed error
	for ; k.at < len(in.Recs); k.at++ {
		err := k.f(&in.Recs[k.at], &recs[n])
		if err == nil {
			k.passed()
			n++
			if timed {
				k.times = append(k.times, in.Head.Times[k.at])
			}
			continue
		}
		var zero O
		recs[n] = zero
		if failed = k.handle(err, &in.Recs[k.at], nil, in.time(k.at), timed); failed != nil {
			break
		}
	}
	k.batch.Head.Times = k.times
	if failed == nil {
		k.at = 0
	}
	if err := k.sendFirst(k.next, n); err != nil {
		return err
	}
	return failed
}

// sendFirst passes the first n records on and forgets them all.
func (s *scratch[O]) sendFirst(next Receiver, n int) (err error) {
	all := s.batch.Recs
	if n > 0 {
		s.batch.Recs = all[:n]
		err = next.OnBatch(0, &s.batch)
	}
	s.batch.Recs = all
	s.drop()
	return err
}

// passKernel passes batches on.
type passKernel[T any] struct{ single[T] }

func (k *passKernel[T]) OnBatch(_ int, b Batch) error { return k.next.OnBatch(0, b) }
