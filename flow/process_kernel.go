package flow

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tailrace-io/tailrace/internal/table"
)

// processorCore is the part of a processor's kernel that knows neither keys
// nor input records: where results go, what the processor needs from outside,
// what it remembers, and its end.
type processorCore[O any] struct {
	inst      *Instance
	out       Out[O]
	states    *States
	opener    Opener
	closer    io.Closer
	onEnd     EndHandler[O]
	completes CompletionHandler
}

// adopt finds out what else the processor p is.
func (k *processorCore[O]) adopt(p any) {
	k.opener, _ = p.(Opener)
	k.closer, _ = p.(io.Closer)
	k.onEnd, _ = p.(EndHandler[O])
	k.completes, _ = p.(CompletionHandler)
}

func (k *processorCore[O]) connect(port int, to Receiver) {
	if port == 0 {
		k.out.init(k.inst.BatchSize, to)
	}
}

func (k *processorCore[O]) Open(ctx context.Context) error {
	if k.opener == nil {
		return nil
	}
	return k.opener.Open(ctx)
}

func (k *processorCore[O]) Close() error {
	if k.closer == nil {
		return nil
	}
	return k.closer.Close()
}

// OnEnd calls the EndHandler. The engine calls it when no timer is left.
func (k *processorCore[O]) OnEnd(int) (more bool, err error) {
	if k.onEnd == nil {
		return false, nil
	}
	k.states.turn(0)
	k.out.begin(MaxTime, true)
	err = k.onEnd.OnEndOfData(&k.out)
	k.states.returned()
	if err != nil {
		k.out.takeBack()
		return false, k.out.flushThen(fmt.Errorf("at the end of data: %w", err))
	}
	k.out.end()
	return false, k.out.flush()
}

func (k *processorCore[O]) OnCheckpointComplete(id CheckpointID) error {
	if k.completes == nil {
		return nil
	}
	return k.completes.OnCheckpointComplete(id)
}

func (k *processorCore[O]) StateBytes() int64 { return k.states.bytes() }
func (k *processorCore[O]) CloseState()       { k.states.close() }

// keyedCore is a processorCore with keys, and timers if the processor has
// OnTimer.
type keyedCore[K comparable, O any] struct {
	processorCore[O]
	ctx     keyCtx[K]
	as      Ctx[K] // &ctx
	onTimer TimerHandler[K, O]
	timers  *timers[K]
	codec   Codec[K]
	hash    func(*K) uint64
	atEnd   TimersAtEnd
	// The functions that fire one timer, made once.
	fireEvent, fireClock func(at int64, h uint64, key K, tag uint32) error
}

func (k *keyedCore[K, O]) init(inst *Instance, atEnd TimersAtEnd, hash func(*K) uint64) {
	k.inst, k.atEnd, k.hash = inst, atEnd, hash
	k.ctx.inst, k.as = inst, &k.ctx
	inst.Key = func() string {
		if !k.ctx.hand.Held {
			return ""
		}
		return fmt.Sprint(k.ctx.hand.Key)
	}
	k.fireEvent = func(at int64, h uint64, key K, tag uint32) error {
		return k.fire(Time(at), true, h, key, tag)
	}
	k.fireClock = func(_ int64, h uint64, key K, tag uint32) error {
		return k.fire(k.inst.Watermark, k.inst.Watermark != MinTime, h, key, tag)
	}
}

func (k *keyedCore[K, O]) adopt(p any) {
	k.processorCore.adopt(p)
	if k.onTimer, _ = p.(TimerHandler[K, O]); k.onTimer != nil {
		k.timers = newTimers[K]()
		k.ctx.timers = k.timers
	}
}

// take takes the key of record i in hand.
func (k *keyedCore[K, O]) take(key K, at Time) *KeyInHand[K] {
	hand := &k.ctx.hand
	hand.Key, hand.Held = key, true
	k.ctx.at = at
	return hand
}

// letGo says that no key is in hand.
func (k *keyedCore[K, O]) letGo() { k.ctx.hand = KeyInHand[K]{} }

// fire calls OnTimer; its results have the event time at.
func (k *keyedCore[K, O]) fire(at Time, timed bool, h uint64, key K, tag uint32) error {
	k.take(key, at).Hash = h
	name := k.timers.tags.names[tag]
	k.out.begin(at, timed)
	err := k.onTimer.OnTimer(k.as, name, &k.out)
	k.states.returned()
	if err != nil {
		k.out.takeBack()
		return fmt.Errorf("timer %q: %w", name, err)
	}
	k.out.end()
	return nil
}

// fired ends a slice of timers. After an error the key stays in hand, for the
// error's sake.
func (k *keyedCore[K, O]) fired(more bool, err error) (bool, error) {
	if err != nil {
		return more, k.out.flushThen(err)
	}
	k.letGo()
	return more, k.out.flush()
}

func (k *keyedCore[K, O]) FireEventTimers(budget int) (more bool, err error) {
	if k.timers == nil {
		return false, nil
	}
	k.states.turn(0)
	return k.fired(k.timers.event.Fire(int64(k.inst.Watermark), budget, k.fireEvent))
}

func (k *keyedCore[K, O]) FireClockTimers(now time.Time, budget int) (more bool, err error) {
	if k.timers == nil {
		return false, nil
	}
	k.states.turn(0)
	return k.fired(k.timers.clock.Fire(now.UnixMicro(), budget, k.fireClock))
}

func (k *keyedCore[K, O]) NextClockTimer() (at time.Time, ok bool) {
	if k.timers == nil {
		return at, false
	}
	micros, ok := k.timers.clock.Next()
	return time.UnixMicro(micros), ok
}

// EndClockTimers drops, fires or awaits the processing-time timers. When it is
// done, none is taken any more.
func (k *keyedCore[K, O]) EndClockTimers(now time.Time, budget int) (until time.Time, wait, more bool, err error) {
	t := k.timers
	if t == nil {
		return until, false, false, nil
	}
	switch k.atEnd.kind {
	case fireTimers:
		t.clockEnded = true
		more, err = k.fired(t.clock.Fire(math.MaxInt64, budget, k.fireClock))
	case awaitTimers:
		if t.awaitUntil.IsZero() {
			t.awaitUntil = now.Add(k.atEnd.max)
		}
		if more, err = k.FireClockTimers(now, budget); more || err != nil {
			return until, false, more, err
		}
		if at, ok := k.NextClockTimer(); ok && !at.After(t.awaitUntil) {
			return at, true, false, nil
		}
	}
	if !more && err == nil {
		t.clockEnded = true
		t.clock = table.NewTimers[K]()
	}
	return until, false, more, err
}

func (k *keyedCore[K, O]) StateBytes() int64 {
	if k.timers == nil {
		return k.states.bytes()
	}
	return k.states.bytes() + k.timers.bytes()
}

func (k *keyedCore[K, O]) CloseState() {
	k.states.close()
	k.timers, k.ctx.timers = nil, nil
}
