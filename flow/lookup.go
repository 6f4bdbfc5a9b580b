package flow

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// JoinKind says what becomes of a record without a partner.
type JoinKind uint8

const (
	Inner     JoinKind = iota // it is dropped
	LeftOuter                 // a left one is joined with nil
	FullOuter                 // both are
)

// String says it for people.
func (k JoinKind) String() string {
	if k > FullOuter {
		return fmt.Sprintf("JoinKind(%d)", uint8(k))
	}
	return [...]string{"inner", "left outer", "full outer"}[k]
}

const kindLookup = "lookup join"

// LookupJoin is a broadcast hash join: b, which must be bounded, goes to every
// task and is read to its end before the first record of s. f is called for
// each pair in the order in which b was read, and for LeftOuter with a nil b
// for a record of s without a partner.
func LookupJoin[K comparable, I, B, O any](s Stream[I], b Stream[B], name string, kind JoinKind, key func(*I) K, bkey func(*B) K,
	f func(in *I, b *B, out *Out[O]) error, opts ...Option) Stream[O] {
	n := fallible[I](unary(s, kindLookup, name, applyAll(opts)))
	n.MustHead = true
	n.detail = kind.String()
	n.required("key function", key == nil)
	n.required("key function of the build side", bkey == nil)
	n.required("join function", f == nil)
	if b.g != s.g || b.node == nil {
		n.fault("the build side belongs to another graph")
		return out[O](s.g, n)
	}
	b.part = ToAll
	connect(b, n, 1)
	if kind > LeftOuter {
		n.fault("a LookupJoin can be Inner or LeftOuter: for a FullOuter one, no task knows which build records found no partner in the others")
	}
	n.NewKernel = func(inst *Instance) (Kernel, error) {
		k := &lookupKernel[K, I, B, O]{key: key, bkey: bkey, f: f, kind: kind, inst: inst, chains: map[K]rowChain{}}
		k.failures.init(n.policy, inst, 1)
		return k, nil
	}
	return out[O](s.g, n)
}

// checkBuildSides refuses build sides that never end, and sources that wait for
// each other: each source of the main side waits for the end of every source of
// the build side. What ends in the build side of another join on its way does
// not wait, for that takes whatever comes.
func (g *Graph) checkBuildSides(report reporter) {
	waits := waitGraph{}
	for _, n := range g.nodes {
		if n.Kind != kindLookup || len(n.Ins) < 2 {
			continue
		}
		main, build := sourcesOf(n.Ins[0].From, false), sourcesOf(n.Ins[1].From, true)
		var endless []string
		for _, src := range build {
			if !src.Source.Bounded {
				endless = append(endless, fmt.Sprintf("%q", src.Name))
			}
		}
		if len(endless) > 0 {
			report(n, "the build side must be bounded, but %s is not", strings.Join(endless, ", "))
		}
		if both := common(main, build); len(both) > 0 {
			report(n, "the source %s feeds both sides: it would be held up by itself, since the main side waits for the end of the build side; read it twice", strings.Join(both, ", "))
			continue
		}
		for _, m := range main {
			for _, b := range build {
				if join := waits.joinOn(b, m); join != nil {
					report(n, "the source %q waits here for the end of %q, which waits for it at the lookup join %q: neither would end; read one of them twice", m.Name, b.Name, join.Name)
				}
				waits[m] = append(waits[m], wait{b, n})
			}
		}
	}
}

// waitGraph has for each source the sources whose end it waits for.
type waitGraph map[*Node][]wait

type wait struct{ source, join *Node }

// joinOn returns the first join on a way on which from waits for to, nil if it
// does not.
func (w waitGraph) joinOn(from, to *Node) *Node {
	seen := map[*Node]bool{}
	var reaches func(*Node) bool
	reaches = func(n *Node) bool {
		if n == to {
			return true
		}
		if seen[n] {
			return false
		}
		seen[n] = true
		return slices.ContainsFunc(w[n], func(next wait) bool { return reaches(next.source) })
	}
	for _, next := range w[from] {
		if reaches(next.source) {
			return next.join
		}
	}
	return nil
}

// common has the names of the nodes that are in both lists.
func common(as, bs []*Node) (names []string) {
	for _, n := range as {
		if slices.Contains(bs, n) {
			names = append(names, fmt.Sprintf("%q", n.Name))
		}
	}
	return names
}

// sourcesOf returns the sources that feed n, each once; with builds also those
// that do so through the build side of a join.
func sourcesOf(n *Node, builds bool) (found []*Node) {
	seen := map[*Node]bool{}
	var visit func(*Node)
	visit = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Source != nil {
			found = append(found, n)
		}
		for _, e := range n.Ins {
			if builds || n.Kind != kindLookup || e.ToPort == 0 {
				visit(e.From)
			}
		}
	}
	visit(n)
	return found
}

// lookupKernel holds the build side in memory and looks each record up in it.
type lookupKernel[K comparable, I, B, O any] struct {
	failures[I]
	key    func(*I) K
	bkey   func(*B) K
	f      func(in *I, b *B, out *Out[O]) error
	kind   JoinKind
	inst   *Instance
	out    Out[O]
	rows   []buildRow[B]
	chains map[K]rowChain
	built  bool
	at     int
}

// buildRow is a record of the build side; next is the index of the following
// one with its key, 0 for none (row 0 follows none).
type buildRow[B any] struct {
	rec  B
	next int32
}

type rowChain struct{ first, last int32 }

func (k *lookupKernel[K, I, B, O]) Connect(port int, to Receiver) {
	if port == 0 {
		k.out.init(k.inst.BatchSize, to)
	}
	k.failures.connect(port, to)
}

// Holds keeps the main side waiting until the build side has ended.
func (k *lookupKernel[K, I, B, O]) Holds(port int) bool { return port == 0 && !k.built }

func (k *lookupKernel[K, I, B, O]) OnInputEnd(port int) error {
	k.built = k.built || port == 1
	return nil
}

func (k *lookupKernel[K, I, B, O]) OnBatch(port int, b Batch) error {
	if port == 1 {
		for i := range b.(*BatchOf[B]).Recs {
			k.build(&b.(*BatchOf[B]).Recs[i])
		}
		return nil
	}
	in := b.(*BatchOf[I])
	if k.waits() {
		return ErrPending
	}
	timed := in.timed()
	for ; k.at < len(in.Recs); k.at++ {
		rec := &in.Recs[k.at]
		k.out.begin(in.time(k.at), timed)
		if err := k.join(rec); err != nil {
			k.out.takeBack()
			if err = k.handle(err, rec, nil, in.time(k.at), timed); err != nil {
				return k.out.flushThen(err)
			}
			continue
		}
		k.passed()
		k.out.end()
	}
	k.at = 0
	return k.out.flush()
}

func (k *lookupKernel[K, I, B, O]) build(rec *B) {
	i := int32(len(k.rows))
	k.rows = append(k.rows, buildRow[B]{rec: *rec})
	key := k.bkey(rec)
	c, ok := k.chains[key]
	if !ok {
		c.first = i
	} else {
		k.rows[c.last].next = i
	}
	c.last = i
	k.chains[key] = c
}

func (k *lookupKernel[K, I, B, O]) join(rec *I) error {
	c, ok := k.chains[k.key(rec)]
	if !ok {
		if k.kind == LeftOuter {
			return k.f(rec, nil, &k.out)
		}
		return nil
	}
	for i := c.first; ; i = k.rows[i].next {
		if err := k.f(rec, &k.rows[i].rec, &k.out); err != nil {
			return err
		}
		if k.rows[i].next == 0 {
			return nil
		}
	}
}

// StateBytes counts rows and keys as they lie, not what they point to.
func (k *lookupKernel[K, I, B, O]) StateBytes() int64 {
	row, key := reflect.TypeFor[buildRow[B]]().Size(), reflect.TypeFor[K]().Size()
	return int64(cap(k.rows))*int64(row) + int64(len(k.chains))*int64(key+16)
}

func (k *lookupKernel[K, I, B, O]) CloseState() { k.rows, k.chains = nil, nil }
