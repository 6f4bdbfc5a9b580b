package files

import (
	"bytes"
	"fmt"
	"time"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tailrace-io/tailrace/flow"
)

// meaning is what a physical Parquet type stands for.
type meaning uint8

const (
	plainValue meaning = iota
	unsigned
	dateDays
	timestampMillis
	timestampMicros
	timestampNanos
	unsupported
)

func meaningOf(t parquet.Type) (meaning, string) {
	logical := t.LogicalType()
	if logical == nil {
		return plainValue, ""
	}
	switch v := logical.Value.(type) {
	case *format.DateType:
		return dateDays, ""
	case *format.TimestampType:
		switch v.Unit.Value.(type) {
		case *format.MilliSeconds:
			return timestampMillis, ""
		case *format.MicroSeconds:
			return timestampMicros, ""
		case *format.NanoSeconds:
			return timestampNanos, ""
		}
	case *format.IntType:
		if !v.IsSigned {
			return unsigned, ""
		}
		return plainValue, ""
	case *format.StringType, *format.EnumType, *format.JsonType, *format.BsonType, *format.UUIDType:
		return plainValue, ""
	}
	return unsupported, logical.String()
}

// newFiller finds how the column of a file becomes that of a record.
func newFiller(c *parquetColumn) (filler, error) {
	t := c.leaf.Node.Type()
	m, name := meaningOf(t)
	var f filler
	if m != unsupported {
		f = fillerOf(&c.column, t.Kind(), m)
	} else {
		return nil, fmt.Errorf("column %q is %s, which is not supported", c.path, name)
	}
	if f == nil {
		return nil, fmt.Errorf("column %q is %v, which does not fit field %s of type %v", c.path, t, c.field, c.typ)
	}
	return f, nil
}

func fillerOf(c *column, p parquet.Kind, m meaning) filler {
	switch c.kind {
	case kindBool:
		if p == parquet.Boolean {
			return &pageFiller[bool]{column: *c, convert: unpackBools}
		}
	case kindInt8:
		return intFiller[int8](c, p, m)
	case kindInt16:
		return intFiller[int16](c, p, m)
	case kindInt32:
		return intFiller[int32](c, p, m)
	case kindInt64:
		return intFiller[int64](c, p, m)
	case kindUint8:
		return intFiller[uint8](c, p, m)
	case kindUint16:
		return intFiller[uint16](c, p, m)
	case kindUint32:
		return intFiller[uint32](c, p, m)
	case kindUint64:
		return intFiller[uint64](c, p, m)
	case kindDuration:
		return intFiller[time.Duration](c, p, m)
	case kindFloat32:
		if p == parquet.Float {
			return &pageFiller[float32]{column: *c, view: func(v encoding.Values) []float32 { return v.Float() }}
		}
	case kindFloat64:
		return floatFiller(c, p, m)
	case kindString:
		if p == parquet.ByteArray || p == parquet.FixedLenByteArray {
			var a arena
			return &pageFiller[string]{column: *c, convert: eachBytes(a.copy)}
		}
	case kindBytes:
		if p == parquet.ByteArray || p == parquet.FixedLenByteArray {
			return &pageFiller[[]byte]{column: *c, convert: eachBytes(bytes.Clone)}
		}
	case kindTime:
		return timeFiller(c, p, m, flow.Time.AsTime, func(sec, ns int64) time.Time { return time.Unix(sec, ns).UTC() })
	case kindFlowTime:
		if p == parquet.Int64 && m == timestampMicros {
			return newIntFiller[flow.Time](c, func(v encoding.Values) []int64 { return v.Int64() })
		}
		return timeFiller(c, p, m, func(t flow.Time) flow.Time { return t },
			func(sec, ns int64) flow.Time { return flow.TimeOf(time.Unix(sec, ns)) })
	}
	return nil
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// intFiller converts integers, whatever they mean.
func intFiller[G integer](c *column, p parquet.Kind, m meaning) filler {
	switch {
	case p == parquet.Int32 && m == unsigned:
		return newIntFiller[G](c, func(v encoding.Values) []uint32 { return v.Uint32() })
	case p == parquet.Int32:
		return newIntFiller[G](c, func(v encoding.Values) []int32 { return v.Int32() })
	case p == parquet.Int64 && m == unsigned:
		return newIntFiller[G](c, func(v encoding.Values) []uint64 { return v.Uint64() })
	case p == parquet.Int64:
		return newIntFiller[G](c, func(v encoding.Values) []int64 { return v.Int64() })
	}
	return nil
}

func newIntFiller[G, P integer](c *column, of func(encoding.Values) []P) filler {
	f := &pageFiller[G]{column: *c}
	if sameIntegers[G, P]() {
		f.view = func(v encoding.Values) []G { return reinterpret[G](of(v)) }
	} else {
		f.convert = func(dst []G, v encoding.Values) ([]G, error) { return convertInts(dst, of(v)) }
	}
	return f
}

// sameIntegers says whether two integer types have the same size and sign.
func sameIntegers[G, P integer]() bool {
	return unsafe.Sizeof(G(0)) == unsafe.Sizeof(P(0)) && (^G(0) < 0) == (^P(0) < 0)
}

// reinterpret shows integers as those of another type of the same size and sign.
func reinterpret[G, P integer](values []P) []G {
	return unsafe.Slice((*G)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

// convertInts converts integers of which none may be lost.
func convertInts[G, P integer](dst []G, values []P) ([]G, error) {
	for _, v := range values {
		g := G(v)
		if P(g) != v || (g < 0) != (v < 0) {
			return nil, fmt.Errorf("value %d doesn't fit a %T", v, g)
		}
		dst = append(dst, g)
	}
	return dst, nil
}

// floatFiller takes what a float64 holds exactly.
func floatFiller(c *column, p parquet.Kind, m meaning) filler {
	f := &pageFiller[float64]{column: *c}
	switch {
	case p == parquet.Double:
		f.view = func(v encoding.Values) []float64 { return v.Double() }
	case p == parquet.Float:
		f.convert = func(dst []float64, v encoding.Values) ([]float64, error) { return toFloats(dst, v.Float()), nil }
	case p == parquet.Int32 && m == unsigned:
		f.convert = func(dst []float64, v encoding.Values) ([]float64, error) { return toFloats(dst, v.Uint32()), nil }
	case p == parquet.Int32 && m == plainValue:
		f.convert = func(dst []float64, v encoding.Values) ([]float64, error) { return toFloats(dst, v.Int32()), nil }
	default:
		return nil
	}
	return f
}

func toFloats[P float32 | int32 | uint32](dst []float64, values []P) []float64 {
	for _, v := range values {
		dst = append(dst, float64(v))
	}
	return dst
}

// unpackBools takes bits, the lowest first. A page may have up to seven bits
// more than it has values.
func unpackBools(dst []bool, v encoding.Values) ([]bool, error) {
	for _, b := range v.Boolean() {
		for bit := range 8 {
			dst = append(dst, b>>bit&1 != 0)
		}
	}
	return dst, nil
}

// eachBytes converts byte arrays with f, which must copy.
func eachBytes[G string | []byte](f func([]byte) G) converter[G] {
	return func(dst []G, v encoding.Values) ([]G, error) {
		if v.Kind() == encoding.FixedLenByteArray {
			data, size := v.FixedLenByteArray()
			for ; size > 0 && len(data) >= size; data = data[size:] {
				dst = append(dst, f(data[:size]))
			}
			return dst, nil
		}
		data, offsets := v.ByteArray()
		for i := range max(len(offsets)-1, 0) {
			dst = append(dst, f(data[offsets[i]:offsets[i+1]]))
		}
		return dst, nil
	}
}

// timeFiller converts dates and timestamps: of converts microseconds since the
// epoch, unix seconds and nanoseconds.
func timeFiller[G any](c *column, p parquet.Kind, m meaning, of func(flow.Time) G, unix func(sec, ns int64) G) filler {
	f := &pageFiller[G]{column: *c}
	switch {
	case p == parquet.Int64 && m == timestampMicros:
		f.convert = eachInt64(func(v int64) G { return of(flow.Time(v)) })
	case p == parquet.Int64 && m == timestampMillis:
		f.convert = eachInt64(func(v int64) G { return unix(v/1000, v%1000*1e6) })
	case p == parquet.Int64 && m == timestampNanos:
		f.convert = eachInt64(func(v int64) G { return unix(v/1e9, v%1e9) })
	case p == parquet.Int32 && m == dateDays:
		f.convert = func(dst []G, v encoding.Values) ([]G, error) {
			for _, days := range v.Int32() {
				dst = append(dst, unix(int64(days)*86400, 0))
			}
			return dst, nil
		}
	case p == parquet.Int96 && m == plainValue:
		f.convert = func(dst []G, v encoding.Values) ([]G, error) {
			for _, v := range v.Int96() {
				dst = append(dst, unix(int96Unix(v)))
			}
			return dst, nil
		}
	default:
		return nil
	}
	return f
}

// eachInt64 converts with f.
func eachInt64[G any](f func(int64) G) converter[G] {
	return func(dst []G, v encoding.Values) ([]G, error) {
		for _, v := range v.Int64() {
			dst = append(dst, f(v))
		}
		return dst, nil
	}
}

// int96Unix is the old form of timestamps: nanoseconds of a Julian day.
func int96Unix(v deprecated.Int96) (sec, ns int64) {
	const epoch = 2440588 // the Julian day of 1970-01-01
	nanos := int64(v[1])<<32 | int64(v[0])
	return (int64(v[2]) - epoch) * 86400, nanos
}
