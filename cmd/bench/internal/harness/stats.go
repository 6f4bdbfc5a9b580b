package harness

import (
	"math"
	"slices"
)

// Median is the middle of values, or the mean of the two in the middle. It is
// NaN when there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Clone(values)
	slices.Sort(s)
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
}

// Ratio is what paired ratios have in common.
type Ratio struct {
	Median float64 `json:"median"`
	Lo     float64 `json:"lo"` // the smallest
	Hi     float64 `json:"hi"` // the largest
	N      int     `json:"n"`  // pairs
}

// Paired summarises a[i]/b[i]. Both were measured in round i, so what slows
// the whole round down cancels. The slices have the same length.
func Paired(a, b []float64) Ratio {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return Summary(ratios)
}

// Summary is the median and range of values.
func Summary(values []float64) Ratio {
	if len(values) == 0 {
		return Ratio{Median: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	}
	return Ratio{Median(values), slices.Min(values), slices.Max(values), len(values)}
}

// Distinguishable says whether the median of r differs from 1 by more than a
// program differs from itself: aa is the Ratio of a program against itself. The
// order within a pair means nothing, so aa counts in both directions.
func (r Ratio) Distinguishable(aa Ratio) bool {
	span := math.Max(aa.Hi, 1/aa.Lo)
	return r.Median > span || r.Median < 1/span
}
