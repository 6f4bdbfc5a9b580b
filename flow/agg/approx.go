package agg

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"

	"github.com/tailrace-io/tailrace/flow"
)

// Sketch is the accumulator of ApproxDistinct: up to 512 hashes, then a
// HyperLogLog of 2^14 registers, one byte each. The zero Sketch is empty.
type Sketch struct {
	few []uint64            // in order; nil when there are more
	hll *hyperloglog.Sketch // nil while there are few
}

const (
	mostFew         = 512
	sketchPrecision = 14
)

// ApproxDistinct estimates the number of different values of a field, by
// HyperLogLog with the bias correction of LogLog-Beta (Qin, Kim and Tung,
// 2016). The standard error is 0.81 % of the result: two of three results are
// closer than that, and one of a thousand is off by more than 2.7 %. Up to 512
// values it is exact, but for collisions of 64-bit hashes. -0 and 0 are one
// value, and so are all NaNs.
func ApproxDistinct[T any, K cmp.Ordered](of func(*T) K) flow.Aggregator[T, Sketch, int64] {
	hash := hasherOf[K]()
	return flow.Aggregator[T, Sketch, int64]{
		Add:   func(acc *Sketch, in *T) { acc.add(hash(of(in))) },
		Merge: (*Sketch).merge,
		Result: func(acc *Sketch) int64 {
			if acc.hll == nil {
				return int64(len(acc.few))
			}
			return int64(acc.hll.Estimate())
		},
		Clone: func(dst, src *Sketch) {
			*dst = Sketch{few: slices.Clone(src.few)}
			if src.hll != nil {
				dst.hll = src.hll.Clone()
			}
		},
	}
}

func (s *Sketch) add(hash uint64) {
	if s.hll != nil {
		s.hll.InsertHash(hash)
		return
	}
	at, known := slices.BinarySearch(s.few, hash)
	switch {
	case known:
	case len(s.few) < mostFew:
		s.few = slices.Insert(s.few, at, hash)
	default:
		s.grow()
		s.hll.InsertHash(hash)
	}
}

// grow makes registers of hashes. The library's own sparse form costs a
// microsecond for each value, and its estimate depends on the order of values.
func (s *Sketch) grow() {
	s.hll = hyperloglog.NewNoSparse()
	for _, hash := range s.few {
		s.hll.InsertHash(hash)
	}
	s.few = nil
}

func (s *Sketch) merge(src *Sketch) {
	for _, hash := range src.few {
		s.add(hash)
	}
	if src.hll == nil {
		return
	}
	if s.hll == nil {
		s.grow()
	}
	if err := s.hll.Merge(src.hll); err != nil {
		panic(err) // sketches of one precision, made and decoded here alone
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

// A stored sketch is the byte 0 and its hashes, in order, or the library's own
// encoding, which begins with its version and the precision, and has 0 in the
// fourth byte for registers.
const (
	fewFormat     = 0
	sketchVersion = 2
)

// AppendBinary implements encoding.BinaryAppender.
func (s *Sketch) AppendBinary(dst []byte) ([]byte, error) {
	if s.hll != nil {
		return s.hll.AppendBinary(dst)
	}
	dst = append(dst, fewFormat)
	for _, hash := range s.few {
		dst = binary.LittleEndian.AppendUint64(dst, hash)
	}
	return dst, nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (s *Sketch) UnmarshalBinary(src []byte) error {
	switch {
	case len(src) == 0:
		return errors.New("decode a sketch: no bytes")
	case src[0] == fewFormat:
		return s.decodeFew(src[1:])
	case len(src) < 4 || src[0] != sketchVersion || src[1] != sketchPrecision || src[3] != 0:
		return fmt.Errorf("decode a sketch: it begins with % x, which is not this version and precision", src[:min(len(src), 4)])
	}
	hll := new(hyperloglog.Sketch)
	if err := hll.UnmarshalBinary(src); err != nil {
		return fmt.Errorf("decode a sketch: %w", err)
	}
	*s = Sketch{hll: hll}
	return nil
}

func (s *Sketch) decodeFew(src []byte) error {
	if len(src)%8 != 0 || len(src)/8 > mostFew {
		return fmt.Errorf("decode a sketch: its hashes have %d bytes", len(src))
	}
	few := make([]uint64, len(src)/8)
	for i := range few {
		few[i] = binary.LittleEndian.Uint64(src[8*i:])
		if i > 0 && few[i] <= few[i-1] {
			return errors.New("decode a sketch: its hashes are not in order")
		}
	}
	*s = Sketch{few: few}
	return nil
}
