package flow_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/table"
	"github.com/tailrace-io/tailrace/state"
)

type reading struct{ Sensor, N int64 }

func (r *reading) sensor() int64 { return r.Sensor }

// folding adds each reading up, in one of several ways.
type folding struct {
	sum state.Value[point2]
	how func(*folding, *reading)
}

func (f *folding) Process(_ flow.Ctx[int64], in *reading, _ *flow.Out[string]) error {
	f.how(f, in)
	return nil
}

var ways = []struct {
	name string
	do   func(*folding, *reading)
}{
	{"Edit", func(f *folding, in *reading) { v := f.sum.Edit(); v.N++; v.Sum += in.N }},
	{"Get and Set", func(f *folding, in *reading) {
		v, _ := f.sum.Get()
		f.sum.Set(point2{v.N + 1, v.Sum + in.N})
	}},
	{"Peek and Edit", func(f *folding, in *reading) {
		if p := f.sum.Peek(); p == nil || p.N >= 0 {
			v := f.sum.Edit()
			v.N++
			v.Sum += in.N
		}
	}},
}

// BenchmarkProcess is the time of a record in a processor's kernel, beside
// that of a loop by hand over the same table.
func BenchmarkProcess(b *testing.B) {
	for _, keys := range []int{1e4, 1e6} {
		batches := readings(keys)
		b.Run(fmt.Sprintf("by hand/%d keys", keys), func(b *testing.B) {
			t := table.New(table.Config[int64, point2]{Groups: 128})
			defer t.Close()
			eachRecord(b, batches, func(in *flow.BatchOf[reading]) {
				for i := range in.Recs {
					r := &in.Recs[i]
					v := t.Edit(in.Head.Hashes[i], r.Sensor)
					v.N++
					v.Sum += r.N
				}
			})
		})
		for _, way := range ways {
			b.Run(fmt.Sprintf("%s/%d keys", way.name, keys), func(b *testing.B) {
				g := flow.New("g")
				keyed := flow.KeyBy(flow.Read(g, "in", memory.From[reading]()), (*reading).sensor)
				s := flow.Process[int64, reading, string](keyed, "op", func(s flow.Scope[int64]) *folding {
					return &folding{state.ValueOf[point2](s, "sum"), way.do}
				})
				flow.Write(s, "out", new(memory.Collected[string]).Sink())
				k, _, _ := kernelOf(b, g, 0, 1)
				eachRecord(b, batches, func(in *flow.BatchOf[reading]) {
					if err := k.OnBatch(0, in); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

// readings are batches of random keys with their hashes, as from an exchange.
func readings(keys int) (batches []*flow.BatchOf[reading]) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1 << 11 {
		b := flow.NewBatch[reading](1024)
		for range 1024 {
			key := r.Int64N(int64(keys))
			b.Recs = append(b.Recs, reading{key, 1})
			b.Head.Hashes = append(b.Head.Hashes, table.HashUint64(uint64(key)))
		}
		batches = append(batches, b)
	}
	return batches
}

func eachRecord(b *testing.B, batches []*flow.BatchOf[reading], pass func(*flow.BatchOf[reading])) {
	for _, in := range batches[:len(batches)/2] {
		pass(in)
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		pass(batches[n%len(batches)])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/record")
}
