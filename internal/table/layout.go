package table

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/zeebo/xxh3"
)

// Layout says how values of one type are kept.
type Layout struct {
	// PointerFree types are copied as memory.
	PointerFree bool
	Size        int
	// ID identifies the memory of a pointer-free type: names, kinds, offsets and
	// sizes of its fields, and the byte order. Stored memory is only read back
	// into the same ID. It is 0 for other types.
	ID uint64
}

// LayoutOf looks at a type once, by reflection.
func LayoutOf[V any]() Layout {
	t := reflect.TypeFor[V]()
	l := Layout{PointerFree: pointerFree(t), Size: int(t.Size())}
	if l.PointerFree {
		var b strings.Builder
		fmt.Fprintf(&b, "canonical %t ", memoryIsCanonical)
		describe(&b, t)
		l.ID = xxh3.HashString(b.String())
	}
	return l
}

func pointerFree(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() == 0 || pointerFree(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if !pointerFree(f.Type) {
				return false
			}
		}
		return true
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	}
	return readerOf(t) != nil
}

func describe(b *strings.Builder, t reflect.Type) {
	switch t.Kind() {
	case reflect.Array:
		fmt.Fprintf(b, "[%d]", t.Len())
		describe(b, t.Elem())
	case reflect.Struct:
		b.WriteByte('{')
		for f := range t.Fields() {
			fmt.Fprintf(b, "%s@%d ", f.Name, f.Offset)
			describe(b, f.Type)
			b.WriteByte(';')
		}
		b.WriteByte('}')
	default:
		fmt.Fprintf(b, "%s:%d", t.Kind(), t.Size())
	}
}
