package flow

import (
	"fmt"
	"reflect"
)

// Layout says how values of a type lie in a state table.
type Layout struct {
	Size        int    // bytes in memory
	PointerFree bool   // values are kept in the table itself and copied as memory
	Why         string // when they aren't: the first pointer, such as "field Name is a string"
}

// LayoutOf looks at t once, while a graph is built.
func LayoutOf(t reflect.Type) Layout {
	why := firstPointer(t, "")
	return Layout{Size: int(t.Size()), PointerFree: why == "", Why: why}
}

// String is what Explain shows: "inline, 24 B", or "kept beside the table:
// field Name is a string".
func (l Layout) String() string {
	if l.PointerFree {
		return fmt.Sprintf("inline, %d B", l.Size)
	}
	return "kept beside the table: " + l.Why
}

// firstPointer describes the first pointer in values of t; path leads to t.
func firstPointer(t reflect.Type, path string) string {
	switch t.Kind() {
	case reflect.Array:
		if t.Len() == 0 {
			return ""
		}
		return firstPointer(t.Elem(), path+"[]")
	case reflect.Struct:
		if t == timeType {
			return pointerAt(path, "a time.Time, which points to its location (flow.Time doesn't)")
		}
		for i := range t.NumField() {
			f := t.Field(i)
			way := f.Name
			if path != "" {
				way = path + "." + f.Name
			}
			if why := firstPointer(f.Type, way); why != "" {
				return why
			}
		}
		return ""
	}
	return pointerAt(path, pointerKinds[t.Kind()])
}

// pointerKinds has the kinds that are pointers to the collector.
var pointerKinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Slice: "a slice", reflect.Map: "a map",
	reflect.Pointer: "a pointer", reflect.Interface: "an interface",
	reflect.Func: "a function", reflect.Chan: "a channel",
	reflect.UnsafePointer: "an unsafe.Pointer",
}

func pointerAt(path, kind string) string {
	switch {
	case kind == "":
		return ""
	case path == "":
		return "it is " + kind
	}
	return fmt.Sprintf("field %s is %s", path, kind)
}
