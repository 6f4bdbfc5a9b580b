package flow

import (
	"fmt"
	"reflect"

	"github.com/tailrace-io/tailrace/internal/table"
)

// Total folds all records of each key and emits one result a key at the end of
// data, with event time MaxTime. Where a has Merge, records are aggregated
// before they are exchanged. The order of the results is that of the keys'
// hashes within each task.
func Total[K comparable, T, A, R any](k Keyed[K, T], name string, a Aggregator[T, A, R], opts ...Option) Stream[KeyValue[K, R]] {
	n := k.s.g.add("total", name, applyAll(opts))
	e := connectKeyed(k, n, 0)
	checkAggregator(n, &a)
	declareKeyed[K, A](k.s.g, n, "total")
	if a.Merge != nil {
		combineBeforeExchange(e, k, a)
	}
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		t, err := newKeyedTable[K, A](k.s.g, inst)
		if err != nil {
			return nil, err
		}
		return &totalKernel[K, T, A, R]{keyed: k, agg: a, inst: inst, state: t}, nil
	}
	return out[KeyValue[K, R]](k.s.g, n)
}

func checkAggregator[T, A, R any](n *Node, a *Aggregator[T, A, R]) {
	n.required("Add function of the Aggregator", a.Add == nil)
	n.required("Result function of the Aggregator", a.Result == nil)
}

// declareKeyed notes that n keeps a V for each key.
func declareKeyed[K comparable, V any](g *Graph, n *Node, name string) {
	n.States = append(n.States, StateDecl{
		Name: name, Kind: "value", Key: typeName[K](), Value: typeName[V](),
		Layout: LayoutOf(reflect.TypeFor[V]()).String(),
	})
	n.checks = append(n.checks, func() error {
		if _, err := CodecOf[K](g); err != nil {
			return fmt.Errorf("its keys can't be stored: %w", err)
		}
		if _, err := CodecOf[V](g); err != nil {
			return fmt.Errorf("its state can't be stored: %w", err)
		}
		return nil
	})
}

// newKeyedTable makes the table of one task.
func newKeyedTable[K comparable, V any](g *Graph, inst *Instance) (*table.Table[K, V], error) {
	keys, err := CodecOf[K](g)
	if err != nil {
		return nil, err
	}
	values, err := CodecOf[V](g)
	if err != nil {
		return nil, err
	}
	return table.New(table.Config[K, V]{
		Groups: inst.Groups, Lo: inst.Lo, Hi: inst.Hi, Slabs: inst.Slabs,
		Key:   table.Codec[K]{Append: keys.Append, Decode: keys.Decode},
		Value: table.Codec[V]{Append: values.Append, Decode: values.Decode},
	}), nil
}

// totalKernel holds an accumulator for each key. Its input is records, or
// partial accumulators where the exchange combines.
type totalKernel[K comparable, T, A, R any] struct {
	keyed  Keyed[K, T]
	agg    Aggregator[T, A, R]
	inst   *Instance
	state  *table.Table[K, A]
	out    Out[KeyValue[K, R]]
	cursor table.Cursor
	look   lookAhead[K]
}

func (k *totalKernel[K, T, A, R]) Connect(port int, to Receiver) {
	if port == 0 {
		k.out.init(k.inst.BatchSize, to)
	}
}

func (k *totalKernel[K, T, A, R]) OnBatch(_ int, b Batch) error {
	if in, ok := b.(*BatchOf[partial[K, A]]); ok {
		k.merge(in)
		return nil
	}
	in := b.(*BatchOf[T])
	for from := 0; from < len(in.Recs); from += ahead {
		recs := in.Recs[from:min(from+ahead, len(in.Recs))]
		lookAt(&k.look, &k.keyed, recs, in.Head.carried(from))
		touchRows(&k.look, k.state, len(recs))
		for i := range recs {
			k.agg.Add(k.edit(k.look.hashes[i], k.look.keys[i]), &recs[i])
		}
	}
	return nil
}

func (k *totalKernel[K, T, A, R]) merge(in *BatchOf[partial[K, A]]) {
	touch := byte(0)
	for i := range in.Recs {
		if i%ahead == 0 {
			for _, h := range in.Head.Hashes[i:min(i+ahead, len(in.Recs))] {
				touch |= k.state.Touch(h)
			}
		}
		p := &in.Recs[i]
		k.agg.Merge(k.edit(in.Head.Hashes[i], p.key), &p.acc)
	}
	k.look.touch = touch
}

// edit returns the key's accumulator, a new one for a new key.
func (k *totalKernel[K, T, A, R]) edit(h uint64, key K) *A {
	if k.agg.New == nil {
		return k.state.Edit(h, key)
	}
	before := k.state.Len()
	acc := k.state.Edit(h, key)
	if k.state.Len() != before {
		*acc = k.agg.New()
	}
	return acc
}

// OnEnd emits a slice of the results.
func (k *totalKernel[K, T, A, R]) OnEnd(budget int) (more bool, err error) {
	more = k.state.Scan(&k.cursor, budget, func(key K, acc *A) bool {
		k.out.begin(MaxTime, true)
		r := k.out.Slot()
		r.Key, r.Value = key, k.agg.Result(acc)
		k.out.end()
		return true
	})
	return more, k.out.flush()
}

func (k *totalKernel[K, T, A, R]) StateBytes() int64 { return k.state.Bytes() }
func (k *totalKernel[K, T, A, R]) CloseState()       { k.state.Close() }
