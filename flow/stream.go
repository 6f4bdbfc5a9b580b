package flow

import "reflect"

// Stream is a flow of records of type T, the result of an operator. It is a
// small value to be copied freely; any number of operators can read it, and each
// sees every record.
type Stream[T any] struct {
	g    *Graph
	node *Node
	port int
	part Partition
}

// Keyed is a stream partitioned by a key: all records of one key go to the
// same task of the next operator.
type Keyed[K comparable, T any] struct {
	s    Stream[T]
	key  func(*T) K
	hash func(*K) uint64
	// hashAll hashes many keys.
	hashAll func(keys []K, hashes []uint64)
	err     error
}

// unary adds an operator with one input, fed by s.
func unary[I any](s Stream[I], kind, name string, set settings) *Node {
	n := s.g.add(kind, name, set)
	connect(s, n, 0)
	return n
}

// fallible prepares n for a policy with retries or dead letters of records T.
func fallible[T any](n *Node) *Node {
	n.fallible = true
	if n.policy.kind == policyRetry {
		n.MustHead = true
	}
	if n.policy.letters() != "" {
		n.DeadPort = n.OutPorts
		n.deadType = reflect.TypeFor[T]()
	}
	return n
}

func out[T any](g *Graph, n *Node) Stream[T] { return Stream[T]{g: g, node: n} }

// Map applies f to each record. It passes records by value, which is
// comfortable for small ones and several times slower than MapInto for records
// of more than four words.
func Map[I, O any](s Stream[I], name string, f func(I) O, opts ...Option) Stream[O] {
	n := unary(s, "map", name, applyAll(opts))
	n.required("function", f == nil)
	n.NewKernel = func(*Instance) (Kernel, error) {
		return &mapKernel[I, O]{f: func(in *I, out *O) { *out = f(*in) }}, nil
	}
	return out[O](s.g, n)
}

// MapInto applies f to each record: it fills out, which comes zeroed, from in,
// which is read-only.
func MapInto[I, O any](s Stream[I], name string, f func(in *I, out *O), opts ...Option) Stream[O] {
	n := unary(s, "map", name, applyAll(opts))
	n.required("function", f == nil)
	n.NewKernel = func(*Instance) (Kernel, error) { return &mapKernel[I, O]{f: f}, nil }
	return out[O](s.g, n)
}

// TryMap is MapInto with a function that can fail; OnError says what becomes
// of the record then.
func TryMap[I, O any](s Stream[I], name string, f func(in *I, out *O) error, opts ...Option) Stream[O] {
	n := fallible[I](unary(s, "try map", name, applyAll(opts)))
	n.required("function", f == nil)
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		return newTryMap(f, n.policy, inst), nil
	}
	return out[O](s.g, n)
}

// Filter passes on the records for which keep returns true.
func Filter[T any](s Stream[T], name string, keep func(*T) bool, opts ...Option) Stream[T] {
	n := unary(s, "filter", name, applyAll(opts))
	n.required("function", keep == nil)
	n.NewKernel = func(*Instance) (Kernel, error) { return &filterKernel[T]{keep: keep}, nil }
	return out[T](s.g, n)
}

// FlatMap turns each record into any number of results. An error return takes
// the results of that call back; OnError says what becomes of the record.
func FlatMap[I, O any](s Stream[I], name string, f func(in *I, out *Out[O]) error, opts ...Option) Stream[O] {
	n := fallible[I](unary(s, "flat map", name, applyAll(opts)))
	n.required("function", f == nil)
	n.NewKernel = func(inst *Instance) (Kernel, error) { return newFlatMap(f, n.policy, inst), nil }
	return out[O](s.g, n)
}

// MapBatch applies f to whole batches: len(out) == len(in), out comes zeroed
// and in is read-only. It is the fastest form: the loop is yours. OnError treats the records of
// a failed batch alike.
func MapBatch[I, O any](s Stream[I], name string, f func(in []I, out []O) error, opts ...Option) Stream[O] {
	n := fallible[I](unary(s, "map batch", name, applyAll(opts)))
	n.required("function", f == nil)
	n.NewKernel = func(inst *Instance) (Kernel, error) { return newMapBatch(f, n.policy, inst), nil }
	return out[O](s.g, n)
}

// FlatMapBatch turns whole batches into any number of results. OnError treats
// the records of a failed batch alike.
func FlatMapBatch[I, O any](s Stream[I], name string, f func(in []I, out *BatchOut[O]) error, opts ...Option) Stream[O] {
	n := fallible[I](unary(s, "flat map batch", name, applyAll(opts)))
	n.required("function", f == nil)
	n.NewKernel = func(inst *Instance) (Kernel, error) { return newFlatMapBatch(f, n.policy, inst), nil }
	return out[O](s.g, n)
}

// Union merges streams into one. The order of records is kept within each.
func Union[T any](name string, streams ...Stream[T]) Stream[T] {
	if len(streams) == 0 {
		panic("flow: Union " + name + ": no streams")
	}
	n := streams[0].g.add("union", name, settings{})
	n.MustHead = true
	for i, s := range streams {
		if s.g != streams[0].g {
			n.fault("stream %d belongs to another graph", i)
			continue
		}
		connect(s, n, 0)
	}
	n.NewKernel = func(*Instance) (Kernel, error) { return &passKernel[T]{}, nil }
	return out[T](streams[0].g, n)
}

// Rebalance spreads the records evenly over all tasks of the next operator.
func Rebalance[T any](s Stream[T]) Stream[T] {
	s.part = RoundRobin
	return s
}

// Broadcast sends every record to every task of the next operator, which then
// sees it that many times.
func Broadcast[T any](s Stream[T]) Stream[T] {
	s.part = ToAll
	return s
}

// Route splits a stream: f says to which of the outputs a record goes, and -1
// drops it. Any other answer fails the job.
func Route[T any](s Stream[T], name string, outputs int, f func(*T) int, opts ...Option) []Stream[T] {
	n := unary(s, "route", name, applyAll(opts))
	n.required("function", f == nil)
	if outputs < 1 {
		n.fault("Route into %d outputs: at least one is needed", outputs)
		outputs = 1
	}
	n.OutPorts = outputs
	n.NewKernel = func(*Instance) (Kernel, error) { return newRoute(f, outputs), nil }
	streams := make([]Stream[T], outputs)
	for i := range streams {
		streams[i] = Stream[T]{g: s.g, node: n, port: i}
	}
	return streams
}

// DeadLetters returns the records that operators with OnError(DeadLetter(name))
// sent there. Validate compares T with the record types of those operators.
func DeadLetters[T any](g *Graph, name string) Stream[Failed[T]] {
	n := g.add(kindLetters, "dead letters "+name, settings{})
	if g.readsLetters(name, reflect.TypeFor[T]()) {
		n.Name += " of " + typeName[T]()
	}
	n.MustHead = true
	n.NewKernel = func(*Instance) (Kernel, error) { return &passKernel[Failed[T]]{}, nil }
	g.letters = append(g.letters, &letterBox{
		name: name, record: reflect.TypeFor[T](), node: n, attached: map[letterPort]bool{},
		attach: func(from *Node, port int) {
			connect(Stream[Failed[T]]{g: g, node: from, port: port}, n, 0)
		},
	})
	return out[Failed[T]](g, n)
}
