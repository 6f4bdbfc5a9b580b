package flow

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

var (
	appenderType    = reflect.TypeFor[encoding.BinaryAppender]()
	marshalerType   = reflect.TypeFor[encoding.BinaryMarshaler]()
	unmarshalerType = reflect.TypeFor[encoding.BinaryUnmarshaler]()
)

// ownCoding is the coding of a type that brings its own, registered or by
// methods; nil when it doesn't.
func (b *planner) ownCoding(t reflect.Type) (partCoding, error) {
	if b.lookup != nil {
		if found, ok := b.lookup(t); ok {
			c, ok := found.(erasedCodec)
			if !ok {
				return nil, fmt.Errorf("the codec registered for %v is a %T", t, found)
			}
			return framedCoding{c}, nil
		}
	}
	switch {
	case isTime(t):
		return timeCoding{}, nil
	case hasBinaryMethods(t):
		return framedCoding{binaryCodec{t}}, nil
	}
	return nil, nil
}

func isTime(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.ConvertibleTo(timeType)
}

// hasBinaryMethods says whether t encodes itself. Methods that an embedded
// field has too are passed over: they may be that field's, promoted, and would
// then store that field and forget the others.
func hasBinaryMethods(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	if !p.Implements(unmarshalerType) || !p.Implements(appenderType) && !p.Implements(marshalerType) {
		return false
	}
	if t.Kind() != reflect.Struct {
		return true
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && hasAnyBinaryMethod(f.Type) {
			return false
		}
	}
	return true
}

func hasAnyBinaryMethod(t reflect.Type) bool {
	for _, method := range []reflect.Type{unmarshalerType, appenderType, marshalerType} {
		if t.Implements(method) || reflect.PointerTo(t).Implements(method) {
			return true
		}
	}
	return false
}

// binaryCodec is the codec of a type with methods of package encoding. It takes
// all of src.
type binaryCodec struct{ typ reflect.Type }

func (c binaryCodec) ID() string { return "binary " + codecTypeName(c.typ) }

func (c binaryCodec) appendAny(dst []byte, p unsafe.Pointer) ([]byte, error) {
	v := reflect.NewAt(c.typ, p).Interface()
	if a, ok := v.(encoding.BinaryAppender); ok {
		return a.AppendBinary(dst)
	}
	enc, err := v.(encoding.BinaryMarshaler).MarshalBinary()
	return append(dst, enc...), err
}

func (c binaryCodec) decodeAny(src []byte, p unsafe.Pointer) (int, error) {
	v := reflect.NewAt(c.typ, p).Interface().(encoding.BinaryUnmarshaler)
	return len(src), v.UnmarshalBinary(src)
}

// framedCoding writes a length before what a foreign codec encodes. Such a
// codec then can't read beyond its value, nor take no bytes at all.
type framedCoding struct{ codec erasedCodec }

const frameBytes = 4

func (f framedCoding) least() int { return frameBytes }

func (f framedCoding) append(dst []byte, p unsafe.Pointer, _ int) ([]byte, error) {
	start := len(dst)
	dst, err := f.codec.appendAny(append(dst, 0, 0, 0, 0), p)
	if err != nil {
		return nil, err
	}
	n := len(dst) - start - frameBytes
	if n < 0 || uint64(n) > math.MaxUint32 {
		return nil, fmt.Errorf("codec %q appended %d bytes", f.codec.ID(), n)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(n))
	return dst, nil
}

func (f framedCoding) decode(src []byte, p unsafe.Pointer, _ int) ([]byte, error) {
	if len(src) < frameBytes {
		return nil, errShort
	}
	n, rest := binary.LittleEndian.Uint32(src), src[frameBytes:]
	if uint64(n) > uint64(len(rest)) {
		return nil, fmt.Errorf("codec %q: %d bytes, %d bytes left: %w", f.codec.ID(), n, len(rest), errShort)
	}
	used, err := f.codec.decodeAny(rest[:n:n], p)
	if err != nil {
		return nil, err
	}
	if used != int(n) {
		return nil, fmt.Errorf("codec %q took %d of %d bytes", f.codec.ID(), used, n)
	}
	return rest[n:], nil
}
