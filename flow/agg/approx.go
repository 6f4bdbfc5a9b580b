package agg

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"

	"github.com/tailrace-io/tailrace/flow"
)

// Sketch is the accumulator of ApproxDistinct, a HyperLogLog++ of 2^14
// registers. The zero Sketch is empty. It takes a few bytes for each of the
// first values, and 16 KiB at most.
type Sketch struct{ hll *hyperloglog.Sketch }

const (
	sketchVersion   = 2
	sketchPrecision = 14
)

// ApproxDistinct estimates the number of different values of a field, by
// HyperLogLog++ (Heule, Nunkesser and Hall, 2013). The standard error is 0.81 %
// of the result: two of three results are closer than that, and one of a
// thousand is off by more than 2.7 %. Up to some thousands of values it is
// nearly exact. The order of records and merges may change the estimate, within
// the error. -0 and 0 are one value, and so are all NaNs.
func ApproxDistinct[T any, K cmp.Ordered](of func(*T) K) flow.Aggregator[T, Sketch, int64] {
	hash := hasherOf[K]()
	return flow.Aggregator[T, Sketch, int64]{
		Add: func(acc *Sketch, in *T) {
			if acc.hll == nil {
				acc.hll = hyperloglog.New14()
			}
			acc.hll.InsertHash(hash(of(in)))
		},
		Merge: func(dst, src *Sketch) {
			if src.hll == nil {
				return
			}
			if dst.hll == nil {
				dst.hll = src.hll.Clone()
				return
			}
			if err := dst.hll.Merge(src.hll); err != nil {
				panic(err) // sketches of one precision, made and decoded here alone
			}
		},
		Result: func(acc *Sketch) int64 {
			if acc.hll == nil {
				return 0
			}
			return int64(acc.hll.Clone().Estimate()) // Estimate tidies up
		},
		Clone: func(dst, src *Sketch) {
			*dst = Sketch{}
			if src.hll != nil {
				dst.hll = src.hll.Clone()
			}
		},
	}
}

// hasherOf makes a hash function that is the same in every process: sketches
// are stored and merged elsewhere.
func hasherOf[K cmp.Ordered]() func(K) uint64 {
	// A conversion by way of any would allocate; these are reinterpretations.
	switch t := reflect.TypeFor[K](); t.Kind() {
	case reflect.String:
		return func(k K) uint64 { return xxh3.HashString(as[string](&k)) }
	case reflect.Float32:
		return func(k K) uint64 { return mixFloat(float64(as[float32](&k))) }
	case reflect.Float64:
		return func(k K) uint64 { return mixFloat(as[float64](&k)) }
	default:
		signed := reflect.Int <= t.Kind() && t.Kind() <= reflect.Int64
		switch size := t.Size(); {
		case size == 1 && signed:
			return func(k K) uint64 { return mix(uint64(as[int8](&k))) }
		case size == 1:
			return func(k K) uint64 { return mix(uint64(as[uint8](&k))) }
		case size == 2 && signed:
			return func(k K) uint64 { return mix(uint64(as[int16](&k))) }
		case size == 2:
			return func(k K) uint64 { return mix(uint64(as[uint16](&k))) }
		case size == 4 && signed:
			return func(k K) uint64 { return mix(uint64(as[int32](&k))) }
		case size == 4:
			return func(k K) uint64 { return mix(uint64(as[uint32](&k))) }
		}
		return func(k K) uint64 { return mix(as[uint64](&k)) }
	}
}

func mixFloat(f float64) uint64 {
	switch {
	case f == 0:
		f = 0
	case math.IsNaN(f):
		f = math.NaN()
	}
	return mix(math.Float64bits(f))
}

// mix is the finalizer of MurmurHash3 in Stafford's variant 13, after adding
// the golden ratio as SplitMix64 does: 0 must not become 0.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// AppendBinary implements encoding.BinaryAppender. Equal sketches may have
// different encodings.
func (s *Sketch) AppendBinary(dst []byte) ([]byte, error) {
	if s.hll == nil {
		return dst, nil
	}
	return s.hll.AppendBinary(dst)
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (s *Sketch) UnmarshalBinary(src []byte) error {
	switch {
	case len(src) == 0:
		s.hll = nil
		return nil
	case len(src) < 2:
		return errors.New("decode a sketch: too short")
	case src[0] != sketchVersion || src[1] != sketchPrecision:
		return fmt.Errorf("decode a sketch: version %d, precision %d; want %d and %d",
			src[0], src[1], sketchVersion, sketchPrecision)
	}
	hll := new(hyperloglog.Sketch)
	if err := hll.UnmarshalBinary(src); err != nil {
		return fmt.Errorf("decode a sketch: %w", err)
	}
	s.hll = hll
	return nil
}
