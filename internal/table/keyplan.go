package table

import (
	"encoding/binary"
	"errors"
	"reflect"
	"unsafe"
)

// keyPlan says how a key of strings and plain fields becomes bytes that are
// equal if and only if the keys are: it is data, not closures, so that keys do
// not escape.
type keyPlan struct {
	isString bool // K is a string: its bytes are its encoding
	parts    []keyPart
}

// keyPart is a string, or size bytes of memory.
type keyPart struct {
	at, size uintptr
	isString bool
}

// keyPlanOf returns no plan for a type with floats, whose equality is not that
// of bytes.
func keyPlanOf[K comparable]() (keyPlan, bool) {
	t := reflect.TypeFor[K]()
	if t.Kind() == reflect.String {
		return keyPlan{isString: true}, true
	}
	parts, ok := keyParts(nil, t, 0)
	return keyPlan{parts: parts}, ok
}

func keyParts(parts []keyPart, t reflect.Type, at uintptr) ([]keyPart, bool) {
	ok := true
	switch t.Kind() {
	case reflect.String:
		return append(parts, keyPart{at: at, isString: true}), true
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name == "_" {
				continue
			}
			if parts, ok = keyParts(parts, f.Type, at+f.Offset); !ok {
				return nil, false
			}
		}
		return parts, true
	case reflect.Array:
		for i := range t.Len() {
			if parts, ok = keyParts(parts, t.Elem(), at+uintptr(i)*t.Elem().Size()); !ok || len(parts) > 64 {
				return nil, false
			}
		}
		return parts, true
	}
	if readerOf(t) == nil {
		return nil, false
	}
	if n := len(parts); n > 0 && !parts[n-1].isString && parts[n-1].at+parts[n-1].size == at {
		parts[n-1].size += t.Size()
		return parts, true
	}
	return append(parts, keyPart{at: at, size: t.Size()}), true
}

// append appends the encoding of the key at p.
func (plan *keyPlan) append(dst []byte, p unsafe.Pointer) []byte {
	if plan.isString {
		return append(dst, *(*string)(p)...)
	}
	for i := range plan.parts {
		part := &plan.parts[i]
		if part.isString {
			s := *(*string)(unsafe.Add(p, part.at))
			dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
			continue
		}
		dst = append(dst, unsafe.Slice((*byte)(unsafe.Add(p, part.at)), part.size)...)
	}
	return dst
}

var errKeyBytes = errors.New("the bytes are not those of a key")

// decode makes a key from all of src, at p, which is zero. With lend, its
// strings are those bytes and not copies.
func (plan *keyPlan) decode(src []byte, p unsafe.Pointer, lend bool) error {
	text := func(b []byte) string {
		if lend {
			return unsafe.String(unsafe.SliceData(b), len(b))
		}
		return string(b)
	}
	if plan.isString {
		*(*string)(p) = text(src)
		return nil
	}
	for i := range plan.parts {
		part := &plan.parts[i]
		size := uint64(part.size)
		if part.isString {
			n, w := binary.Uvarint(src)
			if w <= 0 {
				return errKeyBytes
			}
			size, src = n, src[w:]
		}
		if size > uint64(len(src)) {
			return errKeyBytes
		}
		if part.isString {
			*(*string)(unsafe.Add(p, part.at)) = text(src[:size])
		} else {
			copy(unsafe.Slice((*byte)(unsafe.Add(p, part.at)), size), src)
		}
		src = src[size:]
	}
	if len(src) > 0 {
		return errKeyBytes
	}
	return nil
}

// sameKeys returns equality with NaN equal to a NaN of the same bits, nil for
// types without floats. It is only asked of keys that are not equal to
// themselves.
func sameKeys[K comparable]() func(a, b *K) bool {
	same := sameFloats(reflect.TypeFor[K]())
	if same == nil {
		return nil
	}
	return func(a, b *K) bool { return same(unsafe.Pointer(a), unsafe.Pointer(b)) }
}

func sameFloats(t reflect.Type) func(a, b unsafe.Pointer) bool {
	switch t.Kind() {
	case reflect.Float32:
		return func(a, b unsafe.Pointer) bool {
			return float32Bits(*(*float32)(a)) == float32Bits(*(*float32)(b))
		}
	case reflect.Float64:
		return func(a, b unsafe.Pointer) bool {
			return float64Bits(*(*float64)(a)) == float64Bits(*(*float64)(b))
		}
	case reflect.Complex64:
		return sameFloats(reflect.TypeFor[[2]float32]())
	case reflect.Complex128:
		return sameFloats(reflect.TypeFor[[2]float64]())
	case reflect.Array:
		elem := sameFloats(t.Elem())
		if elem == nil || t.Len() == 0 {
			return nil
		}
		return func(a, b unsafe.Pointer) bool {
			for i := range t.Len() {
				at := uintptr(i) * t.Elem().Size()
				if !elem(unsafe.Add(a, at), unsafe.Add(b, at)) {
					return false
				}
			}
			return true
		}
	case reflect.Struct:
		return sameStruct(t)
	}
	return nil
}

// sameStruct compares a struct with floats in it: the other fields by ==.
func sameStruct(t reflect.Type) func(a, b unsafe.Pointer) bool {
	var floats bool
	parts := make([]func(a, b unsafe.Pointer) bool, 0, t.NumField())
	for f := range t.Fields() {
		same := sameFloats(f.Type)
		floats = floats || same != nil && f.Name != "_"
		if same == nil {
			same = func(a, b unsafe.Pointer) bool {
				return reflect.NewAt(f.Type, a).Elem().Equal(reflect.NewAt(f.Type, b).Elem())
			}
		}
		if f.Name != "_" {
			parts = append(parts, func(a, b unsafe.Pointer) bool {
				return same(unsafe.Add(a, f.Offset), unsafe.Add(b, f.Offset))
			})
		}
	}
	if !floats {
		return nil
	}
	return func(a, b unsafe.Pointer) bool {
		for _, same := range parts {
			if !same(a, b) {
				return false
			}
		}
		return true
	}
}
