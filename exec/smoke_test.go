package exec_test

import (
	"context"
	"slices"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

func TestAChainDeliversEveryRecordOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		var in []int
		for i := range 10000 {
			in = append(in, i)
		}
		g := flow.New("chain")
		var got memory.Collected[int]
		src := flow.Read(g, "numbers", memory.From(in...))
		twice := flow.MapInto(src, "twice", func(in, out *int) { *out = 2 * *in })
		some := flow.Filter(twice, "multiples of 3", func(n *int) bool { return *n%3 == 0 })
		flow.Write(some, "out", got.Sink())
		res, err := exec.Run(context.Background(), g, exec.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if res.Outcome != exec.Finished {
			t.Errorf("outcome %v", res.Outcome)
		}
		recs := got.Records()
		slices.Sort(recs)
		if len(recs) != 3334 || recs[1] != 6 {
			t.Errorf("workers %d: got %d records %v", workers, len(recs), recs[:min(5, len(recs))])
		}
	}
}

func TestAKeyedCountIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	type rec struct {
		word string
		n    int64
	}
	words := []string{"a", "b", "c", "dd", "eee"}
	for _, workers := range []int{1, 2, 3} {
		for _, merge := range []bool{true, false} {
			in := make([]rec, 100000)
			for i := range in {
				in[i] = rec{words[i%len(words)], int64(i)}
			}
			g := flow.New("count")
			var got memory.Collected[flow.KeyValue[string, int64]]
			src := flow.Read(g, "numbers", memory.FromSlice(in, 4))
			sum := flow.Aggregator[rec, int64, int64]{
				Add:    func(acc *int64, in *rec) { *acc += in.n },
				Result: func(acc *int64) int64 { return *acc },
			}
			if merge {
				sum.Merge = func(dst, src *int64) { *dst += *src }
			}
			flow.Write(flow.Total(flow.KeyBy(src, func(r *rec) string { return r.word }), "sum", sum), "out", got.Sink())
			if _, err := exec.Run(context.Background(), g, exec.Options{Workers: workers}); err != nil {
				t.Fatal(err)
			}
			recs := got.Records()
			if len(recs) != len(words) {
				t.Fatalf("workers %d merge %v: %v", workers, merge, recs)
			}
			for _, kv := range recs {
				i := int64(slices.Index(words, kv.Key))
				if want := 20000*i + 5*int64(19999)*20000/2; kv.Value != want {
					t.Errorf("workers %d merge %v: %s = %d, want %d", workers, merge, kv.Key, kv.Value, want)
				}
			}
		}
	}
}
