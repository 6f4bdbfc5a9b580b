package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/invariant"
	"github.com/tailrace-io/tailrace/internal/table"
	"github.com/tailrace-io/tailrace/state"
)

// savingKernel is what the kernels of processors are.
type savingKernel interface {
	flow.Kernel
	flow.Timed
	flow.Stateful
	flow.Saving
}

// sink collects results.
type sink struct{ got []string }

func (s *sink) OnBatch(_ int, b flow.Batch) error {
	if in, ok := b.(*flow.BatchOf[string]); ok {
		s.got = append(s.got, in.Recs...)
	}
	return nil
}

// kernelOf makes the kernel of task index of the operator "op".
func kernelOf(t testing.TB, g *flow.Graph, index, parallelism int) (savingKernel, *flow.Instance, *sink) {
	t.Helper()
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes() {
		if n.Name != "op" {
			continue
		}
		inst := &flow.Instance{
			Task:   flow.TaskInfo{Operator: "op", Index: index, Parallelism: parallelism},
			Groups: 128, Now: time.Now, Shared: new(flow.OperatorStats), Watermark: flow.MinTime,
		}
		inst.Lo, inst.Hi = table.GroupsOf(index, inst.Groups, parallelism)
		k, err := n.NewKernel(inst)
		if err != nil {
			t.Fatal(err)
		}
		out := &sink{}
		k.Connect(0, out)
		kern := k.(savingKernel)
		t.Cleanup(kern.CloseState)
		return kern, inst, out
	}
	t.Fatal("no operator op")
	return nil, nil, nil
}

// remembering keeps a count and a timer for each key.
type remembering struct {
	count state.Value[int64]
	names state.Map[string, int64]
	list  state.List[int64]
	all   state.List[string]
}

func newRemembering(s flow.Scope[string]) *remembering {
	return &remembering{
		state.ValueOf[int64](s, "count"), state.MapOf[string, int64](s, "names"),
		state.ListOf[int64](s, "list"), state.UnionListOf[string](s, "all"),
	}
}

func (r *remembering) Process(ctx flow.Ctx[string], in *event, _ *flow.Out[string]) error {
	*r.count.Edit() += int64(in.N)
	*r.names.Edit(in.Key) += int64(in.N)
	r.list.Append(int64(in.N))
	r.all.Append(in.Key)
	ctx.SetTimer(100, "tag of "+in.Key)
	return nil
}

func (r *remembering) OnTimer(ctx flow.Ctx[string], tag string, out *flow.Out[string]) error {
	n, _ := r.count.Get()
	m, _ := r.names.Get(ctx.Key())
	out.Emit(fmt.Sprint(tag, " ", n, " ", m, " ", r.list.Peek(), " ", len(r.all.Peek())))
	return nil
}

func opGraph[P flow.Processor[string, event, string]](newP func(flow.Scope[string]) P) *flow.Graph {
	g := flow.New("g")
	keyed := flow.KeyBy(flow.Read(g, "in", memory.From[event]()), (*event).key)
	flow.Write(flow.Process[string, event, string](keyed, "op", newP), "out", new(memory.Collected[string]).Sink())
	return g
}

func batchOf(events ...event) *flow.BatchOf[event] {
	b := flow.NewBatch[event](len(events))
	b.Recs = append(b.Recs, events...)
	for _, e := range events {
		b.Head.Times = append(b.Head.Times, e.At)
	}
	return b
}

func TestStateOfSeveralTasksLoadsIntoOthers(t *testing.T) {
	var events []event
	var want []string
	for i := range 500 {
		key := fmt.Sprintf("k%03d", i)
		events = append(events, event{key, 1, i}, event{key, 2, 1})
		want = append(want, fmt.Sprintf("tag of %s %d %d [%d 1] 1000", key, i+1, i+1, i))
	}
	g := opGraph(newRemembering)
	hash, _ := table.HasherOf[string]()
	for from := 1; from <= 3; from++ {
		var saved [][]byte
		for i := range from {
			k, inst, _ := kernelOf(t, g, i, from)
			var own []event
			for _, e := range events {
				if group := table.KeyGroup(hash(&e.Key), 128); inst.Lo <= group && group < inst.Hi {
					own = append(own, e)
				}
			}
			if err := k.OnBatch(0, batchOf(own...)); err != nil {
				t.Fatal(err)
			}
			one, err := k.Save(nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := k.Save([]byte("before"))
			if err != nil || string(again) != "before"+string(one) {
				t.Fatalf("the second saving is not like the first: %v", err)
			}
			saved = append(saved, one)
		}
		for to := 1; to <= 3; to++ {
			var got []string
			for i := range to {
				k, inst, out := kernelOf(t, g, i, to)
				for _, one := range saved {
					if err := k.Load(one); err != nil {
						t.Fatalf("from %d to %d tasks: %v", from, to, err)
					}
				}
				inst.Watermark = 100
				for more := true; more; {
					var err error
					if more, err = k.FireEventTimers(64); err != nil {
						t.Fatal(err)
					}
				}
				got = append(got, out.got...)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("from %d to %d tasks: %d timers, want %d; the first is %q", from, to, len(got), len(want), got[:min(1, len(got))])
			}
		}
	}
}

func TestBytesThatAreNoStateAreAnError(t *testing.T) {
	g := opGraph(newRemembering)
	k, _, _ := kernelOf(t, g, 0, 1)
	if err := k.OnBatch(0, batchOf(event{"a", 1, 1}, event{"b", 1, 1})); err != nil {
		t.Fatal(err)
	}
	saved, err := k.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range saved {
		k, _, _ := kernelOf(t, g, 0, 1)
		if err := k.Load(saved[:cut]); err == nil {
			t.Fatalf("%d of %d bytes were loaded", cut, len(saved))
		}
	}
	other := opGraph(func(s flow.Scope[string]) *handler[string] {
		state.ValueOf[int64](s, "other")
		return &handler[string]{}
	})
	o, _, _ := kernelOf(t, other, 0, 1)
	if err := o.Load(saved); err == nil {
		t.Error("the state of another operator was loaded")
	}
}

// nosy asks for state where no key is in hand.
type nosy struct{ seen state.Value[int64] }

func (n *nosy) Process(flow.Ctx[string], *event, *flow.Out[string]) error {
	n.seen.Set(1)
	return nil
}

func (n *nosy) OnEndOfData(*flow.Out[string]) error {
	n.seen.Get()
	return nil
}

type nosyTimer struct {
	nosy
	ctx flow.Ctx[string]
}

func (n *nosyTimer) OnTimer(ctx flow.Ctx[string], _ string, _ *flow.Out[string]) error {
	n.ctx = ctx
	return nil
}

func (n *nosyTimer) Process(ctx flow.Ctx[string], in *event, out *flow.Out[string]) error {
	ctx.SetTimer(1, "")
	return n.nosy.Process(ctx, in, out)
}

func (n *nosyTimer) OnEndOfData(out *flow.Out[string]) error {
	if n.ctx != nil {
		n.ctx.SetTimer(flow.MaxTime, "")
	}
	return n.nosy.OnEndOfData(out)
}

func TestWithoutAKeyInHandStateAndTimersPanic(t *testing.T) {
	for name, c := range map[string]struct {
		g     *flow.Graph
		timer bool
		want  string
	}{
		"state after a batch":  {opGraph(func(s flow.Scope[string]) *nosy { return &nosy{state.ValueOf[int64](s, "seen")} }), false, `state "seen": no key in hand`},
		"timers after a timer": {opGraph(func(s flow.Scope[string]) *nosyTimer { return &nosyTimer{nosy: nosy{state.ValueOf[int64](s, "seen")}} }), true, "SetTimer: no key in hand"},
	} {
		t.Run(name, func(t *testing.T) {
			k, inst, _ := kernelOf(t, c.g, 0, 1)
			if err := k.OnBatch(0, batchOf(event{"a", 1, 1})); err != nil {
				t.Fatal(err)
			}
			if got := inst.Key(); got != "" {
				t.Errorf("the key in hand is %q", got)
			}
			inst.Watermark = 10
			if _, err := k.FireEventTimers(10); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%v, want %q", got, c.want)
				}
			}()
			k.(flow.Ending).OnEnd(1)
		})
	}
}

// counter is what a busy processor does.
type counter struct {
	sum  state.Value[point2]
	mean state.Aggregate[int, float64]
	kind state.Map[int, int64]
}

type point2 struct{ N, Sum int64 }

func newCounter(s flow.Scope[string]) *counter {
	return &counter{
		state.ValueOf[point2](s, "sum"),
		state.AggregateOf(s, "mean", flow.Aggregator[int, point2, float64]{
			Add:    func(acc *point2, in *int) { acc.N++; acc.Sum += int64(*in) },
			Result: func(acc *point2) float64 { return float64(acc.Sum) / float64(acc.N) },
		}),
		state.MapOf[int, int64](s, "kind"),
	}
}

func (c *counter) Process(ctx flow.Ctx[string], in *event, out *flow.Out[string]) error {
	v := c.sum.Edit()
	v.N++
	v.Sum += int64(in.N)
	if w, ok := c.sum.Get(); !ok || w != *c.sum.Peek() {
		return fmt.Errorf("%v", w)
	}
	c.mean.Add(&in.N)
	if mean, _ := c.mean.Result(); mean < 0 {
		out.Emit(ctx.Key())
	}
	c.kind.Set(in.N, ctx.Watermark().Sub(0).Nanoseconds())
	return nil
}

func TestAProcessorDoesNotAllocateForKeysItKnows(t *testing.T) {
	k, _, _ := kernelOf(t, opGraph(newCounter), 0, 1)
	var events []event
	for i := range 256 {
		events = append(events, event{fmt.Sprint("key ", i%64), flow.Time(i), i % 16})
	}
	b := batchOf(events...)
	if got := testing.AllocsPerRun(20, func() {
		if err := k.OnBatch(0, b); err != nil {
			t.Fatal(err)
		}
	}); got != 0 && !invariant.Enabled { // a debug build lends copies
		t.Errorf("%v allocations a batch of %d records", got, len(events))
	}
}
