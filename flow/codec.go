package flow

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Codec stores values of one type as bytes: in checkpoints, and wherever
// records leave a process. A codec has no state of its own: its methods may be
// called by several tasks at once.
type Codec[T any] interface {
	// ID names the encoding. It is stored beside what was encoded; a job whose
	// codec has another ID refuses to restore it, so the ID must change
	// whenever the encoding does.
	ID() string
	// Append appends the encoding of *v to dst and returns the extended slice.
	// It leaves *v as it was, and keeps neither dst nor v.
	Append(dst []byte, v *T) ([]byte, error)
	// Decode decodes the value that src begins with into *v, which comes
	// zeroed, and says how many bytes it took. src is lent: *v must not refer
	// to it afterwards. After an error *v may be set in part.
	Decode(src []byte, v *T) (n int, err error)
}

// erasedCodec is a Codec whose type was forgotten: p points at a value of it.
// Codecs of types that hold other types call each other through it.
type erasedCodec interface {
	ID() string
	appendAny(dst []byte, p unsafe.Pointer) ([]byte, error)
	decodeAny(src []byte, p unsafe.Pointer) (n int, err error)
}

// boxedCodec is a user's codec, usable in both forms.
type boxedCodec[T any] struct{ Codec[T] }

func (c boxedCodec[T]) appendAny(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return c.Append(dst, (*T)(p))
}

func (c boxedCodec[T]) decodeAny(src []byte, p unsafe.Pointer) (int, error) {
	return c.Decode(src, (*T)(p))
}

// boxCodec makes the form of c that the lookup function of codecOf returns.
// It is a Codec[T] still.
func boxCodec[T any](c Codec[T]) any { return boxedCodec[T]{c} }

// codecOf finds the codec of T: the registered one (which lookup returns, made
// by boxCodec; lookup may be nil, and is asked for the types within T too),
// or else one built from the type:
//
//   - the methods of encoding.BinaryAppender or BinaryMarshaler with
//     BinaryUnmarshaler, unless they may come from an embedded field, whose
//     methods know nothing of the other fields;
//   - booleans, numbers, strings, time.Time, and structs, arrays, slices, maps
//     and pointers of those. Unexported fields are stored like the others: what
//     a processor remembers is mostly unexported.
//
// Anything else (functions, channels, interfaces, locks) is an error that names
// the way to it. What is decoded equals what was encoded down to the bits of a
// NaN and the difference between a nil and an empty slice, with four
// exceptions: the capacity of slices, the names of time zones and the
// monotonic clock readings of times are lost, and two pointers to one variable
// become pointers to two. A value that refers to itself, or nests pointers,
// slices and maps deeper than 10,000, is refused by Append.
func codecOf[T any](lookup func(reflect.Type) (any, bool)) (Codec[T], error) {
	t := reflect.TypeFor[T]()
	if lookup != nil {
		if found, ok := lookup(t); ok {
			c, ok := found.(Codec[T])
			if !ok {
				return nil, fmt.Errorf("type %v: the codec registered for it is a %T", t, found)
			}
			return c, nil
		}
	}
	b := planner{lookup: lookup, plans: map[reflect.Type]*plan{}}
	p, err := b.planOf(t, "")
	if err != nil {
		return nil, fmt.Errorf("type %v: %w", t, err)
	}
	return &planCodec[T]{plan: p, typ: t, id: b.idOf(t)}, nil
}

// planCodec is the built-in codec of T.
type planCodec[T any] struct {
	plan *plan
	typ  reflect.Type
	id   string
}

func (c *planCodec[T]) ID() string { return c.id }

func (c *planCodec[T]) Append(dst []byte, v *T) ([]byte, error) {
	return c.appendAny(dst, unsafe.Pointer(v))
}

func (c *planCodec[T]) Decode(src []byte, v *T) (int, error) {
	return c.decodeAny(src, unsafe.Pointer(v))
}

func (c *planCodec[T]) appendAny(dst []byte, p unsafe.Pointer) ([]byte, error) {
	out, err := c.plan.append(dst, p, 0)
	if err != nil {
		return dst, fmt.Errorf("encode %v: %w", c.typ, err)
	}
	return out, nil
}

func (c *planCodec[T]) decodeAny(src []byte, p unsafe.Pointer) (int, error) {
	rest, err := c.plan.decode(src, p, 0)
	if err != nil {
		return 0, fmt.Errorf("decode %v: %w", c.typ, err)
	}
	return len(src) - len(rest), nil
}
