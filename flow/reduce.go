package flow

import "github.com/tailrace-io/tailrace/internal/table"

// Reduce folds the records of each key as they come and emits the running
// result for each: the first record of a key as it is, then acc after f.
func Reduce[K comparable, T any](k Keyed[K, T], name string, f func(acc, in *T), opts ...Option) Stream[KeyValue[K, T]] {
	n := k.s.g.add("reduce", name, applyAll(opts))
	connectKeyed(k, n, 0)
	n.required("function", f == nil)
	declareKeyed[K, T](k.s.g, n, "reduce")
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		t, err := newKeyedTable[K, T](k.s.g, inst)
		if err != nil {
			return nil, err
		}
		return &reduceKernel[K, T]{keyed: k, f: f, state: t}, nil
	}
	return out[KeyValue[K, T]](k.s.g, n)
}

type reduceKernel[K comparable, T any] struct {
	single[KeyValue[K, T]]
	scratch[KeyValue[K, T]]
	keyed Keyed[K, T]
	f     func(acc, in *T)
	state *table.Table[K, T]
	look  lookAhead[K]
}

func (k *reduceKernel[K, T]) OnBatch(_ int, b Batch) error {
	in := b.(*BatchOf[T])
	recs := k.take(len(in.Recs), &in.Head)
	for from := 0; from < len(in.Recs); from += ahead {
		some := in.Recs[from:min(from+ahead, len(in.Recs))]
		lookAt(&k.look, &k.keyed, some, in.Head.carried(from))
		touchRows(&k.look, k.state, len(some))
		for i := range some {
			key := k.look.keys[i]
			before := k.state.Len()
			acc := k.state.Edit(k.look.hashes[i], key)
			if k.state.Len() != before {
				*acc = some[i]
			} else {
				k.f(acc, &some[i])
			}
			recs[from+i] = KeyValue[K, T]{Key: key, Value: *acc}
		}
	}
	return k.sendFirst(k.next, len(recs))
}

func (k *reduceKernel[K, T]) StateBytes() int64 { return k.state.Bytes() }
func (k *reduceKernel[K, T]) CloseState()       { k.state.Close() }
