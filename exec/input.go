package exec

import (
	"github.com/tailrace-io/tailrace/buffers"
	"github.com/tailrace-io/tailrace/flow"
)

// input is the consumer's end of the link between two tasks. Its owner is the
// consuming task.
type input struct {
	link     *link
	port     int
	producer *thread
	own      *thread
	sight    buffers.Sight
	wm       flow.Time
	idle     bool
	ended    bool // the end of data was consumed
}

// look sees what the producer has published. Nothing is consumed that the last
// look did not see.
func (in *input) look() { in.sight = in.link.Look(0) }

// atEnd says whether everything before the end of data was consumed.
func (in *input) atEnd() bool {
	return !in.ended && in.sight.Ended && in.link.ReadSeq() == in.sight.EndSeq
}

// finish consumes the end of data and tells the producer.
func (in *input) finish() {
	in.ended = true
	in.link.Ack()
	in.wake()
}

func (in *input) wake() {
	if in.producer != in.own {
		in.producer.wake()
	}
}

// roomMade wakes a producer that may wait for a slot, once half of the ring
// that the last look saw is consumed: a producer woken for each slot would
// wait again at once.
func (in *input) roomMade() {
	if in.sight.WriteSeq-in.link.ReadSeq() <= uint64(in.link.Cap()/2) {
		in.wake()
	}
}

// release gives a batch back to its producer, emptied.
func (in *input) release(b flow.Batch) {
	if !b.Header().OneUse {
		b.Reset()
		in.link.GiveBack(b)
	}
	in.roomMade()
}

// merged is the event time of several inputs: the least of those that are
// neither ended nor idle. allIdle says that there is none of these, but some
// that may still come.
func merged(inputs []*input) (wm flow.Time, allIdle bool) {
	wm = flow.MaxTime
	active, idle := 0, 0
	for _, in := range inputs {
		switch {
		case in.ended:
		case in.idle:
			idle++
		default:
			active++
			wm = min(wm, in.wm)
		}
	}
	if active == 0 && idle > 0 {
		return flow.MinTime, true
	}
	return wm, false
}
