package sim

import "github.com/tailrace-io/tailrace/flow"

// How the generator draws the operators between sources and sinks.

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
	if (o.kind == kTryMap || o.kind == kFlatMap || o.kind == kAsync || o.kind == kHolds) && g.chance(70) {
		g.makeFail(o)
	}
	g.add(o)
}

// makeFail lets o refuse some records. Only where no record comes twice can
// one be told from another that is tried again.
func (g *generator) makeFail(o *op) {
	o.fails = failing{one: 2 + g.r.Uint64N(9), letters: g.chance(60), limit: -1}
	if !g.chance(50) || o.ins[0].part == flow.ByKey || o.kind == kHolds {
		return // Retry is not for operators with state
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
	o.merge, o.await = k == kTotal && g.chance(60), g.chance(50)
	if g.chance(40) {
		o.maxPar = []int{4, 8, 256}[g.r.IntN(3)]
	}
	if (k == kBuckets || k == kDelays) && g.chance(40) {
		g.makeFail(o)
	}
	g.add(o)
}

// takeTimed puts a stream with event times where take finds it next, if there
// is one.
func (g *generator) takeTimed() bool {
	var timed []input
	for _, in := range g.open {
		if g.list(in).timed {
			timed = append(timed, in)
		}
	}
	if len(timed) > 0 {
		g.next = &timed[g.r.IntN(len(timed))]
	}
	return len(timed) > 0
}

// addTwo adds an operator with two inputs that may be read in any order.
func (g *generator) addTwo(k kind) {
	o, left, right := g.newOp(k), g.take(), g.take()
	if len(g.list(left).recs)*len(g.list(right).recs) > 20*maxInStream {
		g.open = append(g.open, left, right)
		return
	}
	left.part = flow.ByKey
	if k == kPairs {
		right.part = flow.ByKey
	} else if g.chance(40) {
		o.fails = failing{one: 2 + g.r.Uint64N(9), letters: g.chance(60), limit: -1}
	}
	o.ins = []input{left, right}
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
