package main

import (
	"context"
	"errors"
	"sync"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/flow"
)

// twinOptions are the variants of a twin.
type twinOptions struct {
	batch int
	start func(lane int, f func())
	wait  func() // when the source has nothing due
}

// twinLanes is the parallelism of the twins that use more than one core.
const twinLanes = 2

// starts are the two ways to start a goroutine of a twin.
var starts = []struct {
	name string
	run  func(lane int, f func())
}{{"free", harness.GoFree}, {"pinned", harness.GoPinned}}

// target is the lane that a key belongs to, in a twin.
func target(key uint64) int { return int(harness.Mix(key) >> 63) }

// box is a batch that goes back to where it came from: twins recycle what they
// send, as any engineer would who looked at a profile.
type box[T any] struct {
	recs []T
	home chan *box[T]
}

func newBoxes[T any](n, batch int) chan *box[T] {
	home := make(chan *box[T], n)
	for range n {
		home <- &box[T]{recs: make([]T, 0, batch), home: home}
	}
	return home
}

// scatter sends records to lanes, in boxes of one producer.
type scatter[T any] struct {
	to    []chan *box[T]
	empty chan *box[T]
	open  []*box[T] // by lane
}

func newScatter[T any](to []chan *box[T], batch int) *scatter[T] {
	s := &scatter[T]{to: to, empty: newBoxes[T]((hopDepth+1)*len(to), batch), open: make([]*box[T], len(to))}
	for lane := range to {
		s.open[lane] = <-s.empty
	}
	return s
}

// slot is where the next record for a lane goes. It is good until the next slot.
func (s *scatter[T]) slot(lane int) *T {
	b := s.open[lane]
	if len(b.recs) == cap(b.recs) {
		b = s.turn(lane)
	}
	n := len(b.recs)
	b.recs = b.recs[:n+1]
	return &b.recs[n]
}

// turn sends the open box of a lane and opens another.
func (s *scatter[T]) turn(lane int) *box[T] {
	s.to[lane] <- s.open[lane]
	b := <-s.empty
	b.recs = b.recs[:0]
	s.open[lane] = b
	return b
}

// flush sends what is open.
func (s *scatter[T]) flush() {
	for lane, b := range s.open {
		if len(b.recs) > 0 {
			s.turn(lane)
		}
	}
}

// lanes runs a producer and a consumer for each lane. The producers of all
// lanes send to the channel of each consumer, which is closed when the last
// producer has ended. It returns when all have, with their errors.
func lanes[T any](o twinOptions, capacity int, produce func(lane int, to []chan T) error, consume func(lane int, from chan T) error) error {
	to := make([]chan T, twinLanes)
	for i := range to {
		to[i] = make(chan T, capacity)
	}
	errs := make(chan error, 2*twinLanes)
	var producers sync.WaitGroup
	producers.Add(twinLanes)
	for lane := range twinLanes {
		o.start(lane, func() {
			defer producers.Done()
			errs <- produce(lane, to)
		})
		o.start(lane, func() { errs <- consume(lane, to[lane]) })
	}
	producers.Wait()
	for _, c := range to {
		close(c)
	}
	var all error
	for range 2 * twinLanes {
		all = errors.Join(all, <-errs)
	}
	return all
}

// both runs f for each lane at the same time and returns when all have ended.
func both(start func(int, func()), f func(lane int) error) error {
	errs := make(chan error, twinLanes)
	for lane := range twinLanes {
		start(lane, func() { errs <- f(lane) })
	}
	var all error
	for range twinLanes {
		all = errors.Join(all, <-errs)
	}
	return all
}

// gather takes items from a channel until it is closed and passes them on in
// batches: as many as are there without waiting, up to hopBatch. It goes on after an error
// of pass, so that nobody blocks on the channel, and returns the first one.
func gather[T any](items <-chan T, pass func([]T) error) error {
	var failed error
	batch := make([]T, 0, hopBatch)
	for first := range items {
		batch = append(batch[:0], first)
		for more := true; more && len(batch) < hopBatch; {
			select {
			case e, ok := <-items:
				if more = ok; ok {
					batch = append(batch, e)
				}
			default:
				more = false
			}
		}
		if err := pass(batch); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// eventsDone closes the only lane of a twin and takes its answer.
func eventsDone(ctx context.Context, src *source[event], sink *sink[event], in flow.Reader[event], w *writer[event]) (harness.Answer, error) {
	if err := errors.Join(in.Close(), w.finish(ctx)); err != nil {
		return harness.Answer{}, err
	}
	return sink.answer(src.read.Load()), nil
}
