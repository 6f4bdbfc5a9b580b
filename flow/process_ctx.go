package flow

import (
	"fmt"
	"time"
)

// taskCtx is the TaskCtx of one task, the same for all calls.
type taskCtx struct {
	inst *Instance
	at   Time
}

func (c *taskCtx) Timestamp() Time { return c.at }
func (c *taskCtx) Watermark() Time { return c.inst.Watermark }
func (c *taskCtx) Now() time.Time  { return c.inst.Now() }

// keyCtx is the Ctx of one task.
type keyCtx[K comparable] struct {
	taskCtx
	hand   KeyInHand[K]
	timers *timers[K] // nil when the processor has no OnTimer
}

func (c *keyCtx[K]) Key() K { return c.hand.Key }

func (c *keyCtx[K]) SetTimer(at Time, tag string) {
	t := c.mayUse("SetTimer")
	if at == MinTime {
		panic("SetTimer at the beginning of time: the records have no event times; add flow.Timestamps straight after Read")
	}
	t.event.Set(int64(at), c.hand.Hash, c.hand.Key, t.tags.id(tag, t))
}

func (c *keyCtx[K]) ClearTimer(at Time, tag string) {
	t := c.mayUse("ClearTimer")
	if id, ok := t.tags.known(tag); ok {
		t.event.Clear(int64(at), c.hand.Hash, c.hand.Key, id)
	}
}

func (c *keyCtx[K]) SetProcessingTimer(at time.Time, tag string) {
	if t := c.mayUse("SetProcessingTimer"); !t.clockEnded {
		t.clock.Set(microsAfter(at), c.hand.Hash, c.hand.Key, t.tags.id(tag, t))
	}
}

func (c *keyCtx[K]) ClearProcessingTimer(at time.Time, tag string) {
	t := c.mayUse("ClearProcessingTimer")
	if id, ok := t.tags.known(tag); ok {
		t.clock.Clear(microsAfter(at), c.hand.Hash, c.hand.Key, id)
	}
}

// mayUse returns the timers, for a call that has a key in hand.
func (c *keyCtx[K]) mayUse(what string) *timers[K] {
	switch {
	case c.timers == nil:
		panic(fmt.Sprintf("flow: %s: the processor of operator %q has no method OnTimer", what, c.inst.Task.Operator))
	case !c.hand.Held:
		panic(fmt.Sprintf("flow: %s: no key in hand: a Ctx is valid during the call it is passed to", what))
	}
	return c.timers
}

// microsAfter is t in microseconds since the epoch, rounded up: a timer never
// fires too early.
func microsAfter(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }
