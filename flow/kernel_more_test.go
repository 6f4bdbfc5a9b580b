package flow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/flow"
)

// randomBatch makes a batch of up to most numbers, with or without times.
func randomBatch(rnd *rand.Rand, most int) ([]int, []flow.Time) {
	var recs []int
	var times []flow.Time
	timed := rnd.IntN(2) == 0
	for range 1 + rnd.IntN(most) {
		recs = append(recs, rnd.IntN(1000))
		if timed {
			times = append(times, flow.Time(rnd.IntN(1000)))
		}
	}
	return recs, times
}

func timeAt(times []flow.Time, i int) flow.Time {
	if times == nil {
		return flow.MinTime
	}
	return times[i]
}

// Every operator that makes results record by record, against its own loop.
func TestResultsHaveTheTimeOfTheirRecord(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	cases := map[string]struct {
		build func(s flow.Stream[int]) flow.Stream[int]
		want  func(n int) []int
	}{
		"map":      {func(s flow.Stream[int]) flow.Stream[int] { return flow.Map(s, "op", func(n int) int { return n + 1 }) }, func(n int) []int { return []int{n + 1} }},
		"map into": {func(s flow.Stream[int]) flow.Stream[int] { return flow.MapInto(s, "op", halve) }, halves},
		"try map": {func(s flow.Stream[int]) flow.Stream[int] {
			return flow.TryMap(s, "op", func(in, out *int) error {
				halve(in, out)
				if *in%5 == 0 {
					*out = 77 // must not be seen by the next record
					return fmt.Errorf("five")
				}
				return nil
			}, flow.OnError(flow.Skip(-1)))
		}, func(n int) []int {
			if n%5 == 0 {
				return nil
			}
			return halves(n)
		}},
		"map batch": {func(s flow.Stream[int]) flow.Stream[int] {
			return flow.MapBatch(s, "op", func(in, out []int) error {
				for i := range in {
					halve(&in[i], &out[i])
				}
				return nil
			})
		}, halves},
		"filter": {func(s flow.Stream[int]) flow.Stream[int] {
			return flow.Filter(s, "op", func(n *int) bool { return odd(*n) })
		}, func(n int) []int {
			if odd(n) {
				return []int{n}
			}
			return nil
		}},
		"flat map batch": {func(s flow.Stream[int]) flow.Stream[int] {
			return flow.FlatMapBatch(s, "op", func(in []int, out *flow.BatchOut[int]) error {
				for i, n := range in {
					for range n % 4 {
						if p := out.Slot(i); *p == 0 {
							*p = n
						}
					}
				}
				return nil
			})
		}, func(n int) []int { return slices.Repeat([]int{n}, n%4) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(100) {
				rnd := rand.New(rand.NewPCG(seed, 3))
				g := flow.New("job")
				end(c.build(ints(g, "in")))
				r := newRig(t, g, 1+rnd.IntN(8))
				var got taken[int]
				r.kernel.Connect(0, &got)
				var want []result
				for range 6 {
					recs, times := randomBatch(rnd, 20)
					for i, n := range recs {
						for _, v := range c.want(n) {
							want = append(want, result{v, timeAt(times, i)})
						}
					}
					if err := r.pass(stamped(recs, times...)); err != nil {
						t.Fatal(err)
					}
				}
				if have := results(got.recs, got.times); !slices.Equal(have, want) {
					t.Fatalf("seed %d: got %v\nwant %v", seed, have, want)
				}
			}
		})
	}
}

// halve adds half of an even number to what it finds, and leaves out as it is
// for an odd one: what an earlier record left there would show.
func halve(in, out *int) {
	if *in%2 == 0 {
		*out += *in / 2
	}
}

func halves(n int) []int {
	if n%2 == 0 {
		return []int{n / 2}
	}
	return []int{0}
}

func TestAFilterThatKeepsAllCopiesNothing(t *testing.T) {
	g := flow.New("job")
	end(flow.Filter(ints(g, "in"), "op", func(n *int) bool { return *n > 0 }))
	r := newRig(t, g, 4)
	var got taken[int]
	r.kernel.Connect(0, &got)
	whole := stamped([]int{1, 2, 3})
	if err := r.pass(whole); err != nil || got.first != &whole.Recs[0] {
		t.Errorf("the batch did not travel on as it was; error %v", err)
	}
	some := stamped([]int{1, 0, 3})
	if err := r.pass(some); err != nil || got.first == &some.Recs[0] || !slices.Equal(some.Recs, []int{1, 0, 3}) {
		t.Errorf("a batch that is only lent was changed to %v; error %v", some.Recs, err)
	}
	none := stamped([]int{0, 0})
	if err := r.pass(none); err != nil || len(got.batches) != 2 {
		t.Errorf("batches of %v records went on; error %v", got.batches, err)
	}
}

func TestBatchOutRefusesAnInputThatIsNotNext(t *testing.T) {
	for name, ask := range map[string]func(out *flow.BatchOut[int]){
		"back":            func(out *flow.BatchOut[int]) { out.Slot(1); out.Slot(0) },
		"below the first": func(out *flow.BatchOut[int]) { out.Slot(-1) },
		"past the last":   func(out *flow.BatchOut[int]) { out.Slot(2) },
	} {
		for _, times := range [][]flow.Time{nil, {1, 2}} {
			g := flow.New("job")
			end(flow.FlatMapBatch(ints(g, "in"), "op", func(_ []int, out *flow.BatchOut[int]) error { ask(out); return nil }))
			r := newRig(t, g, 4)
			r.kernel.Connect(0, &taken[int]{})
			func() {
				defer func() {
					if text, _ := recover().(string); !strings.Contains(text, "BatchOut.Slot") {
						t.Errorf("%s, times %v: panic %q", name, times, text)
					}
				}()
				_ = r.pass(stamped([]int{1, 2}, times...))
			}()
		}
	}
}

func TestAFailedBatchLeavesNothingInItsOut(t *testing.T) {
	g := flow.New("job")
	end(flow.FlatMapBatch(ints(g, "in"), "op", func(in []int, out *flow.BatchOut[int]) error {
		for i, n := range in {
			for range 5 {
				*out.Slot(i) += n
			}
		}
		if in[0] == 13 {
			return fmt.Errorf("unlucky")
		}
		return nil
	}, flow.OnError(flow.Skip(-1))))
	r := newRig(t, g, 4)
	var got taken[int]
	r.kernel.Connect(0, &got)
	for _, b := range []*flow.BatchOf[int]{stamped([]int{13, 2}, 1, 2), stamped([]int{7}), stamped([]int{13}), stamped([]int{8}, 3)} {
		if err := r.pass(b); err != nil {
			t.Fatal(err)
		}
	}
	want := append(slices.Repeat([]result{{7, flow.MinTime}}, 5), slices.Repeat([]result{{8, 3}}, 5)...)
	if have := results(got.recs, got.times); !slices.Equal(have, want) {
		t.Errorf("got %v, want %v", have, want)
	}
}

func TestARouteKeepsOrderAndTimesOfEachOutput(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		g := flow.New("job")
		outs := flow.Route(ints(g, "in"), "op", 3, func(n *int) int { return *n%4 - 1 })
		end(flow.Union("all", outs...))
		r := newRig(t, g, 4)
		got, want := make([]taken[int], 3), make([][]result, 3)
		for i := range got {
			r.kernel.Connect(i, &got[i])
		}
		for range 5 {
			recs, times := randomBatch(rnd, 20)
			for i, n := range recs {
				if to := n%4 - 1; to >= 0 {
					want[to] = append(want[to], result{n, timeAt(times, i)})
				}
			}
			if err := r.pass(stamped(recs, times...)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range got {
			if have := results(got[i].recs, got[i].times); !slices.Equal(have, want[i]) {
				t.Fatalf("seed %d, output %d: got %v\nwant %v", seed, i, have, want[i])
			}
		}
	}
}

func TestARouteThatPointsNowhereIsAnError(t *testing.T) {
	for _, to := range []int{-2, 3, 1 << 40} {
		g := flow.New("job")
		end(flow.Union("all", flow.Route(ints(g, "in"), "op", 3, func(*int) int { return to })...))
		r := newRig(t, g, 4)
		for i := range 3 {
			r.kernel.Connect(i, &taken[int]{})
		}
		if err := r.pass(stamped([]int{1})); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("answered %d; there are 3 outputs", to)) {
			t.Errorf("error %v", err)
		}
	}
}

func TestReduceEmitsTheRunningResultOfItsKey(t *testing.T) {
	type kv = flow.KeyValue[int, int]
	g := flow.New("job")
	end(flow.Reduce(flow.KeyBy(ints(g, "in"), func(n *int) int { return *n % 10 }), "op", func(acc, in *int) { *acc += *in }))
	r := newRig(t, g, 4)
	var got taken[kv]
	r.kernel.Connect(0, &got)
	if err := r.pass(stamped([]int{1, 11, 2}, 5, 6, 7)); err != nil {
		t.Fatal(err)
	}
	if err := r.pass(stamped([]int{21, 12}, 8, 9)); err != nil {
		t.Fatal(err)
	}
	if want := []kv{{1, 1}, {1, 12}, {2, 2}, {1, 33}, {2, 14}}; !slices.Equal(got.recs, want) {
		t.Errorf("got %v, want %v", got.recs, want)
	}
	if want := []flow.Time{5, 6, 7, 8, 9}; !slices.Equal(got.times, want) {
		t.Errorf("times %v, want %v", got.times, want)
	}
}

// What a record left in memory that is used again must not keep it alive, nor
// show in the next one.
func TestARecordLeavesNothingBehindInABatch(t *testing.T) {
	b := flow.NewBatch[[]int](4)
	b.Recs = append(b.Recs, []int{1}, []int{2})
	b.Head = flow.Header{Times: []flow.Time{1, 2}, Hashes: []uint64{1, 2}, Split: 3, Pos: flow.Position("x"), Bad: &flow.RecordError{}}
	b.Reset()
	if h := b.Header(); b.Len() != 0 || len(h.Times)+len(h.Hashes) != 0 || h.Split != -1 || h.Pos != nil || h.Bad != nil {
		t.Errorf("batch %+v", b)
	}
	for _, rec := range b.Recs[:cap(b.Recs)] {
		if rec != nil {
			t.Errorf("a record is left: %v", rec)
		}
	}
}
