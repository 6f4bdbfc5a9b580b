package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tailrace-io/tailrace/flow"
)

// Bounds of what is generated: large enough to fill rings of eight batches,
// small enough for a run to take milliseconds.
const (
	maxSources  = 3
	maxOps      = 12
	maxInSplit  = 60
	maxInStream = 1500
)

// generator draws a Shape. It runs the oracle as it goes, so that it knows
// what a stream holds.
type generator struct {
	r     *rand.Rand
	shape *Shape
	outs  [][]list // of each operator, by port
	open  []input  // streams that nobody reads yet, or that may be read again
	next  *input   // to be taken next
	read  map[input]bool
	dead  []input       // dead letters that nobody reads yet
	waits map[int][]int // sources whose records are held until other sources have ended
}

// Generate draws the shape of a seed.
func Generate(seed uint64) *Shape {
	r := rand.New(rand.NewPCG(seed, 0x5ade))
	g := &generator{
		r: r, shape: &Shape{Seed: seed, workers: 1 + r.IntN(4), batch: 1 + r.IntN(8), cancelAt: -1},
		read: map[input]bool{}, waits: map[int][]int{},
	}
	for range 1 + r.IntN(maxSources) {
		g.addSource()
	}
	for range 1 + r.IntN(maxOps) {
		g.addOp()
		if len(g.dead) > 0 && r.IntN(2) == 0 {
			g.addLetters()
		}
	}
	g.addLetters()
	g.addSinks()
	g.addTrouble()
	return g.shape
}

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

// add evaluates o and enters its streams.
func (g *generator) add(o *op) {
	g.shape.ops = append(g.shape.ops, o)
	g.outs = append(g.outs, eval(o, g.streams(o), g.shape.workers))
	for _, in := range o.ins {
		g.read[input{from: in.from, port: in.port}] = true
	}
	if o.kind == kSink {
		return
	}
	ports := 1
	if o.kind == kRoute {
		ports = o.outs
	}
	for port := range ports {
		g.open = append(g.open, input{from: o.id, port: port})
	}
	if o.fails.letters {
		g.dead = append(g.dead, input{from: o.id, port: 1})
	}
}

// streams are the lists that o's inputs read.
func (g *generator) streams(o *op) (lists []list) {
	for _, in := range o.ins {
		l := g.outs[in.from][in.port]
		if o.kind == kLetters {
			l = o.letters(g.shape.ops[in.from], l)
		}
		lists = append(lists, l)
	}
	return lists
}

func (g *generator) list(in input) list { return g.outs[in.from][in.port] }

// newOp makes an operator with what any operator can have.
func (g *generator) newOp(k kind) *op {
	o := &op{id: len(g.shape.ops), kind: k, salt: g.r.Uint64()}
	if g.chance(70) {
		o.par = 1 + g.r.IntN(4)
	}
	o.noChain, o.offWorker = g.chance(15), g.chance(8)
	return o
}

func (g *generator) addSource() {
	o := g.newOp(kSource)
	s := &o.source
	s.immediate, s.style = g.chance(50), readStyle(g.r.IntN(int(readStyles)))
	s.timed = g.chance(60)
	if s.timed && g.chance(50) {
		s.disorder = 1 + g.r.Int64N(500)
	}
	keys := 1 + g.r.IntN(12)
	seq := int32(0)
	for split := range g.r.IntN(6) {
		n := 0
		if !g.chance(15) {
			n = g.r.IntN(1 + g.r.IntN(maxInSplit))
		}
		recs := make([]Rec, n)
		at := g.r.Int64N(1000)
		for i := range recs {
			at += g.r.Int64N(200)
			key := int32(g.r.IntN(keys))
			recs[i] = Rec{
				Src: int32(o.id), Split: int32(split), Seq: seq, Key: key, Orig: key,
				At: at, Val: g.r.Int64(), Tag: fmt.Sprintf("%d/%d/%d", o.id, split, seq),
			}
			if s.disorder > 0 {
				recs[i].At -= g.r.Int64N(s.disorder)
			}
			seq++
		}
		s.splits = append(s.splits, recs)
	}
	if g.chance(25) {
		s.bad = 2 + g.r.Uint64N(8)
		o.fails.letters, o.fails.limit = g.chance(50), -1
		o.fails.one = s.bad
	}
	g.add(o)
}

// take draws a stream to read: mostly one that nobody reads yet.
func (g *generator) take() input {
	i := g.r.IntN(len(g.open))
	if g.next != nil {
		i, g.next = slices.Index(g.open, *g.next), nil
	}
	in := g.open[i]
	if g.chance(75) {
		g.open = append(g.open[:i], g.open[i+1:]...)
	}
	if len(g.open) == 0 {
		g.open = append(g.open, in)
	}
	return in
}

// partition draws how an edge into o distributes records.
func (g *generator) partition(o *op, in input) flow.Partition {
	switch {
	case g.chance(15):
		return flow.RoundRobin
	case g.chance(15) && len(g.list(in).recs) < maxInStream/5:
		if o.par == 0 {
			o.par = 1 + g.r.IntN(4)
		}
		return flow.ToAll
	}
	return flow.Forward
}

func (g *generator) addOp() {
	weights := []struct {
		kind   kind
		weight int
	}{
		{kMapInto, 10}, {kMap, 4}, {kTryMap, 12}, {kFilter, 6}, {kFlatMap, 12}, {kMapBatch, 4}, {kFlatMapBatch, 5},
		{kAsync, 8}, {kUnion, 14}, {kRoute, 9}, {kTotal, 12}, {kReduce, 10}, {kLookup, 12},
		{kBuckets, 25}, {kDelays, 8}, {kHolds, 6}, {kPairs, 8}, {kRules, 8},
	}
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	n := g.r.IntN(total)
	for _, w := range weights {
		if n -= w.weight; n < 0 {
			g.addKind(w.kind)
			return
		}
	}
}

func (g *generator) addKind(k kind) {
	switch k {
	case kUnion:
		g.addUnion()
	case kTotal, kReduce, kDelays:
		g.addKeyed(k)
	case kBuckets:
		if g.takeTimed() {
			g.addKeyed(k)
		}
	case kPairs, kRules:
		g.addTwo(k)
	case kLookup:
		g.addLookup()
	default:
		g.addUnary(k)
	}
}

// addLetters reads all dead letters that nobody reads yet.
func (g *generator) addLetters() {
	if len(g.dead) == 0 {
		return
	}
	o := g.newOp(kLetters)
	o.par, o.noChain, o.offWorker = 0, false, false
	o.ins, g.dead = g.dead, nil
	g.add(o)
}

// addSinks ends every stream that nobody reads, and some others.
func (g *generator) addSinks() {
	for id, outs := range g.outs {
		from := g.shape.ops[id]
		for port := range outs {
			in := input{from: id, port: port}
			if port > 0 && from.kind != kRoute || g.read[in] && !g.chance(10) {
				continue
			}
			o := g.newOp(kSink)
			o.immediate = g.chance(40)
			in.part = g.partition(o, in)
			o.ins = []input{in}
			g.add(o)
		}
	}
}

// addTrouble draws what goes wrong in the run, if anything does.
func (g *generator) addTrouble() {
	switch n := g.r.IntN(100); {
	case n < 25:
		g.addBomb()
	case n < 35:
		g.shape.cancelAt = g.r.IntN(1 + g.r.IntN(1500))
	}
}

func (g *generator) addBomb() {
	var fit []*op
	for _, o := range g.shape.ops {
		if o.kind != kUnion && o.kind != kLetters {
			fit = append(fit, o)
		}
	}
	o := fit[g.r.IntN(len(fit))]
	o.bomb = bomb{kind: bombPanic + bombKind(g.r.IntN(3)), call: g.r.IntN(1 + g.r.IntN(60))}
	if o.fails.one > 0 && !o.fails.letters && o.kind != kSource && g.chance(70) {
		if refused := int64(len(g.outs[o.id][1].recs)); refused > 0 {
			o.bomb = bomb{kind: bombSkip}
			o.fails.limit = refused - 1
		}
	}
	if o.bomb.kind == bombError && (o.fails.one > 0 && o.kind != kSource || !o.canReturnErrors()) {
		o.bomb.kind = bombPanic
	}
}
