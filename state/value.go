package state

import (
	"encoding/binary"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/invariant"
	"github.com/tailrace-io/tailrace/internal/table"
)

// Value is one V for each key.
type Value[V any] struct{ c cell[V] }

// ValueOf declares a Value: state.ValueOf[profile](s, "card").
func ValueOf[V any, K comparable](s flow.Scope[K], name string, opts ...Option) Value[V] {
	return Value[V]{cellOf[K, V](s, name, "value", typeName[V](), apply(opts))}
}

// Get returns a copy of the value, and whether there is one.
func (h Value[V]) Get() (v V, ok bool) {
	if p := h.c.peek(); p != nil {
		return *p, true
	}
	return v, false
}

// Peek returns the value to read, in place; nil when it is absent.
func (h Value[V]) Peek() *V { return h.c.peek() }

// Edit returns the value to change in place; a zero V when it is absent.
func (h Value[V]) Edit() *V {
	return h.c.pointer()
}

// Set makes v the value.
func (h Value[V]) Set(v V) {
	*h.c.pointer() = v
}

// Clear removes the value.
func (h Value[V]) Clear() { h.c.remove() }

// cellOf declares a state with one V for each key.
func cellOf[K comparable, V any](s flow.Scope[K], name, kind, shown string, o options) cell[V] {
	c := uncheckedCell[K, V](s, name, kind, shown, o)
	if invariant.Enabled {
		return &checkedCell[V]{cell: c, loan: loan[V]{states: s.States(), name: name}}
	}
	return c
}

func uncheckedCell[K comparable, V any](s flow.Scope[K], name, kind, shown string, o options) cell[V] {
	states := s.States()
	spec := flow.StateSpec{
		StateDecl: decl[K](name, o.kind(kind), shown, layoutOf[V]()),
		Check:     storable(states, name, o, hasCodec[K], hasCodec[V]),
	}
	if o.ttl {
		c := &expiringCell[K, V]{life: o.lifeTime()}
		c.plainCell = plainCell[K, stamped[V]]{hand: s.InHand(), states: states, name: name}
		spec.Open = func(inst *flow.Instance) (flow.Store, error) { return c.open(inst) }
		states.Declare(spec)
		return c
	}
	c := &plainCell[K, V]{hand: s.InHand(), states: states, name: name}
	spec.Open = func(inst *flow.Instance) (flow.Store, error) {
		codec, err := codecOf[V](states)
		if err != nil {
			return nil, err
		}
		if c.rows, err = openTable[K, V](states, inst, codec); err != nil {
			return nil, err
		}
		return &tableStore[K, V]{rows: c.rows}, nil
	}
	states.Declare(spec)
	return c
}

func (c *expiringCell[K, V]) open(inst *flow.Instance) (flow.Store, error) {
	codec, err := codecOf[V](c.states)
	if err != nil {
		return nil, err
	}
	if c.rows, err = openTable[K, stamped[V]](c.states, inst, stampedCodec(codec)); err != nil {
		return nil, err
	}
	return newSweptStore(&tableStore[K, stamped[V]]{rows: c.rows},
		func(v *stamped[V]) bool { return expired(v.at, c.life, c.now()) },
		func(*stamped[V]) bool { return true })
}

// stampedCodec puts the stamp before what values writes.
func stampedCodec[V any](values table.Codec[V]) table.Codec[stamped[V]] {
	return table.Codec[stamped[V]]{
		Append: func(dst []byte, v *stamped[V]) ([]byte, error) {
			return values.Append(binary.AppendVarint(dst, int64(v.at)), &v.val)
		},
		Decode: func(src []byte, v *stamped[V]) (int, error) {
			at, w := binary.Varint(src)
			if w <= 0 {
				return 0, errShort
			}
			v.at = flow.Time(at)
			n, err := values.Decode(src[w:], &v.val)
			return w + n, err
		},
	}
}
