package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// Codec turns values of one type into bytes and back. Append appends the
// encoding of v to dst; Decode reads one from the start of src into a zero v
// and returns how many bytes it took. src is lent for the call.
type Codec[T any] struct {
	Append func(dst []byte, v *T) ([]byte, error)
	Decode func(src []byte, v *T) (int, error)
}

var errShort = errors.New("the bytes end too early")

// or returns c, and for a type that needs none a codec of the package's own.
func (c Codec[T]) or() Codec[T] {
	if c.Append != nil && c.Decode != nil {
		return c
	}
	if LayoutOf[T]().PointerFree {
		return memoryCodec[T]()
	}
	none := fmt.Errorf("no codec for %s", reflect.TypeFor[T]())
	return Codec[T]{
		Append: func(dst []byte, _ *T) ([]byte, error) { return dst, none },
		Decode: func([]byte, *T) (int, error) { return 0, none },
	}
}

// memoryCodec copies a type without pointers.
func memoryCodec[T any]() Codec[T] {
	size := unsafe.Sizeof(*new(T))
	return Codec[T]{
		Append: func(dst []byte, v *T) ([]byte, error) { return appendMemory(dst, unsafe.Pointer(v), size), nil },
		Decode: func(src []byte, v *T) (int, error) {
			if uintptr(len(src)) < size {
				return 0, errShort
			}
			return copy(unsafe.Slice((*byte)(unsafe.Pointer(v)), size), src), nil
		},
	}
}

// keyCodec returns c, or a codec for a comparable type of strings and plain
// fields.
func keyCodec[K comparable](c Codec[K]) Codec[K] {
	plan, ok := keyPlanOf[K]()
	if c.Append != nil && c.Decode != nil || !ok {
		return c.or()
	}
	var scratch []byte
	return Codec[K]{
		Append: func(dst []byte, k *K) ([]byte, error) {
			scratch = plan.append(scratch[:0], unsafe.Pointer(k))
			return append(binary.AppendUvarint(dst, uint64(len(scratch))), scratch...), nil
		},
		Decode: func(src []byte, k *K) (int, error) {
			n, w := binary.Uvarint(src)
			if w <= 0 || n > uint64(len(src)-w) {
				return 0, errShort
			}
			return w + int(n), plan.decode(src[w:w+int(n)], unsafe.Pointer(k), false)
		},
	}
}

// typeID identifies what the memory in a chunk means. Codecs have identities
// of their own, which the table does not know.
func typeID[K comparable, V any](k kind) uint64 {
	var b strings.Builder
	fmt.Fprintf(&b, "rows %d, canonical %t", k, memoryIsCanonical)
	if k != generalRows {
		describe(&b, reflect.TypeFor[K]())
		describe(&b, reflect.TypeFor[V]())
	}
	return xxh3.HashString(b.String())
}
