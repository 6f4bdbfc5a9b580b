package state

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"unsafe"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/invariant"
)

// In a debug build (package invariant) handles lend copies. When the loan is
// over, at the next call on the handle or at the end of the user call, a copy
// that was lent to be read must be what it was, also behind pointers; and every
// copy is filled with rubbish, so that it is noticed when it is used later.

// loan is one value that was lent to be read.
type loan[V any] struct {
	states *flow.States
	name   string
	codec  flow.Codec[V]
	copy   *V
	before []byte
}

// lend returns a copy of v.
func (l *loan[V]) lend(v *V) *V {
	if v == nil {
		return nil
	}
	c := *v
	l.copy, l.before = &c, l.encode(&c)
	l.states.OnReturn(l.end)
	return &c
}

// end takes the copy back.
func (l *loan[V]) end() {
	if l.copy == nil {
		return
	}
	l.compare()
	spoil(l.copy)
	l.copy = nil
}

func (l *loan[V]) compare() {
	if !bytes.Equal(l.encode(l.copy), l.before) {
		panic(fmt.Sprintf("state %q: what Peek or All gave was written to: it is to be read only, Edit gives what may be changed", l.name))
	}
}

// encode returns v as bytes; nil if it can't be encoded, which is no concern
// of this check.
func (l *loan[V]) encode(v *V) []byte {
	if l.codec == nil {
		l.codec, _ = flow.CodecOf[V](l.states.Graph())
	}
	b, err := l.codec.Append(nil, v)
	if err != nil {
		return nil
	}
	return b
}

// spoil makes what a stale pointer sees absurd: rubbish where there are no
// pointers, zeros elsewhere.
func spoil[V any](v *V) {
	*v = *new(V)
	if flow.LayoutOf(typeOf[V]()).PointerFree {
		raw := unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
		for i := range raw {
			raw[i] = 0xa5
		}
	}
}

// checkedCell is a cell that lends copies. What was lent to be changed is
// written back when the loan is over.
type checkedCell[V any] struct {
	cell[V]
	loan   loan[V]
	edited *V
}

func (c *checkedCell[V]) end() {
	c.loan.end()
	if c.edited == nil {
		return
	}
	v, _ := c.cell.edit()
	*v = *c.edited
	spoil(c.edited)
	c.edited = nil
}

func (c *checkedCell[V]) peek() *V {
	c.end()
	return c.loan.lend(c.cell.peek())
}

func (c *checkedCell[V]) pointer() *V {
	v, _ := c.edit()
	return v
}

func (c *checkedCell[V]) edit() (*V, bool) {
	c.end()
	v, fresh := c.cell.edit()
	e := *v
	c.edited = &e
	c.loan.states.OnReturn(c.end)
	return &e, fresh
}

func (c *checkedCell[V]) remove() {
	c.end()
	c.cell.remove()
}

// checkedList is a list that lends copies.
type checkedList[V any] struct {
	of   lister[V]
	loan loan[[]V]
}

// checkedIn is l, in a debug build with checks.
func checkedIn[V any](l lister[V], states *flow.States, name string) lister[V] {
	if invariant.Enabled {
		return &checkedList[V]{of: l, loan: loan[[]V]{states: states, name: name}}
	}
	return l
}

func (l *checkedList[V]) end() {
	if l.loan.copy != nil {
		vs := *l.loan.copy
		l.loan.compare()
		clear(vs)
		l.loan.copy = nil
	}
}

func (l *checkedList[V]) peek() []V {
	l.end()
	vs := l.of.peek()
	if vs == nil {
		return nil
	}
	vs = slices.Clip(slices.Clone(vs))
	l.loan.copy, l.loan.before = &vs, l.loan.encode(&vs)
	l.loan.states.OnReturn(l.end)
	return vs
}

func (l *checkedList[V]) add(v V) {
	l.end()
	l.of.add(v)
}

// replace may be given a part of what was lent.
func (l *checkedList[V]) replace(vs []V) {
	vs = slices.Clone(vs)
	l.end()
	l.of.replace(vs)
}

func (l *checkedList[V]) clear() {
	l.end()
	l.of.clear()
}

// checkedMap is a map that lends copies to read.
type checkedMap[MK comparable, V any] struct {
	mapper[MK, V]
	loan loan[V]
}

func (m *checkedMap[MK, V]) peek(k MK) *V {
	m.loan.end()
	return m.loan.lend(m.mapper.peek(k))
}

func (m *checkedMap[MK, V]) edit(k MK) *V {
	m.loan.end()
	return m.mapper.edit(k)
}

func (m *checkedMap[MK, V]) remove(k MK) {
	m.loan.end()
	m.mapper.remove(k)
}

func (m *checkedMap[MK, V]) clear() {
	m.loan.end()
	m.mapper.clear()
}

func (m *checkedMap[MK, V]) all() iter.Seq2[MK, *V] {
	seq := m.mapper.all()
	return func(yield func(MK, *V) bool) {
		for k, v := range seq {
			one := loan[V]{states: m.loan.states, name: m.loan.name, codec: m.loan.codec}
			if goOn := yield(k, one.lend(v)); !goOn {
				one.end()
				return
			}
			one.end()
		}
	}
}
