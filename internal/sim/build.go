package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

type stream = flow.Stream[Rec]

// builder makes a flow graph of a shape.
type builder struct {
	run   *run
	graph *flow.Graph
	outs  [][]stream // of each operator, by port
}

// build makes the graph that run runs.
func (r *run) build() *flow.Graph {
	b := &builder{run: r, graph: flow.New("sim")}
	for _, o := range r.shape.ops {
		b.outs = append(b.outs, b.add(o))
	}
	return b.graph
}

// in is the stream that reaches input i of o.
func (b *builder) in(o *op, i int) stream {
	in := o.ins[i]
	s := b.outs[in.from][in.port]
	switch in.part {
	case flow.RoundRobin:
		return flow.Rebalance(s)
	case flow.ToAll:
		return flow.Broadcast(s)
	}
	return s
}

// options are those that any operator takes.
func (o *op) options() (opts []flow.Option) {
	if o.par > 0 {
		opts = append(opts, flow.Parallelism(o.par))
	}
	if o.maxPar > 0 {
		opts = append(opts, flow.MaxParallelism(o.maxPar))
	}
	if o.noChain {
		opts = append(opts, flow.NoChain())
	}
	if o.offWorker && o.kind != kSource {
		opts = append(opts, flow.OffWorker())
	}
	if o.fails.one == 0 {
		return opts
	}
	policy := flow.Skip(o.fails.limit)
	if o.fails.letters {
		policy = flow.DeadLetter(o.name())
	}
	if o.fails.retries > 0 {
		policy = flow.Retry(o.fails.retries, time.Millisecond, policy)
	}
	return append(opts, flow.OnError(policy))
}

func (b *builder) add(o *op) []stream {
	run, opts := b.run, o.options()
	switch o.kind {
	case kSource:
		return b.addSource(o)
	case kUnion:
		var all []stream
		for i := range o.ins {
			all = append(all, b.in(o, i))
		}
		return []stream{flow.Union(o.name(), all...)}
	case kRoute:
		return flow.Route(b.in(o, 0), o.name(), o.outs, func(in *Rec) int {
			if run.use(o) != nil {
				return 99
			}
			return o.goes(in)
		}, opts...)
	case kLetters:
		return b.addLetters(o)
	case kTotal, kReduce:
		return b.addKeyed(o)
	case kLookup:
		return []stream{flow.LookupJoin(b.in(o, 0), b.in(o, 1), o.name(), o.join, keyOf, keyOf,
			func(in, build *Rec, out *flow.Out[Rec]) error {
				out.Emit(o.pair(in, build))
				return run.use(o)
			}, opts...)}
	case kSink:
		flow.Write(b.in(o, 0), o.name(), testSink{run, o}, opts...)
		return nil
	case kAsync:
		return b.addAsync(o)
	case kBuckets, kDelays, kHolds, kPairs, kRules:
		return []stream{b.addProcessor(o)}
	}
	return []stream{b.addUnary(o, b.in(o, 0), opts)}
}

func keyOf(r *Rec) int32 { return r.Key }

func (b *builder) addSource(o *op) []stream {
	s := flow.Read(b.graph, o.name(), testSource{b.run, o}, o.options()...)
	if o.source.timed {
		marks := flow.Ascending()
		if o.source.disorder > 0 {
			marks = flow.BoundedDisorder(time.Duration(o.source.disorder) * time.Microsecond)
		}
		s = flow.Timestamps(s, "times of "+o.name(), func(r *Rec) flow.Time { return flow.Time(r.At) }, marks)
	}
	return []stream{s}
}

// errRefused is what an operator returns for a record it refuses.
var errRefused = errors.New("refused")

func (b *builder) addUnary(o *op, in stream, opts []flow.Option) stream {
	run := b.run
	switch o.kind {
	case kMapInto:
		return flow.MapInto(in, o.name(), func(in, out *Rec) {
			run.mustUse(o)
			if *out != (Rec{}) {
				run.wrong("%s: its result comes as %+v", o.name(), *out)
			}
			*out = o.change(in)
		}, opts...)
	case kMap:
		return flow.Map(in, o.name(), func(in Rec) Rec {
			run.mustUse(o)
			return o.change(&in)
		}, opts...)
	case kTryMap:
		return flow.TryMap(in, o.name(), func(in, out *Rec) error {
			*out = o.change(in)
			return run.try(o, in)
		}, opts...)
	case kFilter:
		return flow.Filter(in, o.name(), func(in *Rec) bool {
			run.mustUse(o)
			return o.keeps(in)
		}, opts...)
	case kFlatMap:
		return flow.FlatMap(in, o.name(), func(in *Rec, out *flow.Out[Rec]) error {
			for i := range o.results(in) {
				*out.Slot() = o.result(in, i)
				if i%3 == 1 { // one more, taken back
					*out.Slot() = *in
					out.Undo()
				}
			}
			if o.setTime {
				out.SetTime(flow.Time(in.At + int64(o.salt%5000)))
			}
			return run.try(o, in)
		}, opts...)
	case kMapBatch:
		return flow.MapBatch(in, o.name(), func(in, out []Rec) error {
			for i := range in {
				out[i] = o.change(&in[i])
			}
			return run.use(o)
		}, opts...)
	}
	return flow.FlatMapBatch(in, o.name(), func(in []Rec, out *flow.BatchOut[Rec]) error {
		for i := range in {
			for n := range o.results(&in[i]) {
				out.Emit(i, o.result(&in[i], n))
			}
		}
		return run.use(o)
	}, opts...)
}

func (b *builder) addAsync(o *op) []stream {
	var opts []flow.AsyncOption
	for _, opt := range o.options() {
		opts = append(opts, opt)
	}
	if o.unordered {
		opts = append(opts, flow.Unordered())
	}
	return []stream{flow.AsyncMap(b.in(o, 0), o.name(), o.calls, func(_ context.Context, in, out *Rec) error {
		*out = o.change(in)
		return b.run.try(o, in)
	}, opts...)}
}

// addLetters reads the dead letters of all operators that o reads: each has a
// name of its own for them, and o unites them.
func (b *builder) addLetters(o *op) []stream {
	run := b.run
	var all []stream
	for _, in := range o.ins {
		from := run.shape.ops[in.from].name()
		letters := flow.DeadLetters[Rec](b.graph, from)
		all = append(all, flow.MapInto(letters, o.name()+" of "+from, func(l *flow.Failed[Rec], out *Rec) {
			run.count("dead letter")
			if l.Operator != from || !strings.Contains(l.Err, "refused") && !strings.Contains(l.Err, "not readable") {
				run.wrong("%s: the letter says %q, %q", o.name(), l.Operator, l.Err)
			}
			*out = o.letter(l)
		}))
	}
	return []stream{flow.Union(o.name(), all...)}
}

func (b *builder) addProcessor(o *op) stream {
	run, in, name := b.run, b.in(o, 0), o.name()
	var opts []flow.ProcessOption
	for _, opt := range o.options() {
		opts = append(opts, opt)
	}
	switch o.kind {
	case kBuckets:
		return flow.Process(flow.KeyBy(in, keyOf), name, newBuckets(run, o), opts...)
	case kDelays:
		at := flow.FireTimers()
		if o.await {
			at = flow.AwaitTimers(time.Minute)
		}
		return flow.Process(flow.KeyBy(in, keyOf), name, newDelays(run, o), append(opts, flow.ProcessingTimersAtEnd(at))...)
	case kHolds:
		return flow.Transform(in, name, newHolds(run, o), o.options()...)
	case kPairs:
		return flow.Connect(flow.KeyBy(in, keyOf), flow.KeyBy(b.in(o, 1), keyOf), name, newPairs(run, o), opts...)
	}
	return flow.ProcessBroadcast(flow.KeyBy(in, keyOf), b.in(o, 1), name, newRules(run, o), opts...)
}

func (b *builder) addKeyed(o *op) []stream {
	run := b.run
	keyed := flow.KeyBy(b.in(o, 0), keyOf)
	if o.kind == kReduce {
		reduced := flow.Reduce(keyed, o.name(), func(acc, in *Rec) {
			run.mustUse(o)
			fold(acc, in)
		}, o.options()...)
		return []stream{flow.MapInto(reduced, "checked "+o.name(), func(in *flow.KeyValue[int32, Rec], out *Rec) {
			run.checkFold(o, in.Key, &in.Value)
			*out = o.reduced(&in.Value)
		})}
	}
	agg := flow.Aggregator[Rec, sum, sum]{
		Add: func(acc *sum, in *Rec) {
			run.mustUse(o)
			acc.add(in)
		},
		Result: func(acc *sum) sum { return *acc },
	}
	if o.merge {
		agg.Merge = func(dst, src *sum) { dst.N, dst.Val, dst.Mixed = dst.N+src.N, dst.Val+src.Val, dst.Mixed+src.Mixed }
	}
	sums := flow.Total(keyed, o.name(), agg, o.options()...)
	return []stream{flow.Map(sums, "result of "+o.name(), func(kv flow.KeyValue[int32, sum]) Rec {
		return o.total(kv.Key, kv.Value)
	})}
}
