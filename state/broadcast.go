package state

import (
	"fmt"
	"iter"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/table"
)

// Broadcast is a map of which each task holds a copy. All can read it; only the
// broadcast side writes it, with the ctx of its call as the licence.
type Broadcast[BK comparable, V any] struct{ m *broadcastMap[BK, V] }

// BroadcastOf declares a Broadcast, for ProcessBroadcast and
// TransformBroadcast.
func BroadcastOf[BK comparable, V any](s flow.TaskScope, name string) Broadcast[BK, V] {
	states := s.States()
	m := &broadcastMap[BK, V]{states: states, name: name, entries: &entries[BK, V]{}}
	states.Declare(flow.StateSpec{
		StateDecl: flow.StateDecl{Name: name, Kind: "broadcast", Key: "-", Value: typeName[map[BK]V](), Layout: "a map"},
		Broadcast: true,
		Check:     storable(states, name, options{}, hasCodec[BK], hasCodec[V]),
		Open: func(*flow.Instance) (flow.Store, error) {
			var err error
			m.codec, err = entriesCodec[BK, V](states, false, func(int64) {})
			return (*broadcastStore[BK, V])(m), err
		},
	})
	return Broadcast[BK, V]{m}
}

// Peek returns the value of k to read, in place; nil when it is absent.
func (h Broadcast[BK, V]) Peek(k BK) *V {
	if e := h.m.entries.get(k); e != nil {
		return &e.val
	}
	return nil
}

// All goes over the entries in the order in which their keys were inserted.
// The values are to read.
func (h Broadcast[BK, V]) All() iter.Seq2[BK, *V] { return h.m.entries.all(0, 0) }

// Set makes v the value of k in this task.
func (h Broadcast[BK, V]) Set(ctx flow.BroadcastCtx, k BK, v V) {
	h.m.licensed(ctx)
	h.m.entries.put(k).val = v
}

// Delete removes k in this task.
func (h Broadcast[BK, V]) Delete(ctx flow.BroadcastCtx, k BK) {
	h.m.licensed(ctx)
	h.m.entries.delete(k)
}

type broadcastMap[BK comparable, V any] struct {
	*entries[BK, V]
	states *flow.States
	name   string
	codec  table.Codec[*entries[BK, V]]
}

func (m *broadcastMap[BK, V]) licensed(ctx flow.BroadcastCtx) {
	if !m.states.MayWrite(ctx) {
		panic(fmt.Sprintf("state %q: broadcast state is written in the call that the BroadcastCtx was passed to, and there only", m.name))
	}
}

// broadcastStore is a broadcastMap as a store.
type broadcastStore[BK comparable, V any] broadcastMap[BK, V]

func (s *broadcastStore[BK, V]) Len() int     { return s.live }
func (s *broadcastStore[BK, V]) Bytes() int64 { return s.entries.bytes() }
func (s *broadcastStore[BK, V]) Close()       { s.entries = &entries[BK, V]{} }

func (s *broadcastStore[BK, V]) Save(dst []byte) ([]byte, error) {
	return s.codec.Append(dst, &s.entries)
}

// Load adds the entries; the copies of all tasks are alike.
func (s *broadcastStore[BK, V]) Load(src []byte) error {
	var more *entries[BK, V]
	if _, err := s.codec.Decode(src, &more); err != nil {
		return err
	}
	for k, v := range more.all(0, 0) {
		s.entries.put(k).val = *v
	}
	return nil
}
