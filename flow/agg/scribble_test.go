package agg

import (
	"reflect"
	"unsafe"
)

// scribble overwrites what v and everything it owns refers to: elements of
// slices up to their capacity, and entries of maps.
func scribble(v reflect.Value, depth int) {
	if depth > 6 {
		return
	}
	if v.CanAddr() {
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // unexported fields too
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i), depth+1)
		}
	case reflect.Slice:
		all := v.Slice3(0, v.Cap(), v.Cap())
		for i := range all.Len() {
			scribble(all.Index(i), depth+1)
			all.Index(i).SetZero()
		}
	case reflect.Map:
		v.Clear()
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem(), depth+1)
		}
	}
}
