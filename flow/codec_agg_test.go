package flow_test

import (
	"cmp"
	"reflect"
	"testing"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

type sale struct {
	Shop  string
	Cents int64
	Share float64
}

func (s *sale) shop() string   { return s.Shop }
func (s *sale) cents() int64   { return s.Cents }
func (s *sale) share() float64 { return s.Share }

// survives says that an accumulator stored half-way goes on as if it had not
// been.
func survives[A, R any](t *testing.T, a flow.Aggregator[sale, A, R]) {
	t.Helper()
	c, err := flow.CodecOf[A](flow.New("test"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 100, 4000} {
		var kept A
		if a.New != nil {
			kept = a.New()
		}
		for i := range n {
			a.Add(&kept, &sale{string(rune('a' + i%3000)), int64(i * i % 777), float64(i%100) / 7})
		}
		enc, err := c.Append(nil, &kept)
		if err != nil {
			t.Fatalf("%T after %d records: %v", kept, n, err)
		}
		var back A
		if used, err := c.Decode(enc, &back); err != nil || used != len(enc) {
			t.Fatalf("%T after %d records: took %d of %d bytes: %v", kept, n, used, len(enc), err)
		}
		for i := range 1000 {
			in := sale{"later", int64(i), float64(i)}
			a.Add(&kept, &in)
			a.Add(&back, &in)
		}
		if got, want := a.Result(&back), a.Result(&kept); !reflect.DeepEqual(got, want) {
			t.Errorf("%T, stored after %d records: result %v, want %v", kept, n, got, want)
		}
	}
}

func TestAccumulatorsSurviveTheirCodec(t *testing.T) {
	survives(t, agg.Count[sale]())
	survives(t, agg.Sum((*sale).share))
	survives(t, agg.Min((*sale).shop))
	survives(t, agg.Max((*sale).cents))
	survives(t, agg.Mean((*sale).cents))
	survives(t, agg.TopN(5, func(a, b *sale) int { return cmp.Compare(a.Cents, b.Cents) }))
	survives(t, agg.Distinct((*sale).shop))
	survives(t, agg.ApproxDistinct((*sale).shop))
	survives(t, agg.Quantile((*sale).share, 0.5, 0.99))
	survives(t, agg.ExactQuantile((*sale).cents, 0.5, 0.99))
	survives(t, agg.Combine3(agg.Count[sale](), agg.ApproxDistinct((*sale).cents), agg.Quantile((*sale).share, 0.5),
		func(n, d int64, q []float64) []float64 { return append(q, float64(n), float64(d)) }))
}
