package exec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/generate"
	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

// pumped hides that a source never blocks: it is then read by goroutines.
type pumped[T any] struct{ flow.Source[T] }

// uneven are splits of 0, 1, 2, 4, ... records, numbered through.
func uneven(splits int) (parts [][]int, all []int) {
	for i := range splits {
		var part []int
		for range 1 << i >> 1 {
			part = append(part, len(all))
			all = append(all, len(all))
		}
		parts = append(parts, part)
	}
	return parts, all
}

func TestSplitsOfAnyNumberAndSizeAreReadOnce(t *testing.T) {
	for _, splits := range []int{0, 1, 2, 3, 11} {
		for _, workers := range []int{1, 2, 5} {
			parts, want := uneven(splits)
			for name, src := range map[string]flow.Source[int]{"inline": memory.FromSplits(parts...), "pumped": pumped[int]{memory.FromSplits(parts...)}} {
				t.Run(fmt.Sprint(splits, " splits, ", workers, " workers, ", name), func(t *testing.T) {
					g := flow.New("g")
					var got memory.Collected[int]
					in := flow.Read(g, "in", src)
					timed := flow.Timestamps(in, "time", atItself, flow.Ascending())
					flow.Write(timed, "out", got.Sink())
					var total memory.Collected[flow.KeyValue[struct{}, int64]]
					flow.Write(flow.Total(flow.KeyBy(timed, flow.NoKey), "count", agg.Count[int]()), "total", total.Sink())
					res := run(t, g, exec.Options{Workers: workers, BatchSize: 3})
					recs := got.Records()
					slices.Sort(recs)
					if !slices.Equal(recs, want) {
						t.Errorf("%d records, want %d", len(recs), len(want))
					}
					if sum := total.Records(); len(want) > 0 && (len(sum) != 1 || sum[0].Value != int64(len(want))) || len(want) == 0 && len(sum) != 0 {
						t.Errorf("total %v, want %d", sum, len(want))
					}
					if res.Outcome != exec.Finished {
						t.Errorf("outcome %v", res.Outcome)
					}
				})
			}
		}
	}
}

// twins has two splits of one ID.
type twins struct{ flow.Source[int] }

func (twins) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "a"}, {ID: "b"}, {ID: "a"}}, nil
}

func TestTwoSplitsOfOneIDAreAnError(t *testing.T) {
	g := flow.New("g")
	flow.Write(flow.Read[int](g, "in", twins{memory.From(1)}), "out", nullSink[int]{})
	if _, err := exec.Run(context.Background(), g, exec.Options{}); err == nil || !strings.Contains(err.Error(), `two splits have the ID "a"`) {
		t.Errorf("error %v", err)
	}
}

// counted is a graph with every kind of count, over the numbers below 1000.
func counted(got *memory.Collected[flow.KeyValue[int, int64]], lost *memory.Collected[flow.Failed[int]]) *flow.Graph {
	g := flow.New("counted")
	in := flow.Read(g, "in", memory.FromSlice(numbers(1000), 4))
	some := flow.Filter(in, "filter", func(n *int) bool { return *n%10 != 0 }) // 900
	twice := flow.FlatMap(some, "twice", func(n *int, out *flow.Out[int]) error {
		out.Emit(*n)
		out.Emit(*n)
		if *n%10 == 1 { // 100
			return errBoom
		}
		return nil
	}, flow.OnError(flow.Skip(-1))) // 1600
	tried := flow.TryMap(twice, "tried", func(n, out *int) error {
		if *out = *n; *n%10 == 2 { // 200
			return errBoom
		}
		return nil
	}, flow.OnError(flow.DeadLetter("lost"))) // 1400
	flow.Write(flow.DeadLetters[int](g, "lost"), "letters", lost.Sink())
	flow.Write(flow.Total(flow.KeyBy(flow.Filter(flow.Rebalance(tried), "same", func(*int) bool { return true }), func(n *int) int { return *n % 10 }), "count", agg.Count[int]()), "out", got.Sink())
	return g
}

func checkCounted(t *testing.T, res exec.Result, got []flow.KeyValue[int, int64], lost int) {
	t.Helper()
	want := map[string]exec.OperatorResult{
		"in":                {Kind: "read", In: 1000, Out: 1000},
		"filter":            {Kind: "filter", In: 1000, Out: 900},
		"twice":             {Kind: "flat map", In: 900, Out: 1600, Skipped: 100, Failed: 100},
		"tried":             {Kind: "try map", In: 1600, Out: 1600, Failed: 200},
		"dead letters lost": {Kind: "dead letters", In: 200, Out: 200},
		"letters":           {Kind: "write", In: 200},
		"same":              {Kind: "filter", In: 1400, Out: 1400},
		"count":             {Kind: "total", Out: 7},
		"out":               {Kind: "write", In: 7},
	}
	if len(res.Operators) != len(want) {
		t.Errorf("%d operators", len(res.Operators))
	}
	for _, o := range res.Operators {
		w := want[o.Name]
		if w.Name = o.Name; o.Name == "count" {
			if o.In < 7 || o.In > 1400 { // accumulators arrive, or records
				t.Errorf("count received %d", o.In)
			}
			w.In = o.In
		}
		if o != w {
			t.Errorf("got %+v, want %+v", o, w)
		}
	}
	if len(got) != 7 || lost != 200 {
		t.Errorf("%d totals, %d dead letters", len(got), lost)
	}
	for _, kv := range got {
		if kv.Value != 200 {
			t.Errorf("key %d: %d", kv.Key, kv.Value)
		}
	}
}

func TestCountsOfOperatorsAreExactAndAGraphCanRunAgain(t *testing.T) {
	var got memory.Collected[flow.KeyValue[int, int64]]
	var lost memory.Collected[flow.Failed[int]]
	g := counted(&got, &lost)
	for _, o := range []exec.Options{{Workers: 1}, {Workers: 2}, {Workers: 3, BatchSize: 1}, {Workers: 2, BatchSize: 2, InFlight: 1}, {Workers: 2, BatchSize: 1 << 14, InFlight: 1 << 30}} {
		got.Reset()
		lost.Reset()
		checkCounted(t, run(t, g, o), got.Records(), len(lost.Records()))
	}
}

func TestJobsOfOneProcessKeepApart(t *testing.T) {
	var jobs sync.WaitGroup
	for range 4 {
		jobs.Go(func() {
			var got memory.Collected[flow.KeyValue[int, int64]]
			var lost memory.Collected[flow.Failed[int]]
			res, err := exec.Run(context.Background(), counted(&got, &lost), exec.Options{Workers: 2})
			if err != nil {
				t.Error(err)
				return
			}
			checkCounted(t, res, got.Records(), len(lost.Records()))
		})
	}
	var lost memory.Collected[flow.Failed[int]]
	var got memory.Collected[flow.KeyValue[int, int64]]
	g := counted(&got, &lost) // one graph may run several times at once: its sinks get all
	for range 2 {
		jobs.Go(func() {
			if _, err := exec.Run(context.Background(), g, exec.Options{Workers: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	jobs.Wait()
	if n := len(got.Records()); n != 14 {
		t.Errorf("%d totals of two runs, want 14", n)
	}
}

func TestThereMayBeMoreWorkersThanKeyGroups(t *testing.T) {
	g := flow.New("g")
	var got memory.Collected[flow.KeyValue[int, int64]]
	in := flow.MapInto(flow.Read(g, "in", memory.FromSlice(numbers(100), 8), flow.MaxParallelism(2)), "copy", func(in, out *int) { *out = *in })
	flow.Write(flow.Total(flow.KeyBy(in, func(n *int) int { return *n % 10 }), "count", agg.Count[int](), flow.MaxParallelism(1)), "out", got.Sink())
	job, err := exec.Start(context.Background(), g, exec.Options{Workers: 5})
	if err != nil {
		t.Fatal(err)
	}
	tasks := map[string]int{}
	for _, s := range job.Status().Tasks {
		tasks[s.Operators]++
	}
	if tasks["in > copy"] != 2 || tasks["count"] != 1 || tasks["out"] != 1 {
		t.Errorf("tasks %v", tasks)
	}
	if _, err := job.Wait(); err != nil || len(got.Records()) != 10 {
		t.Errorf("error %v, %d keys", err, len(got.Records()))
	}
}

// The sink takes nothing: all rings are full, all tasks are blocked. What fails
// then still ends the job.
func TestABlockedJobCanFail(t *testing.T) {
	for _, workers := range []int{1, 3} {
		sink := newGate()
		g := flow.New("g")
		errs := make(chan error, 1)
		in := flow.Read(g, "in", generate.Source(-1, func(i int64, r *rec48) { r.Key = uint64(i) }))
		flow.Write(flow.Filter(flow.Rebalance(in), "same", func(*rec48) bool { return true }), "out", sink)
		failing(g, errs)
		job, err := exec.Start(context.Background(), g, exec.Options{Workers: workers, BatchSize: 8, InFlight: 1})
		if err != nil {
			t.Fatal(err)
		}
		for full := false; !full; {
			for _, task := range job.Status().Tasks {
				full = full || task.Operators == "out" && task.QueueFill == 1
			}
		}
		errs <- errBoom
		res, err := job.Wait()
		if res.Outcome != exec.Failed || !errors.Is(err, errBoom) || sink.flushed.Load() != 0 {
			t.Errorf("outcome %v, error %v", res.Outcome, err)
		}
	}
}
