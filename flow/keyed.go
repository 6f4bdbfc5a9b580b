package flow

import (
	"reflect"

	"github.com/tailrace-io/tailrace/internal/table"
)

// KeyBy partitions a stream by key: the records of one key go to one task of
// the next operator, in their order. K may be anything comparable made of
// numbers, strings, bools, arrays and structs of those.
func KeyBy[K comparable, T any](s Stream[T], key func(*T) K) Keyed[K, T] {
	hash, err := table.HasherOf[K]()
	return Keyed[K, T]{s: s, key: key, hash: hash, err: err}
}

// NoKey is the key of everything in one place: flow.KeyBy(s, flow.NoKey).
func NoKey[T any](*T) struct{} { return struct{}{} }

// connectKeyed adds a keyed edge.
func connectKeyed[K comparable, T any](k Keyed[K, T], to *Node, port int) *Edge {
	e := connect(k.s, to, port)
	e.Part = ByKey
	to.Keyed = true
	if reflect.TypeFor[K]().Size() == 0 && to.Parallelism == 0 {
		to.Parallelism = 1 // there is one key: other tasks would have nothing to do
	}
	to.required("key function of KeyBy", k.key == nil)
	if k.err != nil {
		to.fault("the key type can't be a key: %v", k.err)
	}
	if k.s.part != Forward {
		to.fault("KeyBy after %s: the key decides where a record goes", k.s.part)
	}
	e.NewOutlet = func(lanes []Lane, owner []uint16, part Partition, inst *Instance) Outlet {
		if part != ByKey {
			return newOutlet[T](lanes, part, inst.Task.Index)
		}
		return &keyedOutlet[K, T]{
			outlet: *newOutlet[T](lanes, ByKey, 0),
			key:    k.key, hash: k.hash, owner: owner, shift: groupShift(len(owner)),
		}
	}
	return e
}

// groupShift turns a hash into its key group: the top bits.
func groupShift(groups int) uint {
	shift := uint(64)
	for ; groups > 1; groups >>= 1 {
		shift--
	}
	return shift
}

// hashOf returns the hash of record i's key, from the batch where the exchange
// left it there.
func (k *Keyed[K, T]) hashOf(in *BatchOf[T], i int, key *K) uint64 {
	if len(in.Head.Hashes) > 0 {
		return in.Head.Hashes[i]
	}
	return k.hash(key)
}
