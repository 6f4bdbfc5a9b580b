package sim

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

func numbers(n int) flow.Source[int] {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return memory.FromSplits(all)
}

// drive runs g in the worlds of some seeds.
func drive(t *testing.T, build func() *flow.Graph, check func(seed uint64, res exec.Result, err error)) {
	t.Helper()
	for seed := range uint64(40) {
		w := NewWorld(seed, 1)
		job, err := exec.StartIn(context.Background(), w.Env(), build(), exec.Options{Workers: 2, BatchSize: 3})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Drive(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		res, err := job.Wait()
		check(seed, res, err)
	}
}

// TestACallThatIsToBeMadeAgainWakesItsTask: its input has ended and nothing else
// goes on, so only the clock can.
func TestACallThatIsToBeMadeAgainWakesItsTask(t *testing.T) {
	var got memory.Collected[int]
	tries := 0
	build := func() *flow.Graph {
		g := flow.New("g")
		got.Reset()
		tries = 0
		s := flow.AsyncMap(flow.Read(g, "in", numbers(2)), "ask", 2, func(_ context.Context, in, out *int) error {
			if tries++; *in == 0 && tries < 5 {
				return errors.New("not now")
			}
			*out = *in
			return nil
		}, flow.OnError(flow.Retry(10, time.Second, flow.Fail())))
		flow.Write(s, "out", got.Sink())
		return g
	}
	drive(t, build, func(seed uint64, _ exec.Result, err error) {
		if recs := got.Records(); err != nil || !slices.Equal(recs, []int{0, 1}) {
			t.Errorf("seed %d: %v, %v", seed, recs, err)
		}
	})
}

// endSink leaves its Flush in a bad way.
type endSink struct{ flush func() }

type endWriter struct{ endSink }

func (s endSink) Immediate() bool { return true }
func (s endSink) Open(context.Context, flow.TaskInfo) (flow.Writer[int64], error) {
	return endWriter{s}, nil
}
func (endWriter) Write(context.Context, []int64) error { return nil }
func (w endWriter) Flush(context.Context) error        { w.flush(); return nil }
func (endWriter) Close() error                         { return nil }

// TestUserCodeIsBlamedWhereverItRuns: in the task that feeds an aggregator with
// Merge, and at the end of a chain.
func TestUserCodeIsBlamedWhereverItRuns(t *testing.T) {
	for _, c := range []struct {
		claim           string
		key, add, flush func()
		operator        string
	}{
		{claim: "the key function runs before the exchange", key: func() { panic("key") }, operator: "sum"},
		{claim: "so does Add", add: func() { panic("add") }, operator: "sum"},
		{claim: "Goexit, too", add: runtime.Goexit, operator: "sum"},
		{claim: "a panic at the end of data", flush: func() { panic("flush") }, operator: "out"},
		{claim: "Goexit at the end of data", flush: runtime.Goexit, operator: "out"},
	} {
		call := func(f func()) {
			if f != nil {
				f()
			}
		}
		build := func() *flow.Graph {
			g := flow.New("g")
			keyed := flow.KeyBy(flow.Read(g, "in", numbers(20), flow.Parallelism(2)), func(n *int) int {
				call(c.key)
				return *n % 3
			})
			sum := flow.Total(keyed, "sum", flow.Aggregator[int, int64, int64]{
				Add:    func(acc *int64, in *int) { call(c.add); *acc += int64(*in) },
				Merge:  func(dst, src *int64) { *dst += *src },
				Result: func(acc *int64) int64 { return *acc },
			}, flow.Parallelism(2))
			only := flow.Map(sum, "only", func(kv flow.KeyValue[int, int64]) int64 { return kv.Value })
			flow.Write(only, "out", endSink{func() { call(c.flush) }}, flow.Parallelism(2))
			return g
		}
		drive(t, build, func(seed uint64, res exec.Result, err error) {
			var failed *exec.TaskError
			if res.Outcome != exec.Failed || !errors.As(err, &failed) || failed.Operator != c.operator {
				t.Errorf("%s: seed %d: %v, %v", c.claim, seed, res.Outcome, err)
			}
		})
	}
}

// stepFunc is a Stepper.
type stepFunc func() (env.Status, int64)

func (f stepFunc) Step() (env.Status, int64) { return f() }

func TestTheWorldTellsADeadlockFromAForgottenWakeUp(t *testing.T) {
	for _, c := range []struct {
		claim    string
		open     func(steps int) bool
		sleepers int
	}{
		{"a deadlock: it never can go on", func(int) bool { return false }, 0},
		{"it can go on, and nobody tells it", func(steps int) bool { return steps > 1 }, 1},
	} {
		for seed := range uint64(20) {
			w := NewWorld(seed, 1)
			steps := 0
			w.Env().Runner.Run(env.Spec{Name: "it"}, stepFunc(func() (env.Status, int64) {
				if steps++; c.open(steps) {
					return env.Done, 0
				}
				return env.Idle, 0
			}))
			err := w.Drive()
			var stuck *StuckError
			if astray := w.sched.astray > 0; astray && c.sleepers > 0 && err == nil {
				continue // looked again by chance, as a real runner does
			}
			if !errors.As(err, &stuck) || len(stuck.Sleepers) != c.sleepers {
				t.Errorf("%s: seed %d: %v", c.claim, seed, err)
			}
		}
	}
}

func TestTimePassesWhenNobodyHasAnythingToDo(t *testing.T) {
	for seed := range uint64(20) {
		w := NewWorld(seed, 1)
		clock := w.Env().Clock
		var at []int64
		start := clock.Mono()
		after := clock.After(90 * time.Minute)
		for _, wait := range []time.Duration{2 * time.Hour, time.Hour, 3 * time.Hour} {
			w.Env().Runner.Run(env.Spec{Name: "sleeper"}, stepFunc(func() (env.Status, int64) {
				due := start + int64(wait)
				if now := clock.Mono(); now >= due {
					at = append(at, now-start)
					return env.Done, 0
				}
				return env.Idle, due
			}))
		}
		if err := w.Drive(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(at) != 3 || !slices.IsSorted(at) || at[2] > int64(4*time.Hour) || len(after) != 1 {
			t.Errorf("seed %d: done after %v, timer fired %v", seed, at, len(after) == 1)
		}
	}
}

// TestAGoexitEndsNothing: the stepper is told, and stepped again.
func TestAGoexitEndsNothing(t *testing.T) {
	for seed := range uint64(20) {
		w := NewWorld(seed, 1)
		var exits []bool
		steps := 0
		w.Env().Runner.Run(env.Spec{Name: "it", Exit: func(lost bool) { exits = append(exits, lost) }}, stepFunc(func() (env.Status, int64) {
			if steps++; steps < 3 {
				runtime.Goexit()
			}
			return env.Done, 0
		}))
		if err := w.Drive(); err != nil || !slices.Equal(exits, []bool{true, true, false}) || w.Goexits() != 2 {
			t.Errorf("seed %d: %v, exits %v, %d lost", seed, err, exits, w.Goexits())
		}
	}
}

// TestABrokenInvariantIsReported: a panic that comes out of a step is a bug of
// the engine.
func TestABrokenInvariantIsReported(t *testing.T) {
	w := NewWorld(1, 1)
	w.Env().Runner.Run(env.Spec{Name: "it"}, stepFunc(func() (env.Status, int64) { panic("no") }))
	var crash *CrashError
	if err := w.Drive(); !errors.As(err, &crash) || crash.Value != "no" {
		t.Errorf("%v", err)
	}
}

// TestTimersThatAreAwaitedAtTheEndCostNoSpinning: the task sleeps until the
// next one.
func TestTimersThatAreAwaitedAtTheEndCostNoSpinning(t *testing.T) {
	o := &op{id: 1, kind: kDelays, par: 2, await: true, ins: []input{{from: 0, part: flow.ByKey}}}
	s := &Shape{workers: 2, batch: 4, cancelAt: -1, ops: []*op{
		{id: 0, kind: kSource, par: 2, source: sourceSpec{splits: [][]Rec{numbered(0, 0, 20), numbered(0, 1, 20)}}},
		o,
		{id: 2, kind: kSink, par: 1, ins: []input{{from: 1}}},
	}}
	for s.Seed = range 40 {
		if res, err := Run(s, 2); err != nil || res.Steps > 2000 {
			t.Fatalf("%d steps, %v", res.Steps, err)
		}
	}
}

// TestASourceTaskThatIsAboutToEndHoldsEventTimeBack: it is not idle when it has
// read its last split, or what waits for its timers further down would come
// after the event time of others.
func TestASourceTaskThatIsAboutToEndHoldsEventTimeBack(t *testing.T) {
	s := &Shape{workers: 3, batch: 2, cancelAt: -1, ops: []*op{
		{id: 0, kind: kSource, par: 3, source: sourceSpec{timed: true, splits: [][]Rec{numbered(0, 0, 9), numbered(0, 1, 7), numbered(0, 2, 5)}}},
		{id: 1, kind: kBuckets, par: 3, salt: 500, ins: []input{{from: 0, part: flow.ByKey}}},
		{id: 2, kind: kBuckets, par: 3, salt: 700, ins: []input{{from: 1, part: flow.ByKey}}},
		{id: 3, kind: kSink, par: 1, ins: []input{{from: 2}}},
	}}
	for s.Seed = range 300 {
		if _, err := Run(s, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// numbered makes the records of a split.
func numbered(src, split int32, n int) []Rec {
	recs := make([]Rec, n)
	for i := range recs {
		key := int32(i % 4)
		recs[i] = Rec{Src: src, Split: split, Seq: int32(i), Key: key, Orig: key, At: int64(100 * i), Val: int64(i)}
	}
	return recs
}

// TestEventTimeWaitsForCallsThatAreOutAtTheEnd: also behind an operator that is
// fused with the one that calls.
func TestEventTimeWaitsForCallsThatAreOutAtTheEnd(t *testing.T) {
	s := &Shape{workers: 2, batch: 4, cancelAt: -1, ops: []*op{
		{id: 0, kind: kSource, par: 1, source: sourceSpec{timed: true, splits: [][]Rec{numbered(0, 0, 9)}}},
		{id: 1, kind: kAsync, par: 2, calls: 3, unordered: true, ins: []input{{from: 0}}},
		{id: 2, kind: kMap, par: 2, ins: []input{{from: 1}}},
		{id: 3, kind: kBuckets, par: 1, salt: 100, ins: []input{{from: 2, part: flow.ByKey}}},
		{id: 4, kind: kSink, par: 1, ins: []input{{from: 3}}},
	}}
	for s.Seed = range 200 {
		if _, err := Run(s, 2); err != nil {
			t.Fatal(err)
		}
	}
}
