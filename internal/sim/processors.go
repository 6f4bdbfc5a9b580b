package sim

import (
	"strconv"
	"time"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/state"
)

// The processors of generated jobs. What each emits does not depend on the
// order of records, so that the oracle can say what it is.

// checkContext compares what a processor is told with what the record knows.
func (r *run) checkContext(o *op, ctx flow.TaskCtx, key int32, in *Rec, timed bool) {
	if key != in.Key {
		r.wrong("%s: key %d in hand for %+v", o.name(), key, *in)
	}
	if !timed {
		return
	}
	if at := ctx.Timestamp(); at != flow.Time(in.At) {
		r.wrong("%s: time %d for %+v", o.name(), at, *in)
	}
	if wm := ctx.Watermark(); wm >= flow.Time(in.At) {
		r.wrong("%s: the watermark is %d already, and here is %+v", o.name(), wm, *in)
	}
}

// buckets sums the records of each key by spans of event time, and emits a sum
// when its span has passed.
type buckets struct {
	run  *run
	op   *op
	sums state.Map[int64, sum]
}

func newBuckets(r *run, o *op) func(flow.Scope[int32]) *buckets {
	return func(s flow.Scope[int32]) *buckets { return &buckets{r, o, state.MapOf[int64, sum](s, "sums")} }
}

// span is the length of a bucket in µs.
func (o *op) span() int64 { return 1 + int64(o.salt%2000) }

// last is the last moment of the bucket of a record.
func (o *op) last(in *Rec) int64 {
	n := in.At / o.span()
	if in.At < 0 && in.At%o.span() != 0 {
		n--
	}
	return (n+1)*o.span() - 1
}

func (b *buckets) Process(ctx flow.Ctx[int32], in *Rec, _ *flow.Out[Rec]) error {
	b.run.checkContext(b.op, ctx, ctx.Key(), in, true)
	if err := b.run.try(b.op, in); err != nil {
		return err
	}
	last := b.op.last(in)
	b.sums.Edit(last).add(in)
	ctx.SetTimer(flow.Time(last), "end")
	if in.Seq%3 == 0 { // one that is taken back
		ctx.SetTimer(flow.Time(last+1), "never")
		ctx.ClearTimer(flow.Time(last+1), "never")
	}
	return nil
}

func (b *buckets) OnTimer(ctx flow.Ctx[int32], tag string, out *flow.Out[Rec]) error {
	b.run.count("timer fired")
	last := int64(ctx.Timestamp())
	s, ok := b.sums.Get(last)
	if tag != "end" || !ok || ctx.Watermark() < ctx.Timestamp() {
		b.run.wrong("%s: timer %q at %d of key %d, bucket known %v, watermark %d", b.op.name(), tag, last, ctx.Key(), ok, ctx.Watermark())
	}
	b.sums.Delete(last)
	out.Emit(b.op.bucket(ctx.Key(), last, s))
	return b.run.use(b.op)
}

// bucket is the sum of one bucket as a record.
func (o *op) bucket(key int32, last int64, s sum) Rec {
	r := o.total(key, s)
	r.At, r.Path = last, mix(r.Path, uint64(last))
	return r
}

// delays passes each record on after a while of processing time.
type delays struct {
	run  *run
	op   *op
	held state.Map[string, delayed]
}

type delayed struct {
	Rec    Rec
	Copies int64
}

func newDelays(r *run, o *op) func(flow.Scope[int32]) *delays {
	return func(s flow.Scope[int32]) *delays { return &delays{r, o, state.MapOf[string, delayed](s, "held")} }
}

func (d *delays) Process(ctx flow.Ctx[int32], in *Rec, _ *flow.Out[Rec]) error {
	d.run.checkContext(d.op, ctx, ctx.Key(), in, false)
	if err := d.run.try(d.op, in); err != nil {
		return err
	}
	tag := strconv.FormatUint(in.identity(), 36)
	h := d.held.Edit(tag)
	h.Rec = *in
	h.Copies++
	wait := time.Duration(mix(in.identity(), d.op.salt) % uint64(20*time.Millisecond))
	ctx.SetProcessingTimer(ctx.Now().Add(wait), tag)
	return nil
}

func (d *delays) OnTimer(ctx flow.Ctx[int32], tag string, out *flow.Out[Rec]) error {
	d.run.count("clock timer fired")
	h, ok := d.held.Get(tag)
	if ok {
		d.held.Delete(tag)
		for range h.Copies {
			out.Emit(d.op.change(&h.Rec))
		}
	} // else: a copy came between, and the other timer was first
	return d.run.use(d.op)
}

// holds keeps all records until the end of data.
type holds struct {
	run  *run
	op   *op
	recs state.List[Rec]
}

func newHolds(r *run, o *op) func(flow.TaskScope) *holds {
	return func(s flow.TaskScope) *holds { return &holds{r, o, state.OperatorListOf[Rec](s, "records")} }
}

func (h *holds) Transform(_ flow.TaskCtx, in *Rec, _ *flow.Out[Rec]) error {
	if err := h.run.try(h.op, in); err != nil {
		return err
	}
	h.recs.Append(*in)
	return nil
}

func (h *holds) OnEndOfData(out *flow.Out[Rec]) error {
	h.run.count("end of data handled")
	recs := h.recs.Peek()
	for i := range recs {
		out.Emit(h.op.change(&recs[i]))
	}
	h.recs.Clear()
	return h.run.use(h.op)
}

// pairs joins two streams by key, wholly.
type pairs struct {
	run         *run
	op          *op
	left, right state.List[Rec]
}

func newPairs(r *run, o *op) func(flow.Scope[int32]) *pairs {
	return func(s flow.Scope[int32]) *pairs {
		return &pairs{r, o, state.ListOf[Rec](s, "left"), state.ListOf[Rec](s, "right")}
	}
}

func (p *pairs) ProcessLeft(ctx flow.Ctx[int32], in *Rec, out *flow.Out[Rec]) error {
	p.run.checkContext(p.op, ctx, ctx.Key(), in, false)
	p.left.Append(*in)
	others := p.right.Peek()
	for i := range others {
		out.Emit(p.op.pair(in, &others[i]))
	}
	return p.run.use(p.op)
}

func (p *pairs) ProcessRight(ctx flow.Ctx[int32], in *Rec, out *flow.Out[Rec]) error {
	p.run.checkContext(p.op, ctx, ctx.Key(), in, false)
	p.right.Append(*in)
	others := p.left.Peek()
	for i := range others {
		out.Emit(p.op.pair(&others[i], in))
	}
	return p.run.use(p.op)
}

// rules has every record of a second stream in every task: each is passed on
// when it comes, and again at the end of data from broadcast state.
type rules struct {
	run   *run
	op    *op
	seen  state.Value[int64]
	rules state.Broadcast[string, delayed]
}

func newRules(r *run, o *op) func(flow.Scope[int32]) *rules {
	return func(s flow.Scope[int32]) *rules {
		return &rules{r, o, state.ValueOf[int64](s, "seen"), state.BroadcastOf[string, delayed](s, "rules")}
	}
}

func (b *rules) Process(ctx flow.Ctx[int32], in *Rec, out *flow.Out[Rec]) error {
	b.run.checkContext(b.op, ctx, ctx.Key(), in, false)
	if err := b.run.try(b.op, in); err != nil {
		return err
	}
	seen := b.seen.Edit()
	if *seen++; *seen == 1 {
		out.Emit(b.op.first(ctx.Key()))
	}
	out.Emit(b.op.change(in))
	return nil
}

// first is what a rules operator emits beside the first record of a key.
func (o *op) first(key int32) Rec { return o.total(key, sum{}) }

func (b *rules) ProcessBroadcast(ctx flow.BroadcastCtx, in *Rec, _ *flow.Out[Rec]) error {
	tag := strconv.FormatUint(in.identity(), 36)
	known := delayed{Rec: *in}
	if r := b.rules.Peek(tag); r != nil {
		known = *r
	}
	known.Copies++
	b.rules.Set(ctx, tag, known)
	return b.run.use(b.op)
}

func (b *rules) OnEndOfData(out *flow.Out[Rec]) error {
	b.run.count("end of data handled")
	for _, r := range b.rules.All() {
		for range r.Copies {
			out.Emit(b.op.change(&r.Rec))
		}
	}
	return b.run.use(b.op)
}
