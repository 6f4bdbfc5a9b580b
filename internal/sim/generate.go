package sim

import (
	"fmt"
	"math/rand/v2"

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
	case kTotal, kReduce:
		g.addKeyed(k)
	case kLookup:
		g.addLookup()
	default:
		g.addUnary(k)
	}
}

func (g *generator) addUnary(k kind) {
	o, in := g.newOp(k), g.take()
	if n := len(g.list(in).recs); n > maxInStream && (k == kFlatMap || k == kFlatMapBatch) {
		o.kind = kFilter
	}
	in.part = g.partition(o, in)
	o.ins = []input{in}
	switch o.kind {
	case kMapInto, kMap:
		if g.chance(30) {
			o.keys = 1 + g.r.IntN(8)
		}
	case kRoute:
		o.outs = 1 + g.r.IntN(3)
	case kAsync:
		o.calls, o.unordered = 1+g.r.IntN(4), g.chance(40)
	case kFlatMap:
		o.setTime = g.chance(25)
	}
	if (o.kind == kTryMap || o.kind == kFlatMap || o.kind == kAsync) && g.chance(70) {
		g.makeFail(o)
	}
	g.add(o)
}

// makeFail lets o refuse some records. Only where no record comes twice can
// one be told from another that is tried again.
func (g *generator) makeFail(o *op) {
	o.fails = failing{one: 2 + g.r.Uint64N(9), letters: g.chance(60), limit: -1}
	if !g.chance(50) {
		return
	}
	seen := map[uint64]bool{}
	for _, r := range arrive(g.list(o.ins[0]), o.ins[0].part, parallelism(o, g.streams(o), g.shape.workers)).recs {
		if seen[r.identity()] {
			return
		}
		seen[r.identity()] = true
	}
	o.fails.retries = 1 + g.r.IntN(3)
}

func (g *generator) addUnion() {
	o := g.newOp(kUnion)
	o.par, o.noChain, o.offWorker = 0, false, false // it takes no options
	records := 0
	for range 1 + g.r.IntN(4) {
		in := g.take()
		if records += len(g.list(in).recs); records > maxInStream && len(o.ins) > 0 {
			break
		}
		o.ins = append(o.ins, in)
	}
	g.add(o)
}

func (g *generator) addKeyed(k kind) {
	o, in := g.newOp(k), g.take()
	in.part = flow.ByKey
	o.ins = []input{in}
	o.merge = k == kTotal && g.chance(60)
	if g.chance(40) {
		o.maxPar = []int{4, 8, 256}[g.r.IntN(3)]
	}
	g.add(o)
}

func (g *generator) addLookup() {
	o, in := g.newOp(kLookup), g.take()
	var fit []input
	for id, outs := range g.outs {
		for port := range outs {
			build := input{from: id, port: port}
			if o := g.shape.ops[id]; o.kind == kSink || port > 0 && o.kind != kRoute {
				continue
			}
			if n := len(g.list(build).recs); n <= 100 && g.mayWait(g.list(in).sources, g.list(build).sources) {
				fit = append(fit, build)
			}
		}
	}
	if len(fit) == 0 {
		g.open = append(g.open, in)
		return
	}
	build := fit[g.r.IntN(len(fit))]
	g.holdUp(g.list(in).sources, g.list(build).sources)
	in.part = g.partition(o, in)
	o.ins = []input{in, build}
	o.join = flow.JoinKind(g.r.IntN(2))
	o.keys = 0
	g.add(o)
}

// mayWait says whether main can be held until build has ended without any
// source waiting for itself.
func (g *generator) mayWait(main, build uint64) bool {
	for from := range len(g.shape.ops) {
		if build&(1<<from) != 0 && (main&(1<<from) != 0 || g.reaches(from, main)) {
			return false
		}
	}
	return true
}

// reaches says whether source from waits, directly or not, for one of main.
func (g *generator) reaches(from int, main uint64) bool {
	for _, to := range g.waits[from] {
		if main&(1<<to) != 0 || g.reaches(to, main) {
			return true
		}
	}
	return false
}

func (g *generator) holdUp(main, build uint64) {
	for m := range len(g.shape.ops) {
		for b := range len(g.shape.ops) {
			if main&(1<<m) != 0 && build&(1<<b) != 0 {
				g.waits[m] = append(g.waits[m], b)
			}
		}
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
	case n < 18:
		g.addBomb()
	case n < 26:
		g.shape.cancelAt = g.r.IntN(1 + g.r.IntN(4000))
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
	o.bomb = bomb{kind: bombPanic + bombKind(g.r.IntN(3)), call: g.r.IntN(1 + g.r.IntN(200))}
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
