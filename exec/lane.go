package exec

import (
	"github.com/tailrace-io/tailrace/buffers"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

type link = buffers.Link[element, flow.Batch]

// lane is the producer's end of the link between two tasks. Its owner is the
// producing task.
//
// Elements that find the ring full wait in order. A task takes no input while
// any lane has some waiting, so they are bounded by what one step emits.
type lane struct {
	link     *link
	newBatch func() flow.Batch
	made     int       // batches made for this link, at most its capacity
	waiting  []element // emitted, not pushed
	consumer *thread   // who steps the consumer
	own      *thread   // who steps the producer
	ended    bool
	closed   bool
	blocked  *int // lanes of the task with elements that wait; nil for a pump's
	trace    func(event string)
	// told is the last watermark sent, idle whether the last event was idle.
	told flow.Time
	idle bool
}

func newLane(capacity int, newBatch func() flow.Batch) *lane {
	return &lane{link: buffers.NewLink[element, flow.Batch](capacity, 0), newBatch: newBatch, told: flow.MinTime}
}

// Take returns an empty batch: one that came back, or a new one. Past the
// link's credit a batch is for one use.
func (l *lane) Take() flow.Batch {
	if b, ok := l.link.TakeBuffer(); ok {
		return b
	}
	b := l.newBatch()
	if l.made < l.link.Cap() {
		l.made++
	} else {
		b.Header().OneUse = true
	}
	return b
}

// Send emits a batch.
func (l *lane) Send(b flow.Batch) { l.emit(element{batch: b}) }

func (l *lane) emit(e element) {
	if len(l.waiting) == 0 && l.link.TryPush(e) {
		l.wake()
		return
	}
	if len(l.waiting) == 0 {
		if l.blocked != nil {
			*l.blocked++
		}
		if l.trace != nil {
			l.trace("ring full")
		}
	}
	l.waiting = append(l.waiting, e)
}

// wake tells the consumer, unless it is on the same thread and will be stepped
// anyway.
func (l *lane) wake() {
	if l.consumer != l.own {
		l.consumer.wake()
	}
}

// watermark emits t, unless it says nothing new.
func (l *lane) watermark(t flow.Time) {
	if t > l.told || l.idle {
		l.told, l.idle = max(t, l.told), false
		l.emit(element{kind: watermark, time: l.told})
	}
}

// goIdle says that this producer does not hold back event time for now.
func (l *lane) goIdle() {
	if !l.idle {
		l.idle = true
		l.emit(element{kind: idle})
	}
}

// push moves waiting elements into the ring and says whether it moved any.
func (l *lane) push() (moved bool) {
	n := 0
	for n < len(l.waiting) && l.link.TryPush(l.waiting[n]) {
		n++
	}
	if n == 0 {
		return false
	}
	rest := copy(l.waiting, l.waiting[n:])
	clear(l.waiting[rest:])
	l.waiting = l.waiting[:rest]
	l.wake()
	return true
}

// end publishes the end of data, once nothing waits.
func (l *lane) end() {
	l.ended = true
	l.link.PublishEnd()
	l.wake()
}

// close says that nothing follows at all.
func (l *lane) close() {
	if l.ended && !l.closed {
		l.closed = true
		l.link.PublishClosed()
		l.wake()
	}
}

var _ env.Waker = (*thread)(nil)

// credit returns an empty batch within the link's budget, or false when all
// are in flight.
func (l *lane) credit() (flow.Batch, bool) {
	if b, ok := l.link.TakeBuffer(); ok {
		return b, true
	}
	if l.made == l.link.Cap() {
		return nil, false
	}
	l.made++
	return l.newBatch(), true
}
