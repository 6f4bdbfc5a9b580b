package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

type record struct {
	N, Left int64
}

// number leaves a field alone, which must come zeroed.
func number(i int64, out *record) {
	out.N = i
	if out.Left != 0 {
		panic("the record isn't zeroed")
	}
	if i%2 == 0 {
		out.Left = 1
	}
}

func readUpTo(t testing.TB, r flow.Reader[record], buf []record, most int) (all []int64) {
	t.Helper()
	for len(all) < most {
		n, err := r.Read(context.Background(), buf)
		for _, v := range buf[:n] {
			all = append(all, v.N)
		}
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestSplitsTogetherHaveEachRecordOnce(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int64{0, 1, 7, 8, 9, 100} {
		for _, splits := range []int{1, 2, 3, 8, 20} {
			for _, opts := range [][]Option{{Splits(splits)}, {Splits(splits), Strided()}} {
				src := Source(n, number, opts...)
				list, err := src.Splits(ctx)
				if err != nil || len(list) != splits {
					t.Fatal(len(list), err)
				}
				var got []int64
				ids := map[string]bool{}
				for _, s := range list {
					ids[s.ID] = true
					r, err := src.Open(ctx, s, nil)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, readUpTo(t, r, make([]record, 3), math.MaxInt)...)
				}
				slices.Sort(got)
				for i, v := range got {
					if v != int64(i) {
						t.Fatalf("n=%d, %d splits: got %v", n, splits, got)
					}
				}
				if int64(len(got)) != n || len(ids) != splits {
					t.Fatalf("n=%d, %d splits: %d records, %d IDs", n, splits, len(got), len(ids))
				}
			}
		}
	}
}

func TestReadingFromEveryPositionGivesTheRest(t *testing.T) {
	ctx := context.Background()
	for name, src := range map[string]flow.Source[record]{
		"ranges":    Source(50, number, Splits(3)),
		"strided":   Source(50, number, Splits(3), Strided()),
		"unbounded": Source(-1, number, Splits(3)),
	} {
		t.Run(name, func(t *testing.T) {
			splits, err := src.Splits(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range splits {
				from := func(p flow.Position) []int64 {
					r, err := src.Open(ctx, s, p)
					if err != nil {
						t.Fatal(err)
					}
					return readUpTo(t, r, make([]record, 1), 60)
				}
				want := from(nil)
				r, err := src.Open(ctx, s, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range min(len(want), 20) {
					got := from(r.Position())
					if most := min(len(got), len(want)-i); !slices.Equal(got[:most], want[i:i+most]) || most < len(want)-i {
						t.Fatalf("split %s from record %d: got %v, want %v", s.ID, i, got, want[i:])
					}
					if n, err := r.Read(ctx, make([]record, 1)); n != 1 || err != nil {
						t.Fatal(n, err)
					}
				}
			}
		})
	}
}

func TestWhatKindOfSourceItIs(t *testing.T) {
	for _, tt := range []struct {
		name               string
		src                flow.Source[record]
		bounded, immediate bool
	}{
		{"bounded", Source(1, number), true, true},
		{"unbounded", Source(-1, number), false, true},
		{"with a rate", Source(1, number, Rate(5)), true, false},
	} {
		if tt.src.Bounded() != tt.bounded || tt.src.(flow.Immediate).Immediate() != tt.immediate {
			t.Errorf("%s: bounded %v, immediate %v", tt.name, tt.src.Bounded(), tt.src.(flow.Immediate).Immediate())
		}
	}
}

func TestMistakesAreErrors(t *testing.T) {
	ctx := context.Background()
	for name, opt := range map[string]Option{
		"no splits": Splits(0), "a negative rate": Rate(-1), "no rate": Rate(math.NaN()), "an endless rate": Rate(math.Inf(1)),
	} {
		src := Source(1, number, opt)
		if src.(flow.Checker).Check(ctx) == nil {
			t.Errorf("%s: Check finds nothing", name)
		}
		if _, err := src.Splits(ctx); err == nil {
			t.Errorf("%s: Splits finds nothing", name)
		}
	}
	src := Source(10, number, Splits(2), Strided())
	for name, open := range map[string]func() error{
		"a split of another number": func() error { _, err := src.Open(ctx, flow.Split{ID: "0/3"}, nil); return err },
		"a position of another split": func() error {
			_, err := src.Open(ctx, flow.Split{ID: "0/2"}, flow.Position{1})
			return err
		},
		"no position": func() error { _, err := src.Open(ctx, flow.Split{ID: "0/2"}, flow.Position{0xff}); return err },
	} {
		if open() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTheRateIsKept(t *testing.T) {
	for _, rate := range []float64{0.5, 7, 1000, 1e6} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				src := Source(-1, number, Rate(rate), Splits(1))
				r, err := src.Open(ctx, flow.Split{ID: "0/1"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				buf := make([]record, 100_000)
				total := 0
				for {
					n, err := r.Read(ctx, buf)
					total += n
					if errors.Is(err, context.DeadlineExceeded) {
						break
					}
					if err != nil || n == 0 {
						t.Fatal(n, err)
					}
				}
				want := 20 * rate
				if diff := math.Abs(float64(total) - want); diff > 1+0.01*want {
					t.Errorf("%d records in 20 s at %v a second", total, rate)
				}
			})
		})
	}
}

func BenchmarkSource(b *testing.B) {
	ctx := context.Background()
	src := Source(-1, func(i int64, out *record) { out.N = i }, Splits(1))
	r, err := src.Open(ctx, flow.Split{ID: "0/1"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]record, 1024)
	for read := 0; read < b.N; {
		n, err := r.Read(ctx, buf)
		if err != nil {
			b.Fatal(err)
		}
		read += n
	}
}
