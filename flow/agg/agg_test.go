package agg

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/tailrace-io/tailrace/flow"
)

type rec struct {
	ID    int64
	Small int8
	Big   uint64
	F     float64
	Name  string
}

func (r *rec) id() int64      { return r.ID }
func (r *rec) small() int8    { return r.Small }
func (r *rec) big() uint64    { return r.Big }
func (r *rec) f() float64     { return r.F }
func (r *rec) name() string   { return r.Name }
func (r *rec) minute() int    { return int(r.ID%97) - 20 }
func (r *rec) cube() int64    { return r.ID * r.ID * r.ID }
func (r *rec) whole() float64 { return float64(r.ID % 1000) }

// byID is a total order: no two records of recs are equal by it.
func byID(a, b *rec) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.F, b.F)) }

func recs(rng *rand.Rand, n int) []rec {
	out := make([]rec, n)
	for i := range out {
		id := rng.Int64N(int64(3*n)) - int64(n)
		out[i] = rec{id, int8(id), math.MaxUint64 - uint64(rng.IntN(n)), rng.NormFloat64(), "n" + strconv.FormatInt(id, 10)}
	}
	return out
}

func empty[T, A, R any](a flow.Aggregator[T, A, R]) A { return newOf(a) }

func fold[T, A, R any](a flow.Aggregator[T, A, R], in []T) A {
	acc := empty(a)
	for i := range in {
		a.Add(&acc, &in[i])
	}
	return acc
}

// obeys checks what every aggregator promises: parts in any split and any order
// of merging give what one pass gives, and no accumulator shares memory with
// another after a Merge or a Clone.
func obeys[T, A, R any](t *testing.T, a flow.Aggregator[T, A, R], in, poison []T, equal func(x, y R) bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(in))))
	one := fold(a, in)
	want := a.Result(&one)
	if again := a.Result(&one); !equal(want, again) {
		t.Fatalf("a second Result of one accumulator is %v, the first %v", again, want)
	}
	for range 20 {
		shuffled := slices.Clone(in)
		rng.Shuffle(len(in), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		accs := []*A{new(empty(a))} // an empty part
		for rest := shuffled; len(rest) > 0; {
			n := min(1+rng.IntN(len(in)/2+1), len(rest))
			accs = append(accs, new(fold(a, rest[:n])))
			rest = rest[n:]
		}
		for len(accs) > 1 {
			i := rng.IntN(len(accs))
			src := accs[i]
			accs = slices.Delete(accs, i, i+1)
			dst := accs[rng.IntN(len(accs))]
			before := a.Result(src)
			a.Merge(dst, src)
			if after := a.Result(src); !reflect.DeepEqual(before, after) && !equal(before, after) {
				t.Fatalf("Merge changed its source from %v to %v", before, after)
			}
			merged := stored(t, dst)
			spoil(a, src, poison)
			if after := stored(t, dst); !bytes.Equal(merged, after) {
				t.Fatalf("a merged %T changed from %x to %x with its source", *dst, merged, after)
			}
		}
		if got := a.Result(accs[0]); !equal(want, got) {
			t.Fatalf("parts give %v, one pass %v", got, want)
		}
	}
	if a.Clone == nil {
		return
	}
	copied, before := fold(a, poison), stored(t, &one)
	a.Clone(&copied, &one)
	spoil(a, &one, poison)
	if after := stored(t, &copied); !bytes.Equal(before, after) {
		t.Fatalf("a clone changed from %x to %x with its source", before, after)
	}
}

// stored is everything in an accumulator.
func stored[A any](t *testing.T, acc *A) []byte {
	t.Helper()
	c, err := flow.CodecOf[A](flow.New("test"))
	if err != nil {
		t.Fatal(err)
	}
	enc, err := c.Append(nil, acc)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// spoil changes acc and all memory that it has: as a recycled accumulator.
func spoil[T, A, R any](a flow.Aggregator[T, A, R], acc *A, poison []T) {
	for i := range poison {
		a.Add(acc, &poison[i])
	}
	scribble(reflect.ValueOf(acc).Elem(), 0)
}

func same[R any](x, y R) bool { return reflect.DeepEqual(x, y) }

func TestPartsGiveWhatOnePassGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{0, 1, 2, 50, 3000} {
		in, poison := recs(rng, max(n, 1))[:n], []rec{{1 << 40, 1, 2, 3e9, "poison"}, {-1 << 40, 9, 9, -3e9, "more"}}
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			obeys(t, Count[rec](), in, poison, same)
			obeys(t, Sum((*rec).small), in, poison, same)
			obeys(t, Sum((*rec).whole), in, poison, same)
			obeys(t, Sum((*rec).f), in, poison, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
			obeys(t, Min((*rec).f), in, poison, same)
			obeys(t, Max((*rec).name), in, poison, same)
			obeys(t, Mean((*rec).big), in, poison, same)
			obeys(t, Mean((*rec).small), in, poison, same)
			obeys(t, Mean((*rec).whole), in, poison, same)
			obeys(t, TopN(7, byID), in, poison, same)
			obeys(t, Distinct((*rec).name), in, poison, same)
			obeys(t, ExactQuantile((*rec).minute, 0, 0.5, 0.9, 1), in, poison, same)
			obeys(t, ExactQuantile((*rec).big, 0, 0.07, 1), in, poison, same)
			obeys(t, ExactQuantile((*rec).id, 0.3), in, poison, same)
			obeys(t, ExactQuantile((*rec).cube, 0.3), in, poison, same)
			obeys(t, Quantile((*rec).whole, 0, 0.5, 1), in, poison, near)
			obeys(t, ApproxDistinct((*rec).id), in, poison, same)
			obeys(t, Combine4(Count[rec](), TopN(3, byID), Distinct((*rec).id), Combine2(Max((*rec).f), Mean((*rec).id), plain2),
				func(n int64, top []rec, d int64, m [2]float64) [4]any { return [4]any{n, top, d, m} }), in, poison, same)
			obeys(t, Combine3(Count[rec](), Mean((*rec).whole), Max((*rec).f),
				func(n int64, mean, most float64) [3]float64 { return [3]float64{float64(n), mean, most} }), in, poison, same)
		})
	}
}

// near is for quantiles of whole: the ends are exact, the middle nearly.
func near(x, y []float64) bool {
	if math.IsNaN(x[0]) {
		return math.IsNaN(y[0])
	}
	return x[0] == y[0] && x[2] == y[2] && math.Abs(x[1]-y[1]) < 30
}

func plain2(a, b float64) [2]float64 { return [2]float64{a, b} }

func TestResultsOfKnownRecords(t *testing.T) {
	in := []rec{{3, -1, math.MaxUint64, 2, "c"}, {1, -2, math.MaxUint64, -4, "a"}, {2, 127, math.MaxUint64 - 3, 8, "b"}, {2, 127, 0, 0, "b"}}
	for _, c := range []struct {
		claim     string
		got, want any
	}{
		{"counts", resultOf(Count[rec](), in), int64(4)},
		{"an int8 sum wraps", resultOf(Sum((*rec).small), in), int8(-5)},
		{"the mean of an int8 does not", resultOf(Mean((*rec).small), in), 62.75},
		{"a mean beyond 64 bits is exact", resultOf(Mean((*rec).big), in[:3]), float64(math.MaxUint64 - 1)},
		{"min", resultOf(Min((*rec).f), in), -4.0},
		{"min of none", resultOf(Min((*rec).f), nil), 0.0},
		{"max of negatives is not 0", resultOf(Max((*rec).small), in[:2]), int8(-1)},
		{"max of strings", resultOf(Max((*rec).name), in), "c"},
		{"mean of none", resultOf(Mean((*rec).f), nil), 0.0},
		{"largest first", resultOf(TopN(2, byID), in[:3]), []rec{in[0], in[2]}},
		{"distinct", resultOf(Distinct((*rec).name), in), int64(3)},
		{"approximately distinct", resultOf(ApproxDistinct((*rec).name), in), int64(3)},
		{"approximately none", resultOf(ApproxDistinct((*rec).f), nil), int64(0)},
		{"quantiles", resultOf(ExactQuantile((*rec).id, 0, .25, .26, .75, .76, 1), in), []int64{1, 1, 2, 2, 3, 3}},
		{"quantiles of none", resultOf(ExactQuantile((*rec).id, .5), nil), []int64{0}},
		{"quantiles at the ends of a type", resultOf(ExactQuantile((*rec).big, 0, 1), in), []uint64{0, math.MaxUint64}},
		{"approximate quantiles of few are values", resultOf(Quantile((*rec).f, 0, .5, 1), in[:3]), []float64{-4, 2, 8}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.claim, c.got, c.want)
		}
	}
}

func resultOf[T, A, R any](a flow.Aggregator[T, A, R], in []T) R {
	acc := fold(a, in)
	return a.Result(&acc)
}

func TestNaNIsHandledAsDocumented(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	in := []rec{{F: 1}, {F: nan}, {F: 3}, {F: inf}}
	for range 4 {
		in = append(in[1:], in[0])
		if got := resultOf(Min((*rec).f), in); !math.IsNaN(got) {
			t.Errorf("min is %v", got)
		}
		if got := resultOf(Quantile((*rec).f, 1), in)[0]; got != 3 {
			t.Errorf("the largest finite value is %v", got)
		}
	}
	if got := resultOf(Quantile((*rec).f, .5), nil)[0]; !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
	zeros := []rec{{F: 0}, {F: math.Copysign(0, -1)}, {F: nan}, {F: -nan}}
	if got := resultOf(ApproxDistinct((*rec).f), zeros); got != 2 {
		t.Errorf("0, -0 and NaNs are %d values", got)
	}
}

func TestAResultIsTheCallersOwn(t *testing.T) {
	a := TopN(3, byID)
	acc := fold(a, []rec{{ID: 1}, {ID: 2}})
	first := a.Result(&acc)
	first[0].ID = 99
	if got := a.Result(&acc); got[0].ID != 2 {
		t.Errorf("the accumulator changed with its result: %v", got)
	}
}

func TestMistakesPanicWhereTheGraphIsBuilt(t *testing.T) {
	for name, f := range map[string]func(){
		"TopN of 0":           func() { TopN(0, byID) },
		"a quantile above 1":  func() { Quantile((*rec).f, 0.5, 90) },
		"a NaN quantile":      func() { ExactQuantile((*rec).id, math.NaN()) },
		"no quantiles at all": func() { Quantile((*rec).f) },
		"a quantile below 0":  func() { ExactQuantile((*rec).id, -0.1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			f()
		}()
	}
}

func TestCombineKeepsWhatItsPartsLack(t *testing.T) {
	noMerge := flow.Aggregator[rec, []int, int]{
		New:    func() []int { return []int{7} },
		Add:    func(acc *[]int, in *rec) { *acc = append(*acc, 1) },
		Result: func(acc *[]int) int { return (*acc)[0] + len(*acc) },
	}
	c := Combine2(Count[rec](), noMerge, func(n int64, m int) int { return int(n) + m })
	if c.Merge != nil || c.Clone != nil {
		t.Error("Merge or Clone appeared from nowhere")
	}
	if got := resultOf(c, make([]rec, 2)); got != 2+7+3 {
		t.Errorf("got %d: New of a part was not called", got)
	}
	if c := Combine2(Count[rec](), Mean((*rec).f), func(int64, float64) int { return 0 }); c.New != nil || c.Clone == nil {
		t.Error("parts without pointers need no New and have a Clone")
	}
}
