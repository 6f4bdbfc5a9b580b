package flow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
)

// flaky fails for a record as often as its table says.
type flaky struct {
	fails map[int]int
	tried map[int][]time.Time
	rig   *rig
}

func (f *flaky) try(n int) error {
	f.tried[n] = append(f.tried[n], f.rig.now)
	if f.fails[n]--; f.fails[n] >= 0 {
		return fmt.Errorf("no %d", f.fails[n])
	}
	return nil
}

// Each record of a batch fails a number of times. All end up where the policy
// says, once, in their order, with their times.
func TestRetriesGoOnAtTheRecordThatFailed(t *testing.T) {
	type operator func(g *flow.Graph, s flow.Stream[int], f *flaky, p flow.Option) flow.Stream[int]
	kinds := map[string]operator{
		"try map": func(_ *flow.Graph, s flow.Stream[int], f *flaky, p flow.Option) flow.Stream[int] {
			return flow.TryMap(s, "op", func(in, out *int) error { *out = *in; return f.try(*in) }, p)
		},
		"flat map": func(_ *flow.Graph, s flow.Stream[int], f *flaky, p flow.Option) flow.Stream[int] {
			return flow.FlatMap(s, "op", func(in *int, out *flow.Out[int]) error { out.Emit(*in); return f.try(*in) }, p)
		},
		"lookup join": func(g *flow.Graph, s flow.Stream[int], f *flaky, p flow.Option) flow.Stream[int] {
			b := ints(g, "b")
			return flow.LookupJoin(s, b, "op", flow.LeftOuter, itself, itself, func(in, _ *int, out *flow.Out[int]) error { out.Emit(*in); return f.try(*in) }, p)
		},
	}
	for kind, build := range kinds {
		t.Run(kind, func(t *testing.T) {
			for seed := range uint64(50) {
				rnd := rand.New(rand.NewPCG(seed, 2))
				f := &flaky{fails: map[int]int{}, tried: map[int][]time.Time{}}
				g := flow.New("job")
				policy := flow.OnError(flow.Retry(2, time.Second, flow.Retry(1, time.Minute, flow.DeadLetter("lost"))))
				end(build(g, ints(g, "in"), f, policy))
				flow.Write(flow.DeadLetters[int](g, "lost"), "letters", (&memory.Collected[flow.Failed[int]]{}).Sink())
				f.rig = newRig(t, g, 1+rnd.IntN(4))
				var got taken[int]
				var lost taken[flow.Failed[int]]
				f.rig.kernel.Connect(0, &got)
				f.rig.kernel.Connect(1, &lost)
				checkRetries(t, f, rnd, &got, &lost)
			}
		})
	}
}

func checkRetries(t *testing.T, f *flaky, rnd *rand.Rand, got *taken[int], lost *taken[flow.Failed[int]]) {
	t.Helper()
	if end, ok := f.rig.kernel.(flow.InputEnding); ok {
		end.OnInputEnd(1)
	}
	var want, wantLost []result
	for n := range 40 {
		if rnd.IntN(3) == 0 {
			f.fails[n] = 1 + rnd.IntN(5)
		}
		if f.fails[n] > 3 {
			wantLost = append(wantLost, result{n, flow.Time(n)})
		} else {
			want = append(want, result{n, flow.Time(n)})
		}
	}
	fails := map[int]int{}
	for n, k := range f.fails {
		fails[n] = k
	}
	for from := 0; from < 40; from += 10 {
		var recs []int
		var times []flow.Time
		for n := from; n < from+10; n++ {
			recs, times = append(recs, n), append(times, flow.Time(n))
		}
		if err := f.rig.pass(stamped(recs, times...)); err != nil {
			t.Fatal(err)
		}
	}
	if have := results(got.recs, got.times); !slices.Equal(have, want) {
		t.Errorf("got %v\nwant %v", have, want)
	}
	var letters []int
	for _, l := range lost.recs {
		letters = append(letters, l.Record)
		if !strings.HasPrefix(l.Err, "after 4 tries: no ") {
			t.Errorf("letter %+v", l)
		}
	}
	if have := results(letters, lost.times); !slices.Equal(have, wantLost) {
		t.Errorf("dead letters %v\nwant %v", have, wantLost)
	}
	waits := []time.Duration{time.Second, 2 * time.Second, time.Minute}
	for n, at := range f.tried {
		if len(at) != min(fails[n], 3)+1 {
			t.Errorf("record %d was tried %d times, it fails %d times", n, len(at), fails[n])
		}
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d != waits[i-1] {
				t.Errorf("record %d: try %d came after %v, want %v", n, i+1, d, waits[i-1])
			}
		}
	}
	if n := f.rig.inst.Shared.Failed.Load(); n != int64(len(wantLost)) {
		t.Errorf("%d failed, want %d", n, len(wantLost))
	}
}

// A batch is tried again as a whole, and then each of its records has failed.
func TestABatchFailsAsOne(t *testing.T) {
	type operator func(s flow.Stream[int], try func() error, p flow.Option) flow.Stream[int]
	kinds := map[string]operator{
		"map batch": func(s flow.Stream[int], try func() error, p flow.Option) flow.Stream[int] {
			return flow.MapBatch(s, "op", func(in, out []int) error {
				if slices.ContainsFunc(out, func(n int) bool { return n != 0 }) {
					return errors.New("out is not zeroed")
				}
				copy(out, in)
				return try()
			}, p)
		},
		"flat map batch": func(s flow.Stream[int], try func() error, p flow.Option) flow.Stream[int] {
			return flow.FlatMapBatch(s, "op", func(in []int, out *flow.BatchOut[int]) error {
				for i, n := range in {
					out.Emit(i, n)
				}
				return try()
			}, p)
		},
	}
	for kind, build := range kinds {
		for fails, want := range [][]int{{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, {4, 5}} {
			t.Run(fmt.Sprint(kind, " fails ", fails), func(t *testing.T) {
				left, tries := fails, 0
				g := flow.New("job")
				end(build(ints(g, "in"), func() error {
					tries++
					if left--; left >= 0 {
						return errors.New("no")
					}
					return nil
				}, flow.OnError(flow.Retry(2, time.Second, flow.DeadLetter("lost")))))
				flow.Write(flow.DeadLetters[int](g, "lost"), "letters", (&memory.Collected[flow.Failed[int]]{}).Sink())
				r := newRig(t, g, 2)
				var got taken[int]
				var lost taken[flow.Failed[int]]
				r.kernel.Connect(0, &got)
				r.kernel.Connect(1, &lost)
				if err := errors.Join(r.pass(stamped([]int{1, 2, 3}, 10, 20, 30)), r.pass(stamped([]int{4, 5}, 40, 50))); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.recs, want) || got.times[0] != flow.Time(10*want[0]) {
					t.Errorf("got %v at %v, want %v", got.recs, got.times, want)
				}
				if len(lost.recs)+len(want) != 5 || len(lost.recs) == 3 && (lost.recs[2].Record != 3 || lost.times[2] != 30) {
					t.Errorf("dead letters %+v at %v", lost.recs, lost.times)
				}
				if tries != fails+2-fails/3 {
					t.Errorf("%d tries", tries)
				}
			})
		}
	}
}

func TestSkipCountsOverAllTasksAndNamesItsLimit(t *testing.T) {
	no := errors.New("no")
	g := flow.New("job")
	end(flow.TryMap(ints(g, "in"), "op", func(in, out *int) error {
		if *in < 0 {
			return no
		}
		return nil
	}, flow.OnError(flow.Skip(3))))
	a := newRig(t, g, 4)
	b := newRig(t, g, 4)
	b.inst.Shared = a.inst.Shared // as the engine has it
	a.kernel.Connect(0, &taken[int]{})
	b.kernel.Connect(0, &taken[int]{})
	if err := errors.Join(a.pass(stamped([]int{-1, 1, -2})), b.pass(stamped([]int{-3, 1}))); err != nil {
		t.Fatal(err)
	}
	err := a.pass(stamped([]int{1, -4}))
	if !errors.Is(err, no) || !strings.Contains(err.Error(), "more than the 3 bad records that OnError(Skip(3)) allows") {
		t.Errorf("error %v", err)
	}
}

// The answers of an AsyncMap come in any order. What it emits keeps that of the
// records, and event time does not overtake a record that is out.
func TestEventTimeWaitsForAnswers(t *testing.T) {
	g := flow.New("job")
	end(flow.AsyncMap(ints(g, "in"), "op", 3, func(_ context.Context, in, out *int) error { *out = *in; return nil }))
	r := newRig(t, g, 4)
	var got taken[int]
	r.kernel.Connect(0, &got)
	callers := r.kernel.(flow.Calling).Callers()
	k := r.kernel.(interface {
		flow.Waiting
		flow.Delaying
	})
	answer := func(slot int) {
		if !callers[slot].Call(context.Background()) {
			t.Errorf("slot %d has no call", slot)
		}
		if _, err := k.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.kernel.OnBatch(0, stamped([]int{1, 2, 3}, 10, 20, 30)); err != nil {
		t.Fatal(err)
	}
	if at := k.Reach(30); at != flow.MinTime {
		t.Errorf("time is %v with three calls out", at)
	}
	answer(1) // slots are taken from the last
	answer(0)
	if len(got.recs) != 0 || !k.Outstanding() || k.Reach(35) != flow.MinTime {
		t.Errorf("passed on: %v", got.recs)
	}
	answer(2)
	if !slices.Equal(results(got.recs, got.times), []result{{1, 10}, {2, 20}, {3, 30}}) || k.Outstanding() {
		t.Errorf("passed on: %v at %v", got.recs, got.times)
	}
	if at := k.Reach(35); at != 35 {
		t.Errorf("time is %v with nothing out, want 35", at)
	}
}
