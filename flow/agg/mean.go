package agg

import (
	"math/big"
	"math/bits"

	"github.com/tailrace-io/tailrace/flow"
)

// MeanAcc is the accumulator of Mean. The zero MeanAcc is empty.
type MeanAcc struct {
	count int64
	high  int64  // of a 128-bit sum of integers, so that none overflows
	low   uint64 // its lower half
	float float64
}

// Mean computes the arithmetic mean. Of integers it is exact, rounded once to
// the nearest float64; the last bits of a mean of floats depend on the order of
// addition, unless all are integers that add up to less than 2^53. Of no
// records it is 0.
func Mean[T any, N Number](of func(*T) N) flow.Aggregator[T, MeanAcc, float64] {
	a := flow.Aggregator[T, MeanAcc, float64]{
		Merge: func(dst, src *MeanAcc) {
			dst.count += src.count
			dst.addInteger(src.high, src.low)
			dst.float += src.float
		},
	}
	if isFloat[N]() {
		a.Add = func(acc *MeanAcc, in *T) {
			acc.count++
			acc.float += float64(of(in))
		}
		a.Result = func(acc *MeanAcc) float64 {
			return acc.float / float64(max(acc.count, 1))
		}
		return a
	}
	a.Add = func(acc *MeanAcc, in *T) {
		v := of(in)
		acc.count++
		var high int64
		if v < 0 {
			high = -1
		}
		acc.addInteger(high, uint64(v))
	}
	a.Result = (*MeanAcc).integerMean
	return a
}

func (m *MeanAcc) addInteger(high int64, low uint64) {
	sum, carry := bits.Add64(m.low, low, 0)
	m.low, m.high = sum, m.high+high+int64(carry)
}

func (m *MeanAcc) integerMean() float64 {
	const exact = 1 << 53 // a float64 has every integer up to it
	low := int64(m.low)
	switch {
	case m.count == 0:
		return 0
	case m.high == low>>63 && -exact <= low && low <= exact && m.count <= exact:
		return float64(low) / float64(m.count)
	}
	sum := new(big.Int).Lsh(big.NewInt(m.high), 64)
	sum.Add(sum, new(big.Int).SetUint64(m.low))
	mean, _ := new(big.Rat).SetFrac(sum, big.NewInt(m.count)).Float64()
	return mean
}
