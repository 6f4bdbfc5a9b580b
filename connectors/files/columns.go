package files

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/tailrace-io/tailrace/flow"
)

// kind is the type of a column's values, by how they are read and written.
type kind uint8

const (
	kindBool kind = iota
	kindInt8
	kindInt16
	kindInt32
	kindInt64
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
	kindString
	kindBytes
	kindTime     // time.Time
	kindFlowTime // flow.Time
	kindDuration // time.Duration
	kindText     // encoding.TextMarshaler and TextUnmarshaler
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	flowTimeType = reflect.TypeFor[flow.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	marshaler    = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshaler  = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// column is where the values of one column are in a record, which is found by
// reflection once and then by address.
type column struct {
	name   string // as tagged, or the path of field names in lower case
	tagged bool   // the name must match in case
	field  string // the path of field names, for errors
	offset uintptr
	typ    reflect.Type // of a value, without its pointer or Valid flag
	kind   kind
	null   nullForm
	valid  uintptr // with nullFlag: the offset of the flag
}

// nullForm is how a field holds null.
type nullForm uint8

const (
	nullZero    nullForm = iota // it can't: null is the zero value
	nullPointer                 // a nil pointer
	nullFlag                    // a struct of a value and Valid bool
)

// columnsOf finds the columns of t by its fields and their tags. A t that isn't a
// struct is one column named value.
func columnsOf(t reflect.Type, tag string) ([]column, error) {
	b := columnBuilder{tag: tag}
	if c, ok := b.leaf(t, 0); ok {
		c.name, c.field = "value", t.String()
		return []column{c}, nil
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v has no columns: it must be a struct", t)
	}
	b.fields(t, "", "", 0, false)
	if len(b.columns) == 0 && len(b.errs) == 0 {
		b.errs = append(b.errs, fmt.Errorf("%v has no exported fields", t))
	}
	for i, c := range b.columns {
		for _, d := range b.columns[:i] {
			if c.name == d.name {
				b.errs = append(b.errs, fmt.Errorf("fields %s and %s of %v both are column %q", d.field, c.field, t, c.name))
			}
		}
	}
	return b.columns, errors.Join(b.errs...)
}

type columnBuilder struct {
	tag     string
	columns []column
	errs    []error
}

// fields adds the columns of the struct t at offset, whose names begin with prefix.
func (b *columnBuilder) fields(t reflect.Type, prefix, path string, offset uintptr, tagged bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get(b.tag), ",")
		if name == "-" || !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
			continue
		}
		inline := name == "" && (f.Anonymous || options == "inline")
		tagged := tagged || name != ""
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		fieldPath := path + f.Name
		if c, ok := b.leaf(f.Type, offset+f.Offset); ok {
			c.name, c.tagged, c.field = prefix+name, tagged, fieldPath
			b.columns = append(b.columns, c)
			continue
		}
		if f.Type.Kind() != reflect.Struct {
			b.errs = append(b.errs, fmt.Errorf("field %s has type %v, which is no column: tag it %s:\"-\" to leave it out", fieldPath, f.Type, b.tag))
			continue
		}
		sub := prefix + name + "_"
		if inline {
			sub = prefix
		}
		b.fields(f.Type, sub, fieldPath+".", offset+f.Offset, tagged)
	}
}

// leaf makes the column of a field of type t, if it can be one.
func (b *columnBuilder) leaf(t reflect.Type, offset uintptr) (column, bool) {
	if k, ok := b.kindOf(t); ok {
		return column{offset: offset, typ: t, kind: k}, true
	}
	if t.Kind() == reflect.Pointer {
		k, ok := b.kindOf(t.Elem())
		return column{offset: offset, typ: t.Elem(), kind: k, null: nullPointer}, ok
	}
	if t.Kind() == reflect.Struct && t.NumField() == 2 {
		value, valid := t.Field(0), t.Field(1)
		k, ok := b.kindOf(value.Type)
		if ok && valid.Name == "Valid" && valid.Type.Kind() == reflect.Bool && value.IsExported() {
			return column{offset: offset + value.Offset, typ: value.Type, kind: k, null: nullFlag, valid: offset + valid.Offset}, true
		}
	}
	return column{}, false
}

func (b *columnBuilder) kindOf(t reflect.Type) (kind, bool) {
	switch t {
	case timeType:
		return kindTime, true
	case flowTimeType:
		return kindFlowTime, true
	case durationType:
		return kindDuration, true
	}
	if b.tag == "csv" && t.Kind() != reflect.Pointer && (t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)) &&
		reflect.PointerTo(t).Implements(unmarshaler) {
		return kindText, true
	}
	switch t.Kind() {
	case reflect.Bool:
		return kindBool, true
	case reflect.Int8:
		return kindInt8, true
	case reflect.Int16:
		return kindInt16, true
	case reflect.Int32:
		return kindInt32, true
	case reflect.Int64:
		return kindInt64, true
	case reflect.Int:
		return intKinds[t.Size()], true
	case reflect.Uint8:
		return kindUint8, true
	case reflect.Uint16:
		return kindUint16, true
	case reflect.Uint32:
		return kindUint32, true
	case reflect.Uint64:
		return kindUint64, true
	case reflect.Uint:
		return intKinds[t.Size()] + (kindUint8 - kindInt8), true
	case reflect.Float32:
		return kindFloat32, true
	case reflect.Float64:
		return kindFloat64, true
	case reflect.String:
		return kindString, true
	case reflect.Slice:
		return kindBytes, t.Elem().Kind() == reflect.Uint8
	}
	return 0, false
}

// intKinds are the kinds of int by its size, which the platform decides.
var intKinds = map[uintptr]kind{4: kindInt32, 8: kindInt64}

// target returns where in the record at rec the value of c is to be stored, and
// marks the field as not null.
func (c *column) target(rec unsafe.Pointer) unsafe.Pointer {
	p := unsafe.Add(rec, c.offset)
	switch c.null {
	case nullPointer:
		v := reflect.New(c.typ).UnsafePointer()
		*(*unsafe.Pointer)(p) = v
		return v
	case nullFlag:
		*(*bool)(unsafe.Add(rec, c.valid)) = true
	}
	return p
}

// value returns where in the record at rec the value of c is, or nil for null.
func (c *column) value(rec unsafe.Pointer) unsafe.Pointer {
	p := unsafe.Add(rec, c.offset)
	switch c.null {
	case nullPointer:
		return *(*unsafe.Pointer)(p)
	case nullFlag:
		if !*(*bool)(unsafe.Add(rec, c.valid)) {
			return nil
		}
	}
	return p
}

// find returns the index of the column c among the names of a file: an exact
// match, or for an untagged field one in any case. It is -1 when there is none.
func (c *column) find(names []string) (int, error) {
	found := -1
	for i, name := range names {
		if name != c.name {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("column %q is there twice", c.name)
		}
		found = i
	}
	if found >= 0 || c.tagged {
		return found, nil
	}
	for i, name := range names {
		if !strings.EqualFold(name, c.name) {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("columns %q and %q both match field %s", names[found], name, c.field)
		}
		found = i
	}
	return found, nil
}
