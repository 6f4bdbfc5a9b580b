package flow_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
	"github.com/tailrace-io/tailrace/internal/table"
)

// fakeLane lends one batch at a time, so that what is kept of it after Send
// shows, and keeps copies of what was sent.
type fakeLane struct {
	t     *testing.T
	batch flow.Batch
	lent  bool
	sent  func(b flow.Batch)
}

func (l *fakeLane) Take() flow.Batch {
	if l.lent || l.batch.Len() != 0 {
		l.t.Fatal("a batch is taken while one is open")
	}
	l.lent = true
	return l.batch
}

func (l *fakeLane) Send(b flow.Batch) {
	if !l.lent || b != l.batch || b.Len() == 0 {
		l.t.Fatalf("batch of %d records sent that was not taken", b.Len())
	}
	l.lent = false
	l.sent(b)
	b.Reset()
}

// outletOf makes the outlet of the first input of r's operator, to that many
// lanes.
func outletOf(t *testing.T, r *rig, lanes, task int, sent func(lane int, b flow.Batch)) flow.Outlet {
	t.Helper()
	e := r.node.Ins[0]
	all := make([]flow.Lane, lanes)
	for i := range all {
		all[i] = &fakeLane{t: t, batch: e.NewBatch(e.Part, r.inst.BatchSize), sent: func(b flow.Batch) { sent(i, b) }}
	}
	var owner []uint16
	if e.Part == flow.ByKey {
		for g := range r.inst.Groups {
			owner = append(owner, uint16(table.TaskOf(g, r.inst.Groups, lanes)))
		}
	}
	inst := *r.inst
	inst.Task.Index = task
	return e.NewOutlet(all, owner, e.Part, &inst)
}

// sendAll passes random batches, some timed and some not, through an outlet and
// returns what was sent, and what each lane got.
func sendAll(t *testing.T, s func(flow.Stream[int]) flow.Stream[int], lanes, task int, seed uint64) (sent []result, got [][]result) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 5))
	g := flow.New("job")
	end(s(ints(g, "in")))
	r := newRig(t, g, 1+rnd.IntN(7))
	got = make([][]result, lanes)
	out := outletOf(t, r, lanes, task, func(lane int, b flow.Batch) {
		in := b.(*flow.BatchOf[int])
		if len(in.Recs) > r.inst.BatchSize {
			t.Errorf("a batch of %d records", len(in.Recs))
		}
		var one taken[int]
		_ = one.OnBatch(0, in)
		got[lane] = append(got[lane], results(one.recs, one.times)...)
		for i, h := range in.Head.Hashes {
			if h != table.HashUint64(uint64(key3(&in.Recs[i]))) {
				t.Errorf("record %d has the hash %x", in.Recs[i], h)
			}
		}
		if r.node.Keyed != (len(in.Head.Hashes) == len(in.Recs)) {
			t.Errorf("%d hashes for %d records", len(in.Head.Hashes), len(in.Recs))
		}
	})
	for range 20 {
		recs, times := randomBatch(rnd, 20)
		for i := range recs {
			recs[i] = len(sent) // each once, in order
			sent = append(sent, result{recs[i], timeAt(times, i)})
		}
		if err := out.OnBatch(0, stamped(recs, times...)); err != nil {
			t.Fatal(err)
		}
		if rnd.IntN(8) == 0 {
			out.Flush(rnd.IntN(2) == 0)
		}
	}
	out.Flush(true)
	return sent, got
}

// key3 has 40 values.
func key3(n *int) int { return *n % 40 }

func TestRebalanceIsEvenToOneRecord(t *testing.T) {
	rebalance := func(s flow.Stream[int]) flow.Stream[int] {
		return flow.Filter(flow.Rebalance(s), "op", keep)
	}
	for _, lanes := range []int{1, 2, 3, 7} {
		for task := range 4 {
			sent, got := sendAll(t, rebalance, lanes, task, uint64(lanes))
			for i, records := range got {
				if n, even := len(records), len(sent)/lanes; n < even || n > even+1 {
					t.Errorf("lane %d of %d has %d of %d records", i, lanes, n, len(sent))
				}
				if !slices.IsSortedFunc(records, func(a, b result) int { return a.N - b.N }) {
					t.Errorf("lane %d is out of order", i)
				}
			}
			if got[task%lanes][0].N != 0 {
				t.Errorf("task %d of a producer does not begin with lane %d: all would begin with the first", task, task%lanes)
			}
			checkUnion(t, sent, got)
		}
	}
}

// checkUnion checks that the lanes together have what was sent, with its times.
func checkUnion(t *testing.T, sent []result, got [][]result) {
	t.Helper()
	all := slices.Concat(got...)
	slices.SortFunc(all, func(a, b result) int { return a.N - b.N })
	if !slices.Equal(all, sent) {
		t.Errorf("got %v\nsent %v", all, sent)
	}
}

func TestBroadcastSendsEveryRecordToEveryTask(t *testing.T) {
	for _, lanes := range []int{1, 2, 5} {
		sent, got := sendAll(t, func(s flow.Stream[int]) flow.Stream[int] { return flow.Filter(flow.Broadcast(s), "op", keep) }, lanes, 0, uint64(lanes))
		for i := range got {
			if !slices.Equal(got[i], sent) {
				t.Errorf("lane %d: got %v\nsent %v", i, got[i], sent)
			}
		}
	}
}

func TestAKeyGoesToItsOwnerInOrder(t *testing.T) {
	keyed := func(s flow.Stream[int]) flow.Stream[int] {
		k := flow.KeyBy(s, key3)
		return flow.MapInto(flow.Reduce(k, "op", copyInt), "value", func(in *flow.KeyValue[int, int], out *int) { *out = in.Value })
	}
	for _, lanes := range []int{1, 2, 3, 128} {
		sent, got := sendAll(t, keyed, lanes, 0, uint64(lanes))
		for i, records := range got {
			for _, r := range records {
				h := table.HashUint64(uint64(key3(&r.N)))
				if lo, hi := table.GroupsOf(i, 128, lanes); int(h>>57) < lo || int(h>>57) >= hi {
					t.Errorf("key %d is with task %d of %d", key3(&r.N), i, lanes)
				}
			}
			if !slices.IsSortedFunc(records, func(a, b result) int { return a.N - b.N }) {
				t.Errorf("lane %d is out of order", i)
			}
		}
		checkUnion(t, sent, got)
	}
}

// phase is a part of the records of a combining test.
type phase struct {
	records int
	keys    int // as many, uniform
	most    int // partial accumulators that may travel for them
}

// wide is an accumulator of which a producer's table has few.
type wide struct {
	sum int64
	_   [40]int64
}

func addWide(acc *wide, in *int)        { acc.sum += int64(*in % 1000) }
func mergeWide(dst, src *wide)          { dst.sum += src.sum }
func resultWide(acc *wide) int64        { return acc.sum }
func addSum(acc *int64, in *int)        { *acc += int64(*in % 1000) }
func mergeSum(dst, src *int64)          { *dst += *src }
func resultSum(acc *int64) int64        { return *acc }
func model(sum int64, n int) int64      { return sum + int64(n%1000) }
func distinct17(set int64, n int) int64 { return set | 1<<(n%17) }

// The totals of the tasks are those of one map, whatever the producer's table
// does: holds all keys, grows, gives up, and tries again.
func TestCombiningChangesNoTotal(t *testing.T) {
	const window = 64 << 10
	sum := flow.Aggregator[int, int64, int64]{Add: addSum, Merge: mergeSum, Result: resultSum}
	for name, phases := range map[string][]phase{
		"one key":                 {{200_000, 1, 10}},
		"ten keys":                {{200_000, 10, 100}},
		"the table grows to hold": {{2 * window, 12_000, 2 * window}, {window, 12_000, 13_000}},
	} {
		t.Run(name, func(t *testing.T) { sameTotals(t, phases, sum, model) })
	}
	phases := []phase{{4 * window, 100_000, 4 * window}, {15 * window, 100, 15 * window}, {window, 100, 100}}
	t.Run("given up, then again", func(t *testing.T) {
		sameTotals(t, phases, flow.Aggregator[int, wide, int64]{Add: addWide, Merge: mergeWide, Result: resultWide}, model)
	})
}

func TestCombiningKeepsAccumulatorsWithPointersApart(t *testing.T) {
	phases := []phase{{20_000, 7, 100}, {70_000, 20_000, 70_000}}
	value := func(n *int) int { return *n % 17 }
	distinct := agg.Distinct(value)
	sameTotals(t, phases, flow.Aggregator[int, map[int]int, int64]{
		New:   func() map[int]int { return map[int]int{-1: 1} },
		Add:   func(acc *map[int]int, in *int) { (*acc)[*in%17] = 1 },
		Merge: func(dst, src *map[int]int) { maps.Copy(*dst, *src) },
		Result: func(acc *map[int]int) (set int64) {
			for n := range *acc {
				if n >= 0 {
					set |= 1 << n
				}
			}
			return set
		},
	}, distinct17)
	sameAsWithoutMerge(t, phases, distinct)
	sameAsWithoutMerge(t, phases, agg.TopN(2, func(a, b *int) int { return *a - *b }))
}

// record is the next record of a phase; its key is above the low 10 bits.
func (p phase) record(rnd *rand.Rand) int { return rnd.IntN(p.keys)<<10 | rnd.IntN(1000) }

func keyAbove(n *int) int { return *n >> 10 }

// sameTotals runs the phases through a combining outlet into three tasks and
// compares their results with those of a map.
func sameTotals[A any](t *testing.T, phases []phase, a flow.Aggregator[int, A, int64], fold func(int64, int) int64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 6))
	with := newAggregation(t, a)
	want := map[int]int64{}
	for i, p := range phases {
		for range p.records / 1000 {
			recs := make([]int, 1000)
			for j := range recs {
				recs[j] = p.record(rnd)
				want[recs[j]>>10] = fold(want[recs[j]>>10], recs[j])
			}
			with.pass(t, recs)
		}
		with.outlet.Flush(true)
		if with.traveled > p.most {
			t.Errorf("phase %d: %d accumulators traveled, want at most %d", i, with.traveled, p.most)
		}
		if i == 1 && p.keys < phases[0].keys && with.traveled < p.records/4 {
			t.Errorf("%d accumulators traveled for %d records: combining was not given up before", with.traveled, p.records)
		}
		with.traveled = 0
	}
	if got := with.results(t); !maps.Equal(got, want) {
		t.Errorf("%d keys, want %d; or other values", len(got), len(want))
	}
}

// sameAsWithoutMerge compares an aggregator with itself where records travel.
func sameAsWithoutMerge[A, R any](t *testing.T, phases []phase, a flow.Aggregator[int, A, R]) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 7))
	plain := a
	plain.Merge = nil
	with, without := newAggregation(t, a), newAggregation(t, plain)
	for _, p := range phases {
		for range p.records / 1000 {
			recs := make([]int, 1000)
			for j := range recs {
				recs[j] = p.record(rnd)
			}
			with.pass(t, recs)
			without.pass(t, recs)
		}
	}
	with.outlet.Flush(true)
	without.outlet.Flush(true)
	if with.traveled >= without.traveled {
		t.Errorf("%d accumulators traveled for %d records", with.traveled, without.traveled)
	}
	if got, want := with.results(t), without.results(t); !reflect.DeepEqual(got, want) {
		t.Errorf("%d keys with Merge, %d without; or other values", len(got), len(want))
	}
}

// aggregation is an outlet and the three tasks behind it.
type aggregation[A, R any] struct {
	outlet   flow.Outlet
	tasks    []*rig
	out      []*taken[flow.KeyValue[int, R]]
	traveled int
}

func newAggregation[A, R any](t *testing.T, a flow.Aggregator[int, A, R]) *aggregation[A, R] {
	t.Helper()
	g := flow.New("job")
	end(flow.Total(flow.KeyBy(ints(g, "in"), keyAbove), "op", a))
	const tasks = 3
	agg := &aggregation[A, R]{}
	for i := range tasks {
		r := newRig(t, g, 0)
		r.inst.Lo, r.inst.Hi = table.GroupsOf(i, 128, tasks)
		out := &taken[flow.KeyValue[int, R]]{}
		r.kernel.Connect(0, out)
		agg.tasks, agg.out = append(agg.tasks, r), append(agg.out, out)
	}
	agg.outlet = outletOf(t, agg.tasks[0], tasks, 0, func(lane int, b flow.Batch) {
		agg.traveled += b.Len()
		if err := agg.tasks[lane].pass(b); err != nil {
			t.Fatal(err)
		}
	})
	return agg
}

func (a *aggregation[A, R]) pass(t *testing.T, recs []int) {
	if err := a.outlet.OnBatch(0, stamped(recs)); err != nil {
		t.Fatal(err)
	}
}

func (a *aggregation[A, R]) results(t *testing.T) map[int]R {
	all := map[int]R{}
	for i, r := range a.tasks {
		for more := true; more; {
			var err error
			if more, err = r.kernel.(flow.Ending).OnEnd(512); err != nil {
				t.Fatal(err)
			}
		}
		for j, kv := range a.out[i].recs {
			if _, twice := all[kv.Key]; twice {
				t.Errorf("key %d has two results", kv.Key)
			}
			all[kv.Key] = kv.Value
			if a.out[i].times[j] != flow.MaxTime {
				t.Errorf("a total has the time %v", a.out[i].times[j])
			}
		}
	}
	return all
}
