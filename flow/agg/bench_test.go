package agg

import (
	"math/rand/v2"
	"testing"

	"github.com/tailrace-io/tailrace/flow"
)

// leg has 48 bytes, as the records of the flights example do.
type leg struct {
	ID, City, Dest int64
	Delay          float64
	Minutes        int
	Airline        int64
}

func legs(n int) []leg {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]leg, n)
	for i := range out {
		d := int(rng.ExpFloat64()*30) - 15
		out[i] = leg{ID: rng.Int64(), Delay: float64(d), Minutes: d, Airline: rng.Int64N(20)}
	}
	return out
}

func benchAdd[A, R any](b *testing.B, name string, a flow.Aggregator[leg, A, R]) {
	in := legs(4096)
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		acc := empty(a)
		i := 0
		for b.Loop() {
			a.Add(&acc, &in[i&4095])
			i++
		}
		a.Result(&acc)
	})
}

func BenchmarkAdd(b *testing.B) {
	delay := func(l *leg) float64 { return l.Delay }
	minutes := func(l *leg) int { return l.Minutes }
	benchAdd(b, "count", Count[leg]())
	benchAdd(b, "sum", Sum(delay))
	benchAdd(b, "max", Max(delay))
	benchAdd(b, "mean-float", Mean(delay))
	benchAdd(b, "mean-int", Mean(minutes))
	benchAdd(b, "combine3", Combine3(Count[leg](), Mean(delay), Max(delay),
		func(n int64, mean, most float64) [3]float64 { return [3]float64{float64(n), mean, most} }))
	benchAdd(b, "exact-quantile", ExactQuantile(minutes, 0.9))
	benchAdd(b, "quantile", Quantile(delay, 0.9))
	benchAdd(b, "distinct", Distinct(func(l *leg) int64 { return l.ID }))
	benchAdd(b, "approx-distinct", ApproxDistinct(func(l *leg) int64 { return l.ID }))
	benchAdd(b, "top10", TopN(10, func(a, b *leg) int { return int(a.ID>>33) - int(b.ID>>33) }))
}

// BenchmarkAddByHand is the loop that a person would write.
func BenchmarkAddByHand(b *testing.B) {
	in := legs(4096)
	var n int64
	var sum, most float64
	i := 0
	for b.Loop() {
		l := &in[i&4095]
		n, sum, most = n+1, sum+l.Delay, max(most, l.Delay)
		i++
	}
	if n != int64(b.N) || most <= 0 || sum == 0 {
		b.Fatal(n, sum, most)
	}
}

func BenchmarkMergeAndResult(b *testing.B) {
	in := legs(4096)
	minutes := func(l *leg) int { return l.Minutes }
	benchMerge(b, "exact-quantile", ExactQuantile(minutes, 0.9), in)
	benchMerge(b, "quantile", Quantile(minutes, 0.9), in)
	benchMerge(b, "approx-distinct", ApproxDistinct(func(l *leg) int64 { return l.ID }), in)
	benchMerge(b, "top10", TopN(10, func(a, b *leg) int { return int(a.ID>>33) - int(b.ID>>33) }), in)
}

func benchMerge[A, R any](b *testing.B, name string, a flow.Aggregator[leg, A, R], in []leg) {
	src := fold(a, in)
	b.Run(name+"/merge", func(b *testing.B) {
		dst := fold(a, in)
		for b.Loop() {
			a.Merge(&dst, &src)
		}
	})
	b.Run(name+"/result", func(b *testing.B) {
		for b.Loop() {
			a.Result(&src)
		}
	})
}
