package flow_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/state"
)

// pay meets event by key.
type pay struct {
	Key   string
	At    flow.Time
	Cents int
}

func (p *pay) key() string { return p.Key }

// match says what it has of each key, at the end of data.
type match struct {
	left  state.Value[int]
	right state.List[int]
}

func newMatch(s flow.Scope[string]) *match {
	return &match{state.ValueOf[int](s, "left"), state.ListOf[int](s, "right")}
}

var errOdd = errors.New("odd")

func (m *match) ProcessLeft(ctx flow.Ctx[string], in *event, _ *flow.Out[string]) error {
	if in.N == 13 {
		return errOdd
	}
	*m.left.Edit() += in.N
	ctx.SetTimer(flow.MaxTime, "end")
	return nil
}

func (m *match) ProcessRight(ctx flow.Ctx[string], in *pay, _ *flow.Out[string]) error {
	if in.Cents == 13 {
		return errOdd
	}
	m.right.Append(in.Cents)
	ctx.SetTimer(flow.MaxTime, "end")
	return nil
}

func (m *match) OnTimer(ctx flow.Ctx[string], _ string, out *flow.Out[string]) error {
	n, _ := m.left.Get()
	rights := slices.Clone(m.right.Peek())
	slices.Sort(rights)
	out.Emit(fmt.Sprint(ctx.Key(), " ", n, " ", rights))
	return nil
}

func connected(g *flow.Graph, opts ...flow.ProcessOption) flow.Stream[string] {
	l := flow.Read(g, "left", memory.From(event{"a", 0, 1}, event{"b", 0, 2}, event{"a", 0, 13}, event{"a", 0, 4}))
	r := flow.Read(g, "right", memory.From(pay{"a", 0, 10}, pay{"c", 0, 20}, pay{"c", 0, 13}, pay{"a", 0, 30}))
	return flow.Connect[string, event, pay, string](flow.KeyBy(l, (*event).key), flow.KeyBy(r, (*pay).key), "match", newMatch, opts...)
}

func TestConnect(t *testing.T) {
	want := []string{"a 5 [10 30]", "b 2 []", "c 0 [20]"}
	eachWorkers(t, func(t *testing.T, workers int) {
		t.Run("both sides share state and timers, and a bad record of either is skipped", func(t *testing.T) {
			g := flow.New("g")
			var got memory.Collected[string]
			flow.Write(connected(g, flow.OnError(flow.Skip(2))), "out", got.Sink())
			mustRun(t, g, workers)
			if got := sorted(&got); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
		t.Run("Skip counts both sides", func(t *testing.T) {
			g := flow.New("g")
			flow.Write(connected(g, flow.OnError(flow.Skip(1))), "out", new(memory.Collected[string]).Sink())
			if _, err := runJob(t, g, workers); !errors.Is(err, errOdd) {
				t.Errorf("%v", err)
			}
		})
		t.Run("the dead letters of each side are of its type", func(t *testing.T) {
			g := flow.New("g")
			var got memory.Collected[string]
			var left memory.Collected[flow.Failed[event]]
			var right memory.Collected[flow.Failed[pay]]
			flow.Write(connected(g, flow.OnError(flow.DeadLetter("lost"))), "out", got.Sink())
			flow.Write(flow.DeadLetters[event](g, "lost"), "lost left", left.Sink())
			flow.Write(flow.DeadLetters[pay](g, "lost"), "lost right", right.Sink())
			mustRun(t, g, workers)
			if got := sorted(&got); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			l, r := left.Records(), right.Records()
			if len(l) != 1 || l[0].Record.N != 13 || len(r) != 1 || r[0].Record.Cents != 13 {
				t.Errorf("dead letters %v and %v", l, r)
			}
		})
	})
}

func TestDeadLettersOfEachTypeMustBeRead(t *testing.T) {
	g := flow.New("g")
	flow.Write(connected(g, flow.OnError(flow.DeadLetter("lost"))), "out", new(memory.Collected[string]).Sink())
	flow.Write(flow.DeadLetters[event](g, "lost"), "lost", new(memory.Collected[flow.Failed[event]]).Sink())
	if err := g.Validate(); err == nil || !strings.Contains(err.Error(), "flow_test.pay") {
		t.Errorf("%v", err)
	}
}

// rules keeps what the broadcast side said, and applies it to records.
type rules struct {
	limit state.Broadcast[string, int]
	seen  state.Value[int]
	kept  flow.BroadcastCtx // which it must not be
}

func (r *rules) ProcessBroadcast(ctx flow.BroadcastCtx, in *pay, out *flow.Out[string]) error {
	switch {
	case in.Cents == 13:
		return errOdd
	case in.Cents < 0:
		r.limit.Delete(ctx, in.Key)
	default:
		r.limit.Set(ctx, in.Key, in.Cents)
	}
	r.kept = ctx
	return nil
}

func (r *rules) Process(ctx flow.Ctx[string], in *event, out *flow.Out[string]) error {
	switch in.N {
	case 13:
		return errOdd
	case 666:
		r.limit.Set(r.kept, "x", 1)
	}
	*r.seen.Edit()++
	ctx.SetTimer(flow.MaxTime, "")
	return nil
}

func (r *rules) OnTimer(ctx flow.Ctx[string], _ string, out *flow.Out[string]) error {
	var all []string
	for k, v := range r.limit.All() {
		all = append(all, fmt.Sprintf("%s=%d", k, *v))
	}
	n, _ := r.seen.Get()
	out.Emit(fmt.Sprint(ctx.Key(), " ", n, " ", all, " ", r.limit.Peek("gone") == nil))
	return nil
}

func newRules(s flow.Scope[string]) *rules {
	return &rules{limit: state.BroadcastOf[string, int](s, "limit"), seen: state.ValueOf[int](s, "seen")}
}

func broadcastTo(g *flow.Graph, extra []pay, opts ...flow.ProcessOption) flow.Stream[string] {
	events := []event{{"a", 0, 1}, {"b", 0, 1}, {"a", 0, 13}, {"c", 0, 1}, {"a", 0, 1}}
	said := append([]pay{{"x", 0, 1}, {"gone", 0, 2}, {"y", 0, 3}, {"x", 0, 4}, {"gone", 0, -1}}, extra...)
	l := flow.Read(g, "events", memory.From(events...))
	return flow.ProcessBroadcast[string, event, pay, string](flow.KeyBy(l, (*event).key), flow.Read(g, "rules", memory.From(said...)), "apply", newRules, opts...)
}

func TestProcessBroadcast(t *testing.T) {
	want := []string{"a 2 [x=4 y=3] true", "b 1 [x=4 y=3] true", "c 1 [x=4 y=3] true"}
	eachWorkers(t, func(t *testing.T, workers int) {
		g := flow.New("g")
		var got memory.Collected[string]
		var left memory.Collected[flow.Failed[event]]
		var right memory.Collected[flow.Failed[pay]]
		flow.Write(broadcastTo(g, []pay{{"bad", 0, 13}}, flow.OnError(flow.DeadLetter("lost"))), "out", got.Sink())
		flow.Write(flow.DeadLetters[pay](g, "lost"), "lost right", right.Sink())
		flow.Write(flow.DeadLetters[event](g, "lost"), "lost left", left.Sink())
		mustRun(t, g, workers)
		if got := sorted(&got); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		// Each task has the rules, and so each finds the bad one.
		if l, r := left.Records(), right.Records(); len(l) != 1 || len(r) != workers {
			t.Errorf("%d and %d dead letters, want 1 and %d", len(l), len(r), workers)
		}
	})
}

// pricer is a transformer with rules, and remembers the last records.
type pricer struct {
	price state.Broadcast[string, int]
	late  state.List[string]
}

func newPricer(s flow.TaskScope) *pricer {
	return &pricer{state.BroadcastOf[string, int](s, "price"), state.OperatorListOf[string](s, "late")}
}

func (p *pricer) TransformBroadcast(ctx flow.BroadcastCtx, in *pay, _ *flow.Out[string]) error {
	if in.Cents == 13 {
		return errOdd
	}
	p.price.Set(ctx, in.Key, in.Cents)
	return nil
}

func (p *pricer) Transform(_ flow.TaskCtx, in *event, _ *flow.Out[string]) error {
	if in.N == 13 {
		return errOdd
	}
	p.late.Append(in.Key)
	return nil
}

func (p *pricer) OnEndOfData(out *flow.Out[string]) error {
	for _, k := range p.late.Peek() {
		if c := p.price.Peek(k); c != nil {
			out.Emit(fmt.Sprint(k, " ", *c))
		} else {
			out.Emit(k + " ?")
		}
	}
	return nil
}

func TestTransformBroadcast(t *testing.T) {
	want := []string{"a 1", "a 1", "b ?", "c 3"}
	eachWorkers(t, func(t *testing.T, workers int) {
		g := flow.New("g")
		var got memory.Collected[string]
		events := flow.Read(g, "events", memory.From(event{"a", 0, 1}, event{"b", 0, 1}, event{"x", 0, 13}, event{"c", 0, 1}, event{"a", 0, 1}))
		prices := flow.Read(g, "prices", memory.From(pay{"a", 0, 1}, pay{"x", 0, 13}, pay{"c", 0, 3}))
		s := flow.TransformBroadcast[event, pay, string](flow.Rebalance(events), prices, "price", newPricer, flow.OnError(flow.Skip(4)))
		flow.Write(s, "out", got.Sink())
		mustRun(t, g, workers)
		if got := sorted(&got); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestALicenceToBroadcastIsOfUseDuringItsCallOnly(t *testing.T) {
	g := flow.New("g")
	l := flow.Read(g, "events", memory.From[event]())
	s := flow.ProcessBroadcast[string, event, pay, string](flow.KeyBy(l, (*event).key), flow.Read(g, "rules", memory.From[pay]()), "op", newRules)
	flow.Write(s, "out", new(memory.Collected[string]).Sink())
	k, _, _ := kernelOf(t, g, 0, 1)
	said := flow.NewBatch[pay](1)
	said.Recs = append(said.Recs, pay{"x", 0, 1})
	if err := k.OnBatch(1, said); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "broadcast state is written in the call") {
			t.Errorf("%v", got)
		}
	}()
	k.OnBatch(0, batchOf(event{"a", 0, 666}))
}

// counting counts the records of its task.
type counting struct{ n int }

func (c *counting) Transform(ctx flow.TaskCtx, in *event, out *flow.Out[string]) error {
	if in.N == 13 {
		out.Emit("never")
		return errOdd
	}
	if c.n++; ctx.Timestamp() != in.At {
		return fmt.Errorf("the time is %v, not %v", ctx.Timestamp(), in.At)
	}
	return nil
}

func (c *counting) OnEndOfData(out *flow.Out[string]) error {
	out.Emit(fmt.Sprint(c.n))
	return nil
}

func TestTransform(t *testing.T) {
	g := flow.New("g")
	var got memory.Collected[string]
	events := timed(g, event{"a", 5, 1}, event{"b", 6, 13}, event{"c", 7, 1})
	flow.Write(flow.Transform[event, string](events, "count", func(flow.TaskScope) *counting { return &counting{} },
		flow.Parallelism(1), flow.OnError(flow.Skip(1))), "out", got.Sink())
	mustRun(t, g, 2)
	if got := got.Records(); !slices.Equal(got, []string{"2"}) {
		t.Errorf("%q", got)
	}
}

// trying fails the first two times that it sees a record.
type trying struct{ left, right int }

func (p *trying) ProcessLeft(_ flow.Ctx[string], _ *event, out *flow.Out[string]) error {
	if p.left++; p.left < 3 {
		return errOdd
	}
	out.Emit("left")
	return nil
}

func (p *trying) ProcessRight(_ flow.Ctx[string], _ *pay, out *flow.Out[string]) error {
	if p.right++; p.right < 3 {
		return errOdd
	}
	out.Emit("right")
	return nil
}

func TestEachSideOfConnectSaysWhenItTriesAgain(t *testing.T) {
	g := flow.New("g")
	l, r := flow.Read(g, "left", memory.From[event]()), flow.Read(g, "right", memory.From[pay]())
	s := flow.Connect[string, event, pay, string](flow.KeyBy(l, (*event).key), flow.KeyBy(r, (*pay).key), "op",
		func(flow.Scope[string]) *trying { return &trying{} }, flow.OnError(flow.Retry(2, time.Second, flow.Fail())))
	flow.Write(s, "out", new(memory.Collected[string]).Sink())
	k, inst, out := kernelOf(t, g, 0, 1)
	now := time.Unix(1000, 0)
	inst.Now = func() time.Time { return now }
	pays := flow.NewBatch[pay](1)
	pays.Recs = append(pays.Recs, pay{Key: "a"})
	for port, b := range []flow.Batch{batchOf(event{"a", 1, 1}), pays} {
		for try := range 2 {
			if err := k.OnBatch(port, b); err != flow.ErrPending {
				t.Fatalf("port %d, try %d: %v", port, try, err)
			}
			wait := time.Second << try
			if due, ok := k.(flow.Waiting).Due(); !ok || !due.Equal(now.Add(wait)) {
				t.Errorf("port %d, try %d: due at %v, %t", port, try, due, ok)
			}
			if err := k.OnBatch(port, b); err != flow.ErrPending || len(out.got) > port {
				t.Errorf("port %d: tried before its time", port)
			}
			now = now.Add(wait)
		}
		if err := k.OnBatch(port, b); err != nil {
			t.Errorf("port %d: %v", port, err)
		}
	}
	if !slices.Equal(out.got, []string{"left", "right"}) {
		t.Errorf("%q", out.got)
	}
}
