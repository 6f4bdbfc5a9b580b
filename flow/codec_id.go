package flow

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
)

// formatVersion changes when the built-in format does.
const formatVersion = 1

// mostShown bounds how much of a type's description its codec id shows.
const mostShown = 60

// idOf makes the id of the built-in codec of t: the begin of a description of
// its structure, and a hash of the format's version and the whole description.
// Names of fields are part of it, names of types aren't: a type may be renamed
// or moved, unless it encodes itself.
func (b *planner) idOf(t reflect.Type) string {
	d := describer{planner: b, seen: map[reflect.Type]int{}}
	d.describe(t)
	text := d.text.String()
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", formatVersion, text))
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + "..."
	}
	return fmt.Sprintf("%s#%x", text, sum[:8])
}

// describer writes the structure of a type. A type met before is written as ^
// and its number, which also ends the description of types within themselves.
type describer struct {
	*planner
	seen map[reflect.Type]int
	text strings.Builder
}

func (d *describer) describe(t reflect.Type) {
	if own, err := d.ownCoding(t); err == nil && own != nil {
		if f, ok := own.(framedCoding); ok {
			fmt.Fprintf(&d.text, "(%s)", f.codec.ID())
			return
		}
		d.text.WriteString("time")
		return
	}
	if t.Kind() == reflect.Struct || t.Name() != "" && t.PkgPath() != "" {
		if n, ok := d.seen[t]; ok {
			fmt.Fprintf(&d.text, "^%d", n)
			return
		}
		d.seen[t] = len(d.seen)
	}
	switch t.Kind() {
	case reflect.Struct:
		d.describeStruct(t)
	case reflect.Array:
		fmt.Fprintf(&d.text, "[%d]", t.Len())
		d.describeElem(t)
	case reflect.Slice:
		d.text.WriteString("[]")
		d.describe(t.Elem())
	case reflect.Pointer:
		d.text.WriteString("*")
		d.describe(t.Elem())
	case reflect.Map:
		d.text.WriteString("map[")
		d.describe(t.Key())
		d.text.WriteString("]")
		d.describe(t.Elem())
	default:
		d.text.WriteString(t.Kind().String())
	}
}

// describeElem passes over what isn't stored either.
func (d *describer) describeElem(t reflect.Type) {
	if t.Len() > 0 {
		d.describe(t.Elem())
	}
}

func (d *describer) describeStruct(t reflect.Type) {
	d.text.WriteString("struct{")
	for i := range t.NumField() {
		if i > 0 {
			d.text.WriteString("; ")
		}
		f := t.Field(i)
		d.text.WriteString(f.Name + " ")
		d.describe(f.Type)
	}
	d.text.WriteString("}")
}

// codecTypeName is the name of t with the path of its package.
func codecTypeName(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}
