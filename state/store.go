package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/table"
)

// tableStore is a table as the store of a declared state.
type tableStore[K comparable, V any] struct {
	rows   *table.Table[K, V]
	id     uint64 // of the next view
	beyond *int64 // bytes that rows refer to; nil where there are none
}

func (s *tableStore[K, V]) Len() int { return s.rows.Len() }

func (s *tableStore[K, V]) Bytes() int64 {
	if s.beyond != nil {
		return s.rows.Bytes() + *s.beyond
	}
	return s.rows.Bytes()
}

func (s *tableStore[K, V]) Close() { s.rows.Close() }

// Save appends a full view of the table: chunks, each with its length before
// it. What the table knows of changes stays as it was.
func (s *tableStore[K, V]) Save(dst []byte) ([]byte, error) {
	out := chunks{dst: dst}
	s.id++
	err := s.rows.Freeze(s.id, table.Full, &out)
	if errors.Is(err, table.ErrPhases) { // it has begun to reclaim them
		if _, err = s.rows.Slice(everything); err == nil {
			err = s.rows.Freeze(s.id, table.Full, &out)
		}
	}
	if err == nil {
		_, err = s.rows.Slice(everything)
		s.rows.Abort(s.id)
	}
	return out.dst, err
}

const everything = 1 << 62

// chunks collects the chunks of a view.
type chunks struct{ dst []byte }

func (c *chunks) Buffer() []byte { return nil }
func (c *chunks) Emit(chunk table.Chunk) {
	c.dst = append(binary.AppendUvarint(c.dst, uint64(len(chunk.Data))), chunk.Data...)
}

var errShort = errors.New("the bytes end too early")

// Load adds the rows of the key groups that the task owns.
func (s *tableStore[K, V]) Load(src []byte) error {
	for len(src) > 0 {
		n, w := binary.Uvarint(src)
		if w <= 0 || n > uint64(len(src)-w) {
			return errShort
		}
		if err := s.rows.Load(src[w : w+int(n)]); err != nil {
			return err
		}
		src = src[w+int(n):]
	}
	return nil
}

// openTable makes the table of one task.
func openTable[K comparable, V any](s *flow.States, inst *flow.Instance, value table.Codec[V]) (*table.Table[K, V], error) {
	keys, err := flow.CodecOf[K](s.Graph())
	if err != nil {
		return nil, err
	}
	return table.New(table.Config[K, V]{
		Groups: inst.Groups, Lo: inst.Lo, Hi: inst.Hi, Slabs: inst.Slabs,
		Key: table.Codec[K]{Append: keys.Append, Decode: keys.Decode}, Value: value,
	}), nil
}

// codecOf is the codec of T in the form that tables want.
func codecOf[T any](s *flow.States) (table.Codec[T], error) {
	c, err := flow.CodecOf[T](s.Graph())
	if err != nil {
		return table.Codec[T]{}, err
	}
	return table.Codec[T]{Append: c.Append, Decode: c.Decode}, nil
}

// storable checks that the types of a state have codecs.
func storable(s *flow.States, name string, o options, codecs ...func(*flow.States) error) func() error {
	return func() error {
		if err := o.check(); err != nil {
			return fmt.Errorf("state %q: %w", name, err)
		}
		for _, check := range codecs {
			if err := check(s); err != nil {
				return fmt.Errorf("state %q can't be stored: %w", name, err)
			}
		}
		return nil
	}
}

func hasCodec[T any](s *flow.States) error {
	_, err := flow.CodecOf[T](s.Graph())
	return err
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }
func typeName[T any]() string     { return typeOf[T]().String() }

// decl describes a state with keys of type K.
func decl[K any](name, kind, value, layout string) flow.StateDecl {
	return flow.StateDecl{Name: name, Kind: kind, Key: typeName[K](), Value: value, Layout: layout}
}

// layoutOf describes how values of V lie in memory.
func layoutOf[V any]() string { return flow.LayoutOf(typeOf[V]()).String() }
