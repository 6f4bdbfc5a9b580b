package flow

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// AsyncMap applies f to each record on goroutines of its own, for calls that
// wait (HTTP, SQL): at most concurrency at a time in each task. Results keep
// the order of the records unless Unordered. f fills out, which comes zeroed;
// its context ends with the job, and after Timeout when that is set.
func AsyncMap[I, O any](s Stream[I], name string, concurrency int, f func(ctx context.Context, in *I, out *O) error, opts ...AsyncOption) Stream[O] {
	set := applyAll(opts)
	n := fallible[I](unary(s, "async map", name, set))
	n.required("function", f == nil)
	n.MustHead = true
	n.detail = fmt.Sprintf("%d calls at a time", concurrency)
	if set.unordered {
		n.detail += ", unordered"
	}
	if concurrency < 1 {
		n.fault("concurrency %d: must be at least 1", concurrency)
		concurrency = 1
	}
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		k := &asyncKernel[I, O]{inst: inst, unordered: set.unordered, slots: make([]asyncSlot[I, O], concurrency)}
		k.dead.init(n.policy, inst, 1)
		for i := range k.slots {
			s := &k.slots[i]
			s.f, s.timeout, s.wake = f, set.timeout, inst.WakeTask
			s.init(n.policy, inst, 1)
			k.free = append(k.free, i)
		}
		return k, nil
	}
	return out[O](s.g, n)
}

// slotState is who may touch a slot's record: the task, but while it is Asked
// its caller.
//
//	free      -> asked     the task gives it a record
//	asked     -> answered  the caller has called the function
//	answered  -> free      the task has passed the answer on
//	answered  -> retrying  the function failed and is to be called again later
//	retrying  -> asked     its time has come
type slotState uint32

const (
	slotFree slotState = iota
	slotAsked
	slotAnswered
	slotRetrying
)

// asyncSlot is one call that is out.
type asyncSlot[I, O any] struct {
	// state: Owner: the task, while asked the caller.  Publishes: in, out, err.
	// Observed by: the other.
	state   atomic.Uint32
	f       func(ctx context.Context, in *I, out *O) error
	timeout time.Duration
	wake    func()
	in      I
	out     O
	err     error

	failures[I]
	seq   uint64
	at    Time
	timed bool
}

func (s *asyncSlot[I, O]) is() slotState    { return slotState(s.state.Load()) }
func (s *asyncSlot[I, O]) set(st slotState) { s.state.Store(uint32(st)) }

// Call calls the function if a record waits for it.
func (s *asyncSlot[I, O]) Call(ctx context.Context) bool {
	if s.is() != slotAsked {
		return false
	}
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	s.err = s.f(ctx, &s.in, &s.out)
	s.set(slotAnswered)
	s.wake()
	return true
}

// asyncKernel hands records to slots and passes answers on.
type asyncKernel[I, O any] struct {
	inst      *Instance
	dead      failures[I] // for its connection to the dead letters
	out       Out[O]
	slots     []asyncSlot[I, O]
	free      []int
	queue     []int // slots that are out, oldest record first
	unordered bool
	seq       uint64 // records taken
	at        int    // where to go on in the batch after ErrPending
	times     []heldTime
	reached   Time
}

// heldTime is event time that waits for the records before it.
type heldTime struct {
	time Time
	seq  uint64 // all records below it must have been answered
}

func (k *asyncKernel[I, O]) Connect(port int, to Receiver) {
	if port == 0 {
		k.reached = MinTime
		k.out.init(k.inst.BatchSize, to)
	}
	for i := range k.slots {
		k.slots[i].connect(port, to)
	}
}

func (k *asyncKernel[I, O]) Callers() []Caller {
	all := make([]Caller, len(k.slots))
	for i := range k.slots {
		all[i] = &k.slots[i]
	}
	return all
}

func (k *asyncKernel[I, O]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[I])
	for ; k.at < len(in.Recs); k.at++ {
		if len(k.free) == 0 {
			if _, err := k.Resume(); err != nil {
				return err
			}
			if len(k.free) == 0 {
				return ErrPending
			}
		}
		k.ask(in, k.at)
	}
	k.at = 0
	return nil
}

func (k *asyncKernel[I, O]) ask(in *BatchOf[I], i int) {
	slot := k.free[len(k.free)-1]
	k.free = k.free[:len(k.free)-1]
	k.queue = append(k.queue, slot)
	s := &k.slots[slot]
	s.in, s.at, s.timed, s.seq = in.Recs[i], in.time(i), in.timed(), k.seq
	k.seq++
	k.call(slot)
}

func (k *asyncKernel[I, O]) call(slot int) {
	s := &k.slots[slot]
	var zero O
	s.out, s.err = zero, nil
	s.set(slotAsked)
	k.inst.WakeCaller(slot)
}

// Resume passes on the answers there are, in order unless unordered, and asks
// again where it is time to.
func (k *asyncKernel[I, O]) Resume() (progress bool, err error) {
	kept, blocked := k.queue[:0], false
	for i, slot := range k.queue {
		s := &k.slots[slot]
		if s.is() == slotRetrying && !s.waits() {
			k.call(slot)
			progress = true
		}
		if blocked || s.is() != slotAnswered {
			blocked = blocked || !k.unordered
			kept = append(kept, slot)
			continue
		}
		progress = true
		done, err := k.answer(s)
		if err != nil {
			k.queue = append(kept, k.queue[i:]...)
			return true, k.out.flushThen(err)
		}
		if !done {
			blocked = blocked || !k.unordered
			kept = append(kept, slot)
			continue
		}
		k.free = append(k.free, slot)
	}
	k.queue = kept
	return progress, k.out.flush()
}

// answer passes one answer on; done is false when the call is to be made again.
func (k *asyncKernel[I, O]) answer(s *asyncSlot[I, O]) (done bool, err error) {
	if s.err != nil {
		switch err := s.handle(s.err, &s.in, nil, s.at, s.timed); err {
		case nil:
		case ErrPending:
			s.set(slotRetrying)
			return false, nil
		default:
			return false, err
		}
	} else {
		s.passed()
		k.out.begin(s.at, s.timed)
		*k.out.Slot() = s.out
		k.out.end()
	}
	var in I
	var result O
	s.in, s.out = in, result
	s.set(slotFree)
	return true, nil
}

// Due is when the first call that failed may be made again.
func (k *asyncKernel[I, O]) Due() (at time.Time, ok bool) {
	for _, slot := range k.queue {
		s := &k.slots[slot]
		if due, waits := s.failures.Due(); s.is() == slotRetrying && waits && (!ok || due.Before(at)) {
			at, ok = due, true
		}
	}
	return at, ok
}

func (k *asyncKernel[I, O]) Outstanding() bool { return len(k.queue) > 0 }

// Reach lets event time pass when all records before it have been answered.
func (k *asyncKernel[I, O]) Reach(t Time) Time {
	if n := len(k.times); t > k.reached && (n == 0 || k.times[n-1].time < t) {
		k.times = append(k.times, heldTime{t, k.seq})
	}
	oldest := k.seq
	for _, slot := range k.queue {
		oldest = min(oldest, k.slots[slot].seq)
	}
	passed := 0
	for passed < len(k.times) && k.times[passed].seq <= oldest {
		k.reached = k.times[passed].time
		passed++
	}
	k.times = append(k.times[:0], k.times[passed:]...)
	return k.reached
}
