package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

func TestApproxDistinctStaysWithinItsError(t *testing.T) {
	const sigma = 0.0081
	a := ApproxDistinct(func(n *int64) int64 { return *n })
	s := ApproxDistinct(func(n *int64) string { return fmt.Sprint(*n) })
	for _, n := range []int{10, 1000, 100_000} {
		in := make([]int64, n)
		for i := range in {
			in[i] = int64(i) * 64 // regular values, as ids are
		}
		in = append(in, in[:n/2]...)
		for name, got := range map[string]int64{"int64": resultOf(a, in), "string": resultOf(s, in)} {
			if off := math.Abs(float64(got)/float64(n) - 1); off > 4*sigma {
				t.Errorf("%d different values of %s: estimate %d, off by %.2f %%", n, name, got, 100*off)
			}
		}
	}
}

func TestSketchesOfDifferentPlatformsAgree(t *testing.T) {
	type small int32
	x, y := hasherOf[int](), hasherOf[int64]()
	z := hasherOf[small]()
	for _, v := range []int{0, -1, 1 << 30} {
		if x(v) != y(int64(v)) || x(v) != z(small(v)) {
			t.Errorf("%d has several hashes", v)
		}
	}
	if got := hasherOf[string]()("tailrace"); got != 0xa4cae4cb9cf477d9 {
		t.Errorf("the hash of strings changed to %#x: stored sketches depend on it", got)
	}
}

func TestASketchRefusesBadBytes(t *testing.T) {
	a := ApproxDistinct(func(n *int) int { return *n })
	for _, n := range []int{3, 2000} {
		in := make([]int, n)
		for i := range in {
			in[i] = i
		}
		acc := fold(a, in)
		good, err := acc.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var back Sketch
		if err := back.UnmarshalBinary(good); err != nil || a.Result(&back) != a.Result(&acc) {
			t.Fatalf("%d values come back as %d: %v", n, a.Result(&back), err)
		}
		for i := range min(len(good), 30) {
			var s Sketch
			if err := s.UnmarshalBinary(good[:i]); err == nil && i%8 != 1 {
				t.Errorf("%d values: cut to %d of %d bytes they are accepted", n, i, len(good))
			}
		}
		for at, b := range map[int]byte{0: 1, 1: 16, len(good) - 1: 255, 3: 1} {
			bad := slices.Clone(good)
			bad[at] = b
			bad = append(bad, bad[1:9]...) // fewFormat: not in order
			var s Sketch
			if err := s.UnmarshalBinary(bad); err == nil {
				t.Errorf("%d values: byte %d of %d is accepted", n, b, at)
			}
		}
	}
}

// rankError is how far the share of values below got is from q.
func rankError(sorted []float64, got, q float64) float64 {
	below := sort.SearchFloat64s(sorted, got)
	upTo := sort.Search(len(sorted), func(i int) bool { return sorted[i] > got })
	lo, hi := float64(below)/float64(len(sorted)), float64(upTo)/float64(len(sorted))
	return max(0, lo-q, q-hi)
}

func TestQuantilesStayWithinTheirError(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	qs := []float64{0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1}
	a := Quantile(func(v *float64) float64 { return *v }, qs...)
	for name, gen := range map[string]func(i int) float64{
		"uniform":   func(int) float64 { return rng.Float64() },
		"normal":    func(int) float64 { return rng.NormFloat64() },
		"lognormal": func(int) float64 { return math.Exp(3 * rng.NormFloat64()) },
		"ascending": func(i int) float64 { return float64(i) },
		"few":       func(int) float64 { return float64(rng.IntN(5)) },
	} {
		in := make([]float64, 100_000)
		for i := range in {
			in[i] = gen(i)
		}
		merged := empty(a)
		for part := range slices.Chunk(in, 777) {
			src := fold(a, part)
			a.Merge(&merged, &src)
		}
		sorted := slices.Sorted(slices.Values(in))
		for which, got := range map[string][]float64{"one pass": resultOf(a, in), "parts": a.Result(&merged)} {
			for i, q := range qs {
				most := 0.015*math.Sqrt(q*(1-q)) + 1e-9
				if off := rankError(sorted, got[i], q); off > most {
					t.Errorf("%s, %s: q=%v is off by %.5f in rank, more than %.5f", name, which, q, off, most)
				}
			}
			if got[0] != sorted[0] || got[len(qs)-1] != sorted[len(sorted)-1] {
				t.Errorf("%s, %s: the ends are %v and %v", name, which, got[0], got[len(qs)-1])
			}
			if !slices.IsSorted(got) {
				t.Errorf("%s, %s: not in order: %v", name, which, got)
			}
		}
		if n := len(merged.centroids); n > 2*compression {
			t.Errorf("%s: %d centroids", name, n)
		}
	}
}

func TestExactQuantilesEqualSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	qs := []float64{0, 0.07, 0.25, 0.5, 0.9, 0.99, 1}
	a := ExactQuantile(func(v *int64) int64 { return *v }, qs...)
	for name, gen := range map[string]func() int64{
		"a small range":  func() int64 { return rng.Int64N(1500) - 60 },
		"far apart":      func() int64 { return int64(rng.Uint64()) },
		"with outliers":  func() int64 { return rng.Int64N(50) * (1 + rng.Int64N(1000)/999*1e9) },
		"at the least":   func() int64 { return math.MinInt64 + rng.Int64N(100) },
		"at the most":    func() int64 { return math.MaxInt64 - rng.Int64N(100) },
		"at both ends":   func() int64 { return []int64{math.MaxInt64, math.MinInt64}[rng.IntN(2)] },
		"spreading ever": func() int64 { return int64(math.Exp(30 * rng.Float64())) },
	} {
		for _, n := range []int{1, 100, 5000} {
			in := make([]int64, n)
			for i := range in {
				in[i] = gen()
			}
			acc := fold(a, in)
			got := a.Result(&acc)
			sorted := slices.Sorted(slices.Values(in))
			for i, q := range qs {
				rank := max(1, (int(math.Round(q*100))*n+99)/100)
				if got[i] != sorted[rank-1] {
					t.Errorf("%s, %d values: q=%v is %d, want %d", name, n, q, got[i], sorted[rank-1])
				}
			}
			if len(acc.window) > leastWindow+perValue*n {
				t.Errorf("%s: %d values take a window of %d", name, n, len(acc.window))
			}
		}
	}
}
