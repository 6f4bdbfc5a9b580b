package flow

import (
	"fmt"
	"reflect"
)

// Out is where an operator puts its results. It belongs to one task and is
// valid during the call it was passed to.
//
// The results of one call stay together until the call has returned: an error
// return takes all of them back, wherever a batch happened to end.
type Out[T any] struct {
	recs  []T    // recs[n:] is zeroed
	n     int    // results so far
	call  int    // where the results of this call begin
	times []Time // when stamped, times[i] for i < call
	// stamped says that the batch being filled has event times.
	stamped bool
	at      Time // event time of this call's results
	timed   bool // whether they have one
	err     error
	next    Receiver
	batch   BatchOf[T]
}

func (o *Out[T]) init(want int, next Receiver) {
	o.recs, o.next = make([]T, BatchSize(want, reflect.TypeFor[T]().Size())), next
	o.batch.Head.Split = -1
}

// Emit adds v, copied, to the results.
func (o *Out[T]) Emit(v T) { *o.Slot() = v }

// Slot adds a zeroed record to the results and returns it to be filled in
// place. It is valid until the next Slot or Emit, or the end of the call.
func (o *Out[T]) Slot() *T {
	if o.n == len(o.recs) {
		o.makeRoom()
	}
	p := &o.recs[o.n]
	o.n++
	return p
}

// Undo takes the last Slot or Emit of this call back. Without one it does
// nothing.
func (o *Out[T]) Undo() {
	if o.n > o.call {
		o.n--
		var zero T
		o.recs[o.n] = zero
	}
}

// SetTime sets the event time of all results of this call, instead of the
// input's.
func (o *Out[T]) SetTime(t Time) { o.at, o.timed = t, true }

// begin starts a call whose results have the given event time.
func (o *Out[T]) begin(at Time, timed bool) { o.call, o.at, o.timed = o.n, at, timed }

// end closes a call: its results are stamped and can't be taken back.
func (o *Out[T]) end() {
	if o.timed || o.stamped {
		o.stampCall()
	}
	o.call = o.n
}

func (o *Out[T]) stampCall() {
	if !o.stamped {
		o.stamped = true
		o.times = o.times[:0]
		for range o.call {
			o.times = append(o.times, MinTime)
		}
	}
	at := o.at
	if !o.timed {
		at = MinTime
	}
	for len(o.times) < o.n {
		o.times = append(o.times, at)
	}
}

// takeBack drops the results of the call in progress.
func (o *Out[T]) takeBack() {
	clear(o.recs[o.call:o.n])
	o.n = o.call
}

// makeRoom sends what earlier calls left, or grows when this call has filled
// the whole batch by itself.
func (o *Out[T]) makeRoom() {
	if o.call == 0 {
		bigger := make([]T, 2*len(o.recs))
		copy(bigger, o.recs)
		o.recs = bigger
		return
	}
	rest := o.n - o.call
	o.send(o.call)
	copy(o.recs, o.recs[o.call:o.n])
	clear(o.recs[rest:o.n])
	o.n, o.call = rest, 0
}

// send passes on the first n results, which stay in place.
func (o *Out[T]) send(n int) {
	if n == 0 {
		return
	}
	o.batch.Recs = o.recs[:n]
	o.batch.Head.Times = nil
	if o.stamped {
		o.batch.Head.Times = o.times[:n]
	}
	if o.err == nil {
		o.err = o.next.OnBatch(0, &o.batch)
	}
	o.times, o.stamped = o.times[:0], false
}

// flush passes on all results and returns the first error met downstream.
func (o *Out[T]) flush() error {
	o.send(o.n)
	clear(o.recs[:o.n])
	o.n, o.call = 0, 0
	return o.err
}

// BatchOut is where a whole-batch operator puts its results: each is the
// result of one record of its input and has the event time of that record.
type BatchOut[T any] struct {
	out    Out[T]
	inputs int    // records of the input
	times  []Time // theirs; empty when they have none
	last   int
}

// Slot adds a zeroed result of input i, to be filled in place; i never goes
// back. It is valid until the next Slot or Emit, or the end of the call.
func (o *BatchOut[T]) Slot(i int) *T {
	if i < o.last || i >= o.inputs {
		o.refuse(i)
	}
	o.last = i
	p := o.out.Slot()
	if len(o.times) > 0 {
		o.out.stamped = true
		o.out.times = append(o.out.times, o.times[i])
	}
	return p
}

func (o *BatchOut[T]) refuse(i int) {
	if i < o.last {
		panic(fmt.Sprintf("flow: BatchOut.Slot(%d): the index of the input went back, from %d", i, o.last))
	}
	panic(fmt.Sprintf("flow: BatchOut.Slot(%d): the batch has %d inputs", i, o.inputs))
}

// Emit adds v as a result of input i; i never goes back.
func (o *BatchOut[T]) Emit(i int, v T) { *o.Slot(i) = v }
