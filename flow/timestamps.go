package flow

import (
	"fmt"
	"time"
)

// Watermarks says how far event times may be out of order, and when a split
// that delivers nothing stops holding back the others.
type Watermarks struct {
	disorder time.Duration
	idle     time.Duration
}

// Ascending is for splits whose event times never go back.
func Ascending() Watermarks { return Watermarks{} }

// BoundedDisorder is for splits in which a record is at most d older than the
// newest one before it.
func BoundedDisorder(d time.Duration) Watermarks { return Watermarks{disorder: d} }

// Idle stops a split that delivers nothing for that long from holding back
// the watermark, until it delivers again.
func (w Watermarks) Idle(after time.Duration) Watermarks {
	w.idle = after
	return w
}

// String says it for people.
func (w Watermarks) String() string {
	text := "ascending"
	if w.disorder > 0 {
		text = fmt.Sprintf("disorder up to %v", w.disorder)
	}
	if w.idle > 0 {
		text += fmt.Sprintf(", idle after %v", w.idle)
	}
	return text
}

// below is the watermark of a split whose newest record is at t. It is never
// MaxTime, which would be the end of data.
func (w Watermarks) below(t Time) Time {
	most := Time(w.disorder / time.Microsecond)
	if w.disorder%time.Microsecond > 0 {
		most++ // times are whole microseconds, so they can differ by one more
	}
	if t <= MinTime+most {
		return MinTime
	}
	return t - most - 1
}

// Timestamps gives each record an event time and makes watermarks. It stands
// straight after Read: each split is tracked by itself, and a split that is
// not yet begun holds the watermark back.
func Timestamps[T any](s Stream[T], name string, at func(*T) Time, wm Watermarks) Stream[T] {
	n := unary(s, "timestamps", name, settings{})
	n.required("function", at == nil)
	if s.node.Kind != "read" || s.part != Forward {
		n.fault("Timestamps must stand straight after Read, where splits can still be told apart; its input is the %s %q", s.node.Kind, s.node.Name)
	}
	if wm.disorder < 0 {
		n.fault("BoundedDisorder(%v): must not be negative", wm.disorder)
	}
	if wm.idle < 0 {
		n.fault("Idle(%v): must not be negative", wm.idle)
	}
	n.Parallelism, n.MaxParallelism = s.node.Parallelism, s.node.MaxParallelism
	n.Timestamps = true
	n.detail = wm.String()
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		return &timestampKernel[T]{at: at, wm: wm, inst: inst, splits: map[int]*splitTime{}, told: MinTime}, nil
	}
	return out[T](s.g, n)
}

// timestampKernel stamps records and tracks the watermark of each split.
type timestampKernel[T any] struct {
	single[T]
	at     func(*T) Time
	wm     Watermarks
	inst   *Instance
	splits map[int]*splitTime
	times  []Time
	batch  BatchOf[T]
	told   Time // the watermark never goes back
}

// splitTime is what is known of the event time of one split.
type splitTime struct {
	newest Time
	heard  time.Time // when it last delivered
}

func (k *timestampKernel[T]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[T])
	s := k.splits[in.Head.Split]
	newest := s.newest
	k.times = k.times[:0]
	for i := range in.Recs {
		t := k.at(&in.Recs[i])
		if t > newest {
			newest = t
		}
		k.times = append(k.times, t)
	}
	s.newest = newest
	if k.wm.idle > 0 {
		s.heard = k.inst.Now()
	}
	k.batch.Recs, k.batch.Head = in.Recs, in.Head
	k.batch.Head.Times = k.times
	err := k.next.OnBatch(0, &k.batch)
	k.batch.Recs = nil
	return err
}

func (k *timestampKernel[T]) SplitBegins(split int) {
	k.splits[split] = &splitTime{newest: MinTime, heard: k.inst.Now()}
}

func (k *timestampKernel[T]) SplitEnds(split int) { delete(k.splits, split) }

// NextWatermark is one microsecond below the oldest time that may still come:
// a watermark of t says that no record at or before t follows.
func (k *timestampKernel[T]) NextWatermark(now time.Time, pending bool) (Time, bool, time.Time) {
	var until time.Time
	if pending {
		return k.told, false, until
	}
	least, active := MaxTime, 0
	for _, s := range k.splits {
		if k.wm.idle > 0 {
			if quiet := s.heard.Add(k.wm.idle); now.Before(quiet) {
				if until.IsZero() || quiet.Before(until) {
					until = quiet
				}
			} else {
				continue
			}
		}
		active++
		least = min(least, s.newest)
	}
	if active == 0 {
		return k.told, true, until
	}
	k.told = max(k.told, k.wm.below(least))
	return k.told, false, until
}
