package exec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

func numbers(n int) []int {
	in := make([]int, n)
	for i := range in {
		in[i] = i
	}
	return in
}

func run(t *testing.T, g *flow.Graph, o exec.Options) exec.Result {
	t.Helper()
	res, err := exec.Run(context.Background(), g, o)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return res
}

func TestAsyncMapKeepsOrderAndCallsSeveralAtATime(t *testing.T) {
	var now, most atomic.Int64
	g := flow.New("async")
	var got memory.Collected[int]
	asked := flow.AsyncMap(flow.Read(g, "in", memory.From(numbers(200)...), flow.Parallelism(1)), "ask", 4,
		func(ctx context.Context, in, out *int) error {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if *in%7 == 0 { // some answers take longer than those behind them
				select {
				case <-ctx.Done():
				case <-time.After(time.Millisecond):
				}
			}
			now.Add(-1)
			*out = *in + 1
			return nil
		})
	flow.Write(asked, "out", got.Sink())
	run(t, g, exec.Options{Workers: 2})
	recs := got.Records()
	if len(recs) != 200 || !slices.IsSorted(recs) || recs[0] != 1 {
		t.Errorf("%d records, sorted %v", len(recs), slices.IsSorted(recs))
	}
	if m := most.Load(); m < 2 || m > 4 {
		t.Errorf("%d calls at a time, want 2 to 4", m)
	}
}

func TestAsyncMapUnorderedDeliversEachOnce(t *testing.T) {
	g := flow.New("async")
	var got memory.Collected[int]
	asked := flow.AsyncMap(flow.Read(g, "in", memory.From(numbers(500)...)), "ask", 3,
		func(_ context.Context, in, out *int) error { *out = *in; return nil }, flow.Unordered())
	flow.Write(asked, "out", got.Sink())
	run(t, g, exec.Options{Workers: 2})
	recs := got.Records()
	slices.Sort(recs)
	if !slices.Equal(recs, numbers(500)) {
		t.Errorf("%d records", len(recs))
	}
}

func TestErrorPolicies(t *testing.T) {
	bad := errors.New("odd")
	type build func(s flow.Stream[int], fails func(int) error, p flow.ErrorPolicy) flow.Stream[int]
	kinds := map[string]build{
		"try map": func(s flow.Stream[int], fails func(int) error, p flow.ErrorPolicy) flow.Stream[int] {
			return flow.TryMap(s, "op", func(in, out *int) error { *out = *in; return fails(*in) }, flow.OnError(p))
		},
		"flat map": func(s flow.Stream[int], fails func(int) error, p flow.ErrorPolicy) flow.Stream[int] {
			return flow.FlatMap(s, "op", func(in *int, out *flow.Out[int]) error { out.Emit(*in); return fails(*in) }, flow.OnError(p))
		},
		"async map": func(s flow.Stream[int], fails func(int) error, p flow.ErrorPolicy) flow.Stream[int] {
			return flow.AsyncMap(s, "op", 3, func(_ context.Context, in, out *int) error { *out = *in; return fails(*in) }, flow.OnError(p))
		},
	}
	for kind, op := range kinds {
		t.Run(kind+" skips", func(t *testing.T) {
			g := flow.New("g")
			var got memory.Collected[int]
			flow.Write(op(flow.Read(g, "in", memory.From(numbers(100)...)), func(n int) error {
				if n%2 == 1 {
					return bad
				}
				return nil
			}, flow.Skip(50)), "out", got.Sink())
			res := run(t, g, exec.Options{Workers: 2})
			if n := len(got.Records()); n != 50 {
				t.Errorf("%d records, want 50", n)
			}
			if res.Operators[1].Skipped != 50 {
				t.Errorf("skipped %d, want 50", res.Operators[1].Skipped)
			}
		})
		t.Run(kind+" fails over the limit", func(t *testing.T) {
			g := flow.New("g")
			var got memory.Collected[int]
			flow.Write(op(flow.Read(g, "in", memory.From(numbers(100)...)), func(n int) error {
				if n%2 == 1 {
					return bad
				}
				return nil
			}, flow.Skip(49)), "out", got.Sink())
			_, err := exec.Run(context.Background(), g, exec.Options{Workers: 2})
			var te *exec.TaskError
			if !errors.As(err, &te) || te.Operator != "op" || !errors.Is(err, bad) || !strings.Contains(err.Error(), "49") {
				t.Errorf("error %v", err)
			}
		})
		t.Run(kind+" tries again, then sends to the dead letters", func(t *testing.T) {
			g := flow.New("g")
			var got memory.Collected[int]
			var dead memory.Collected[flow.Failed[int]]
			var tries [100]atomic.Int64
			flow.Write(op(flow.Read(g, "in", memory.From(numbers(100)...)), func(n int) error {
				switch try := tries[n].Add(1); {
				case n == 13:
					return bad
				case n%10 == 0 && try < 3:
					return fmt.Errorf("try %d", try)
				}
				return nil
			}, flow.Retry(2, time.Millisecond, flow.DeadLetter("lost"))), "out", got.Sink())
			flow.Write(flow.DeadLetters[int](g, "lost"), "lost", dead.Sink())
			run(t, g, exec.Options{Workers: 2})
			if n := len(got.Records()); n != 99 {
				t.Errorf("%d records, want 99", n)
			}
			lost := dead.Records()
			if len(lost) != 1 || lost[0].Record != 13 || lost[0].Operator != "op" || !strings.Contains(lost[0].Err, "after 3 tries: odd") {
				t.Errorf("dead letters %+v", lost)
			}
		})
	}
}

func TestLookupJoinReadsItsBuildSideFirst(t *testing.T) {
	type pair struct{ n, name string }
	build := memory.From(pair{"1", "one"}, pair{"2", "two"}, pair{"2", "deux"})
	for _, kind := range []flow.JoinKind{flow.Inner, flow.LeftOuter} {
		g := flow.New("g")
		var got memory.Collected[string]
		main := flow.Read(g, "main", memory.From("1", "2", "3"))
		names := flow.Read(g, "names", build)
		joined := flow.LookupJoin(main, names, "join", kind, func(s *string) string { return *s }, func(p *pair) string { return p.n },
			func(in *string, b *pair, out *flow.Out[string]) error {
				if b == nil {
					out.Emit(*in + "=?")
				} else {
					out.Emit(*in + "=" + b.name)
				}
				return nil
			})
		flow.Write(joined, "out", got.Sink())
		run(t, g, exec.Options{Workers: 3})
		recs := got.Records()
		slices.Sort(recs)
		want := []string{"1=one", "2=deux", "2=two"}
		if kind == flow.LeftOuter {
			want = append(want, "3=?")
		}
		if !slices.Equal(recs, want) {
			t.Errorf("kind %d: %v, want %v", kind, recs, want)
		}
	}
}

func TestUserPanicsErrorsAndGoexitBecomeTaskErrors(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]struct {
		f    func()
		want string
	}{
		"a panic":        {func() { panic("no good") }, "no good"},
		"an error value": {func() { panic(boom) }, "boom"},
		"Goexit":         {func() { goexit() }, "runtime.Goexit"},
	}
	for name, c := range cases {
		for _, opts := range [][]flow.Option{nil, {flow.OffWorker()}, {flow.NoChain()}} {
			g := flow.New("g")
			var got memory.Collected[int]
			s := flow.MapInto(flow.Read(g, "in", memory.From(numbers(1000)...)), "user", func(in, out *int) {
				if *in == 500 {
					c.f()
				}
			}, opts...)
			flow.Write(s, "out", got.Sink())
			res, err := exec.Run(context.Background(), g, exec.Options{Workers: 2})
			var te *exec.TaskError
			if !errors.As(err, &te) || te.Operator != "user" || !strings.Contains(err.Error(), c.want) || res.Outcome != exec.Failed {
				t.Errorf("%s: outcome %v, error %v", name, res.Outcome, err)
			}
		}
	}
}
