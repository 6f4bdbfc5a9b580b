package exec_test

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

// meter is a source of equal parts: before the first and after each it looks at
// how much the process has allocated. Its reader runs on the worker.
type meter struct {
	parts, part int
	pumped      bool
	allocated   []uint64 // objects, at each look
}

func (m *meter) Bounded() bool   { return true }
func (m *meter) Immediate() bool { return !m.pumped }
func (m *meter) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "a"}}, nil
}
func (m *meter) Open(context.Context, flow.Split, flow.Position) (flow.Reader[rec48], error) {
	return &meterReader{meter: m}, nil
}

type meterReader struct {
	*meter
	n int
}

func (r *meterReader) Read(_ context.Context, buf []rec48) (int, error) {
	if r.n%r.part == 0 {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		r.allocated = append(r.allocated, s.Mallocs)
	}
	if r.n == r.parts*r.part {
		return 0, io.EOF
	}
	n := min(len(buf), r.part-r.n%r.part)
	for i := range n {
		buf[i] = rec48{Key: uint64(r.n % 1000), A: uint64(r.n)}
		r.n++
	}
	return n, nil
}

func (r *meterReader) Position() flow.Position { return nil }
func (r *meterReader) Close() error            { return nil }

func (r *rec48) key() uint64 { return r.Key }
func (r *rec48) a() int64    { return int64(r.A) }

// A pipeline in its stride allocates nothing for a record: what is allowed is one
// object in a thousand. Where batches go from one thread to another, a goroutine
// that waits makes a timer, and a producer that finds the ring full makes a
// batch: that is at most two objects for each batch of 341 of these records.
func TestARecordAllocatesNothing(t *testing.T) {
	type kv = flow.KeyValue[uint64, int64]
	copyRec := func(in, out *rec48) { *out = *in }
	cases := map[string]func(s flow.Stream[rec48]){
		"a chain": func(s flow.Stream[rec48]) {
			s = flow.Filter(flow.MapInto(s, "map", copyRec), "filter", func(r *rec48) bool { return r.A%3 != 0 })
			s = flow.FlatMap(s, "flat", func(in *rec48, out *flow.Out[rec48]) error { *out.Slot() = *in; return nil })
			s = flow.MapBatch(s, "batch", func(in, out []rec48) error { copy(out, in); return nil })
			flow.Write(flow.TryMap(s, "try", func(in, out *rec48) error { *out = *in; return nil }), "out", nullSink[rec48]{})
		},
		"a chain with event time": func(s flow.Stream[rec48]) {
			s = flow.Timestamps(s, "time", func(r *rec48) flow.Time { return flow.Time(r.A) }, flow.Ascending())
			s = flow.Filter(s, "filter", func(r *rec48) bool { return r.A%3 != 0 })
			flow.Write(flow.MapInto(s, "map", copyRec, flow.NoChain()), "out", nullSink[rec48]{})
		},
		"tasks and routes": func(s flow.Stream[rec48]) {
			outs := flow.Route(flow.MapInto(flow.Rebalance(s), "map", copyRec), "route", 2, func(r *rec48) int { return int(r.A % 2) })
			flow.Write(flow.Union("both", outs...), "out", nullSink[rec48]{})
		},
		"a sum": func(s flow.Stream[rec48]) {
			flow.Write(flow.Total(flow.KeyBy(s, (*rec48).key), "sum", agg.Sum((*rec48).a)), "out", nullSink[kv]{})
		},
		"a sum that is not combined": func(s flow.Stream[rec48]) {
			sum := agg.Sum((*rec48).a)
			sum.Merge = nil
			flow.Write(flow.Total(flow.KeyBy(s, (*rec48).key), "sum", sum), "out", nullSink[kv]{})
		},
		"a running sum": func(s flow.Stream[rec48]) {
			r := flow.Reduce(flow.KeyBy(s, (*rec48).key), "sum", func(acc, in *rec48) { acc.A += in.A })
			flow.Write(r, "out", nullSink[flow.KeyValue[uint64, rec48]]{})
		},
		"a sink off the workers": func(s flow.Stream[rec48]) {
			flow.Write(s, "out", countingSink{new(atomic.Int64)})
		},
	}
	for name, build := range cases {
		for _, pumped := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				src := &meter{parts: 8, part: 100_000, pumped: pumped}
				g := flow.New("g")
				build(flow.Read[rec48](g, "in", src, flow.Parallelism(1)))
				run(t, g, exec.Options{Workers: 2})
				if len(src.allocated) != src.parts+1 {
					t.Fatalf("%d looks", len(src.allocated))
				}
				least := ^uint64(0) // another test of the process, or the runtime, may allocate meanwhile
				for i := 2; i <= src.parts; i++ {
					least = min(least, src.allocated[i]-src.allocated[i-1])
				}
				most := 0.001
				if pumped || name != "a chain" && name != "a sum" {
					most = 2.0 / 341
				}
				if per := float64(least) / float64(src.part); per > most {
					t.Errorf("%d objects for %d records: %.4f for each", least, src.part, per)
				}
			})
		}
	}
}

type countingSink struct{ n *atomic.Int64 }

func (s countingSink) Open(context.Context, flow.TaskInfo) (flow.Writer[rec48], error) { return s, nil }
func (s countingSink) Write(_ context.Context, batch []rec48) error {
	s.n.Add(int64(len(batch)))
	return nil
}
func (s countingSink) Flush(context.Context) error { return nil }
func (s countingSink) Close() error                { return nil }
