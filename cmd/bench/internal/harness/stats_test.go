package harness

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		claim  string
		values []float64
		want   float64
	}{
		{"the middle of an odd number", []float64{9, 1, 5}, 5},
		{"the mean of the two in the middle of an even number", []float64{4, 1, 100, 2}, 3},
		{"one outlier does not move it", []float64{1, 1, 1, 1e9, 1}, 1},
	} {
		if got := Median(c.values); got != c.want {
			t.Errorf("%s: got %v, want %v", c.claim, got, c.want)
		}
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
	}
}

func TestPairedRatiosCancelWhatSlowsARoundDown(t *testing.T) {
	// Round 1 met a slow host: both took four times as long.
	got := Paired([]float64{2, 8, 2.2}, []float64{1, 4, 1})
	if want := (Ratio{Median: 2, Lo: 2, Hi: 2.2, N: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDistinguishable(t *testing.T) {
	for _, c := range []struct {
		claim  string
		median float64
		aa     Ratio
		want   bool
	}{
		{"outside the range of a program against itself", 1.2, Ratio{Lo: 0.95, Hi: 1.1}, true},
		{"inside it", 1.05, Ratio{Lo: 0.95, Hi: 1.1}, false},
		{"the range counts in both directions, upward", 1.2, Ratio{Lo: 0.8, Hi: 1.01}, false},
		{"the range counts in both directions, downward", 0.8, Ratio{Lo: 0.99, Hi: 1.3}, false},
		{"slower is a difference too", 0.5, Ratio{Lo: 0.9, Hi: 1.1}, true},
		{"on the edge is inside", 1.25, Ratio{Lo: 0.9, Hi: 1.25}, false},
	} {
		if got := (Ratio{Median: c.median}).Distinguishable(c.aa); got != c.want {
			t.Errorf("%s: got %v", c.claim, got)
		}
	}
}
