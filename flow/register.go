package flow

import (
	"fmt"
	"reflect"
)

// registeredCodec is a codec of one type that a graph was given, and the
// decoders of older forms of it.
type registeredCodec struct {
	codec      any // boxed; nil when only migrations are known
	migrations []migration
}

// migration decodes what another codec has written.
type migration struct {
	fromID string
	decode any // func(src []byte, v *T) (int, error)
}

// RegisterCodec makes c the codec of T in this graph, also where T is part of
// another type.
func RegisterCodec[T any](g *Graph, c Codec[T]) {
	t := reflect.TypeFor[T]()
	r := g.codecs[t]
	switch {
	case c == nil:
		g.fault("RegisterCodec[%v]: the codec is nil", t)
		return
	case c.ID() == "":
		g.fault("RegisterCodec[%v]: the codec's ID is empty", t)
	case r.codec != nil:
		g.fault("RegisterCodec[%v]: the type has a codec already", t)
	}
	r.codec = boxCodec(c)
	g.codecs[t] = r
}

// Migrate lets state of type T that was written by the codec fromID be
// restored: decode reads it.
func Migrate[T any](g *Graph, fromID string, decode func(src []byte, v *T) (int, error)) {
	t := reflect.TypeFor[T]()
	if decode == nil || fromID == "" {
		g.fault("Migrate[%v]: the ID and the decode function are both needed", t)
		return
	}
	r := g.codecs[t]
	for _, m := range r.migrations {
		if m.fromID == fromID {
			g.fault("Migrate[%v]: the codec %q is migrated already", t, fromID)
		}
	}
	r.migrations = append(r.migrations, migration{fromID, decode})
	g.codecs[t] = r
}

// fault notes a mistake that belongs to no operator.
func (g *Graph) fault(format string, args ...any) {
	g.late = append(g.late, fmt.Sprintf("%s: %s", caller(), fmt.Sprintf(format, args...)))
}

func (g *Graph) lookupCodec(t reflect.Type) (any, bool) {
	r, ok := g.codecs[t]
	return r.codec, ok && r.codec != nil
}

// CodecOf finds the codec of T in this graph: the registered one, else one
// built from the type. The error names the type, and the field in it, that
// can't be stored.
func CodecOf[T any](g *Graph) (Codec[T], error) { return codecOf[T](g.lookupCodec) }
