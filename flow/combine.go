package flow

import "reflect"

// Records of an aggregation that can merge are aggregated before they are
// exchanged: each producer keeps a small table of accumulators, and what
// travels are partial accumulators. A hot key then costs one record for each
// batch of its occurrences, not one for each.

// partial is an accumulator on its way to the task that owns its key.
type partial[K comparable, A any] struct {
	key K
	acc A
}

const (
	// combineSlots is the first size of a producer's table: small enough for
	// the second-level cache with accumulators of a few words. Where the keys
	// do not fit it grows, up to combineBytes.
	combineSlots = 4096
	combineBytes = 4 << 20
	// combineWindow is how many records pass between two decisions whether
	// combining is worth it.
	combineWindow = 64 << 10
	// combineSkip is how many windows pass without it before it is tried again.
	combineSkip = 15
)

// combineBeforeExchange makes e carry partial accumulators wherever it is a
// real exchange.
func combineBeforeExchange[K comparable, T, A, R any](e *Edge, k Keyed[K, T], a Aggregator[T, A, R]) {
	e.Combines = true
	plain := e.NewOutlet
	raw := e.NewBatch
	size := reflect.TypeFor[partial[K, A]]().Size()
	e.NewBatch = func(part Partition, want int) Batch {
		if part != ByKey {
			return raw(part, want)
		}
		return NewBatch[partial[K, A]](BatchSize(want, size))
	}
	e.NewOutlet = func(lanes []Lane, owner []uint16, part Partition, inst *Instance) Outlet {
		if part != ByKey {
			return plain(lanes, owner, part, inst)
		}
		c := &combineOutlet[K, T, A, R]{keyed: k, agg: a, owner: owner, shift: groupShift(len(owner)), combining: true}
		c.outlet = *newOutlet[partial[K, A]](lanes, ByKey, 0)
		c.resize(combineSlots)
		return c
	}
}

type combineSlot[K comparable, A any] struct {
	hash uint64
	used bool
	partial[K, A]
}

// combineOutlet is a table of accumulators in front of an exchange. A key has
// two places; a record that finds other keys in both sends one of them on.
// Where few records meet their key, the table grows; at its largest, it stops
// combining for a while and sends each record as an accumulator of one.
type combineOutlet[K comparable, T, A, R any] struct {
	outlet[partial[K, A]]
	keyed     Keyed[K, T]
	agg       Aggregator[T, A, R]
	owner     []uint16
	shift     uint
	slots     []combineSlot[K, A]
	mask      uint64
	held      int
	look      lookAhead[K]
	combining bool
	seen, met int // in this window
	skip      int
}

func (o *combineOutlet[K, T, A, R]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[T])
	o.seen += len(in.Recs)
	if o.seen >= combineWindow {
		o.decide()
	}
	if !o.combining {
		o.passOn(in.Recs)
		return nil
	}
	for from := 0; from < len(in.Recs); from += ahead {
		o.combine(in.Recs[from:min(from+ahead, len(in.Recs))])
	}
	return nil
}

// combine adds each record to the accumulator of its key.
func (o *combineOutlet[K, T, A, R]) combine(recs []T) {
	lookAt(&o.look, &o.keyed, recs, nil)
	for i := range recs {
		key, h := o.look.keys[i], o.look.hashes[i]
		s := &o.slots[h&o.mask]
		if s.used && s.hash == h && s.key == key {
			o.met++
		} else if s = o.second(s, h); s.used && s.hash == h && s.key == key {
			o.met++
		} else {
			o.replace(s, h, key)
		}
		o.agg.Add(&s.acc, &recs[i])
	}
}

// second returns the place of a key that its first place does not hold: the
// other one if it holds the key or the first is taken, else the first.
func (o *combineOutlet[K, T, A, R]) second(first *combineSlot[K, A], h uint64) *combineSlot[K, A] {
	if !first.used {
		return first
	}
	return &o.slots[h&o.mask^1]
}

// resize makes an empty table.
func (o *combineOutlet[K, T, A, R]) resize(slots int) {
	o.slots, o.mask = make([]combineSlot[K, A], slots), uint64(slots-1)
}

// replace sends what s holds on and gives it to key.
func (o *combineOutlet[K, T, A, R]) replace(s *combineSlot[K, A], h uint64, key K) {
	if s.used {
		p := o.room(s.hash)
		*p = s.partial
	} else {
		o.held++
	}
	s.hash, s.used, s.key = h, true, key
	var zero A
	s.acc = zero
	if o.agg.New != nil {
		s.acc = o.agg.New()
	}
}

// passOn sends each record as an accumulator of its own.
func (o *combineOutlet[K, T, A, R]) passOn(recs []T) {
	for ; len(recs) > 0; recs = recs[min(ahead, len(recs)):] {
		some := recs[:min(ahead, len(recs))]
		lookAt(&o.look, &o.keyed, some, nil)
		for i := range some {
			p := o.room(o.look.hashes[i])
			p.key = o.look.keys[i]
			if o.agg.New != nil {
				p.acc = o.agg.New()
			}
			o.agg.Add(&p.acc, &some[i])
		}
	}
}

// room returns a zeroed place in the open batch of the task that owns h. A
// batch is sent when a record finds it full, so the place stays valid until the next call.
func (o *combineOutlet[K, T, A, R]) room(h uint64) *partial[K, A] {
	lane := int(o.owner[h>>o.shift])
	b := o.open[lane]
	if b != nil && len(b.Recs) == cap(b.Recs) {
		o.send(lane)
		b = nil
	}
	if b == nil {
		b = o.openBatch(lane)
	}
	n := len(b.Recs)
	b.Recs = b.Recs[:n+1]
	b.Head.Hashes = append(b.Head.Hashes, h)
	return &b.Recs[n]
}

// decide looks at the window that has passed: the table grows while more than
// a quarter of the records did not meet their key, and combining is given up
// when not even one in eight did.
func (o *combineOutlet[K, T, A, R]) decide() {
	size := reflect.TypeFor[combineSlot[K, A]]().Size()
	switch {
	case o.combining && o.met >= o.seen/4*3: // it fits
	case o.combining && 4*len(o.slots)*int(size) <= combineBytes:
		o.drain()
		o.resize(4 * len(o.slots))
	case o.combining && o.met < o.seen/8:
		o.drain()
		o.slots = nil
		o.combining, o.skip = false, combineSkip
	case !o.combining:
		if o.skip--; o.skip == 0 {
			o.resize(combineSlots)
			o.combining = true
		}
	}
	o.seen, o.met = 0, 0
}

// drain sends all accumulators on.
func (o *combineOutlet[K, T, A, R]) drain() {
	for i := range o.slots {
		if o.held == 0 {
			break
		}
		if s := &o.slots[i]; s.used {
			*o.room(s.hash) = s.partial
			*s = combineSlot[K, A]{}
			o.held--
		}
	}
}

func (o *combineOutlet[K, T, A, R]) Flush(all bool) {
	if all && o.held > 0 {
		o.drain()
	}
	o.outlet.Flush(all)
}
