package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"
)

// uvarint reads a number; rest is nil when src doesn't begin with one.
func uvarint(src []byte) (v uint64, rest []byte) {
	if len(src) > 0 && src[0] < 0x80 { // nearly always
		return uint64(src[0]), src[1:]
	}
	v, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, nil
	}
	return v, src[n:]
}

// count reads a length that was stored as length+1, 0 meaning nil, and
// compares it with the bytes left, of which each element takes at least least.
func count(src []byte, least int) (n int, isNil bool, rest []byte, err error) {
	v, rest := uvarint(src)
	switch {
	case rest == nil:
		return 0, false, nil, errShort
	case v == 0:
		return 0, true, rest, nil
	}
	v--
	if v > math.MaxInt || least > 0 && v > uint64(len(rest))/uint64(least) {
		return 0, false, nil, fmt.Errorf("%d elements of %d bytes or more, %d bytes left: %w", v, least, len(rest), errShort)
	}
	return int(v), false, rest, nil
}

type stringCoding struct{}

func (stringCoding) least() int { return 1 }

func (stringCoding) append(dst []byte, p unsafe.Pointer, _ int) ([]byte, error) {
	s := *(*string)(p)
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...), nil
}

func (stringCoding) decode(src []byte, p unsafe.Pointer, _ int) ([]byte, error) {
	n, rest := uvarint(src)
	if rest == nil {
		return nil, errShort
	}
	if n > uint64(len(rest)) {
		return nil, fmt.Errorf("a string of %d bytes, %d bytes left: %w", n, len(rest), errShort)
	}
	*(*string)(p) = string(rest[:n])
	return rest[n:], nil
}

// sliceHeader is a slice of any type; data is a pointer to the collector, so
// that a plain assignment is enough.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

type sliceCoding struct {
	elem     *plan
	typ      reflect.Type
	pointers bool // the elements have pointers
}

func newSliceCoding(t reflect.Type) *sliceCoding {
	return &sliceCoding{typ: t, pointers: !LayoutOf(t.Elem()).PointerFree}
}

func (s *sliceCoding) least() int { return 1 }

func (s *sliceCoding) append(dst []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	h := (*sliceHeader)(p)
	if h.data == nil {
		return append(dst, 0), nil
	}
	dst = binary.AppendUvarint(dst, uint64(h.len)+1)
	switch {
	case s.elem.size == 0:
		return dst, nil
	case s.elem.flat:
		return append(dst, unsafe.Slice((*byte)(h.data), h.len*int(s.elem.size))...), nil
	case depth >= maxDepth:
		return nil, errDeep
	}
	return s.elem.appendRun(dst, h.data, h.len, depth+1)
}

func (s *sliceCoding) decode(src []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	n, isNil, rest, err := count(src, s.elem.least)
	if err != nil || isNil {
		return rest, err
	}
	size := int(s.elem.size)
	data := s.make(n)
	*(*sliceHeader)(p) = sliceHeader{data, n, n}
	switch {
	case size == 0:
		return rest, nil
	case s.elem.flat:
		copy(unsafe.Slice((*byte)(data), n*size), rest)
		return rest[n*size:], nil
	case depth >= maxDepth:
		return nil, errDeep
	}
	return s.elem.decodeRun(rest, data, n, depth+1)
}

// make allocates n zeroed elements.
func (s *sliceCoding) make(n int) unsafe.Pointer {
	switch size := int(s.elem.size); {
	case n == 0 || size == 0:
		return unsafe.Pointer(&struct{}{})
	case s.pointers:
		return reflect.MakeSlice(s.typ, n, n).UnsafePointer()
	default: // words are aligned for everything, and half the price of reflection
		return unsafe.Pointer(unsafe.SliceData(make([]uint64, (n*size+7)/8)))
	}
}

// appendRun appends n values that lie side by side.
func (c *plan) appendRun(dst []byte, p unsafe.Pointer, n, depth int) (_ []byte, err error) {
	for i := range n {
		if dst, err = c.append(dst, unsafe.Add(p, uintptr(i)*c.size), depth); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// decodeRun decodes n values that lie side by side.
func (c *plan) decodeRun(src []byte, p unsafe.Pointer, n, depth int) (_ []byte, err error) {
	for i := range n {
		if src, err = c.decode(src, unsafe.Add(p, uintptr(i)*c.size), depth); err != nil {
			return nil, err
		}
	}
	return src, nil
}

type arrayCoding struct {
	elem *plan
	n    int
}

func (a *arrayCoding) least() int { return a.n * a.elem.least }

func (a *arrayCoding) append(dst []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	return a.elem.appendRun(dst, p, a.n, depth)
}

func (a *arrayCoding) decode(src []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	return a.elem.decodeRun(src, p, a.n, depth)
}

type pointerCoding struct {
	elem *plan
	typ  reflect.Type // of what it points to
}

func (c *pointerCoding) least() int { return 1 }

func (c *pointerCoding) append(dst []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	to := *(*unsafe.Pointer)(p)
	if to == nil {
		return append(dst, 0), nil
	}
	if depth >= maxDepth {
		return nil, errDeep
	}
	return c.elem.append(append(dst, 1), to, depth+1)
}

func (c *pointerCoding) decode(src []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	switch {
	case len(src) == 0:
		return nil, errShort
	case src[0] == 0:
		return src[1:], nil
	case src[0] > 1:
		return nil, fmt.Errorf("a pointer begins with the byte %d", src[0])
	case depth >= maxDepth:
		return nil, errDeep
	}
	to := reflect.New(c.typ).UnsafePointer()
	*(*unsafe.Pointer)(p) = to
	return c.elem.decode(src[1:], to, depth+1)
}

// timeCoding is the coding of time.Time and of types made from it.
type timeCoding struct{}

const (
	timeBytes = 16
	zoneUTC   = math.MinInt32
)

func (timeCoding) least() int { return timeBytes }

func (timeCoding) append(dst []byte, p unsafe.Pointer, _ int) ([]byte, error) {
	t := *(*time.Time)(p)
	zone := zoneUTC
	if t.Location() != time.UTC {
		_, zone = t.Zone()
		if zone <= zoneUTC || zone > math.MaxInt32 {
			return nil, fmt.Errorf("a time is %d s from UTC", zone)
		}
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.Unix()))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.Nanosecond()))
	return binary.LittleEndian.AppendUint32(dst, uint32(int32(zone))), nil
}

func (timeCoding) decode(src []byte, p unsafe.Pointer, _ int) ([]byte, error) {
	if len(src) < timeBytes {
		return nil, errShort
	}
	sec := int64(binary.LittleEndian.Uint64(src))
	ns := binary.LittleEndian.Uint32(src[8:])
	zone := int32(binary.LittleEndian.Uint32(src[12:]))
	if ns >= uint32(time.Second) {
		return nil, errors.New("a time has more than a second of nanoseconds")
	}
	loc := time.UTC
	if zone != zoneUTC {
		loc = time.FixedZone("", int(zone))
	}
	*(*time.Time)(p) = time.Unix(sec, int64(ns)).In(loc)
	return src[timeBytes:], nil
}
