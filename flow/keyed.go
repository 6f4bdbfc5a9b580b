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
	if err != nil {
		return Keyed[K, T]{s: s, key: key, err: err}
	}
	hashAll, err := table.BatchHasherOf[K]()
	return Keyed[K, T]{s: s, key: key, hash: hash, hashAll: hashAll, err: err}
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
			keyed:  k, owner: owner, shift: groupShift(len(owner)),
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

// ahead is how many records are looked at together: their keys first, then the
// hashes, then what is done with each. Loops of one thing run faster, and the
// loads of a table's rows overlap; a machine has 10 to 16 of them in flight
// for each core.
const ahead = 32

// lookAhead holds the keys of the next records, and their hashes. It is a
// field of its kernel: a local key would be allocated for each record, since
// hash functions take pointers.
type lookAhead[K comparable] struct {
	keys   [ahead]K
	hashes [ahead]uint64
	touch  byte
}

// lookAt computes the keys of recs, and their hashes unless the exchange has
// carried them.
func lookAt[K comparable, T any](l *lookAhead[K], k *Keyed[K, T], recs []T, carried []uint64) {
	key, keys := k.key, l.keys[:len(recs)]
	for i := range keys {
		keys[i] = key(&recs[i])
	}
	if carried != nil {
		copy(l.hashes[:], carried[:len(recs)])
		return
	}
	k.hashAll(keys, l.hashes[:])
}

// touchRows loads the rows of n keys that were looked at, all at once.
func touchRows[K comparable, V any](l *lookAhead[K], t *table.Table[K, V], n int) {
	touch := byte(0)
	for _, h := range l.hashes[:n] {
		touch |= t.Touch(h)
	}
	l.touch = touch
}
