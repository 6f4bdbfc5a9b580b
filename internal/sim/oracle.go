package sim

import (
	"github.com/tailrace-io/tailrace/flow"
)

// The oracle: a sequential interpreter over whole lists. It shares the user
// functions with the job and nothing with the engine.

// promise is what the engine promises about the order of a stream.
type promise uint8

const (
	unordered promise = iota
	perKey            // records of one split and original key, on one way, keep their order
	perSplit          // records of one split, on one way, keep their order
)

// list is a whole stream.
type list struct {
	recs  []Rec // those of one split and way in the order of the split, copies side by side
	order promise
	timed bool
	par   int // tasks of the operator that makes it
	// sources are those it comes from, as bits.
	sources uint64
}

// parallelism is the planner's rule, from its documentation.
func parallelism(o *op, ins []list, workers int) int {
	if o.par > 0 {
		return o.par
	}
	if o.kind == kSource || o.ins[0].part == flow.ByKey {
		return workers
	}
	most := 0
	for i, in := range o.ins {
		if in.part == flow.Forward && !(o.kind == kLookup && i == 1) {
			most = max(most, ins[i].par)
		}
	}
	if most == 0 {
		return workers
	}
	return most
}

// arrive is a stream behind an edge to an operator with par tasks.
func arrive(in list, part flow.Partition, par int) list {
	switch part {
	case flow.ByKey:
		if par > 1 {
			in.order = min(in.order, perKey)
		}
	case flow.ToAll:
		copies := make([]Rec, 0, par*len(in.recs))
		for _, r := range in.recs {
			for range par {
				copies = append(copies, r)
			}
		}
		in.recs = copies
	case flow.RoundRobin:
		if par > 1 {
			in.order = unordered
		}
	default:
		if par > 1 && par != in.par {
			in.order = unordered
		}
	}
	return in
}

// eval returns the streams out of o's output ports, the dead letters last.
func eval(o *op, streams []list, workers int) []list {
	par := parallelism(o, streams, workers)
	ins := make([]list, len(streams))
	sources := uint64(0)
	for i, s := range streams {
		ins[i] = arrive(s, o.ins[i].part, par)
		sources |= s.sources
	}
	var outs []list
	switch o.kind {
	case kSource:
		outs = o.evalSource()
		sources = 1 << o.id
	case kUnion:
		outs = []list{union(ins)}
	case kLetters:
		outs = []list{union(ins)}
		outs[0].timed = false
	case kRoute:
		outs = o.evalRoute(ins[0])
	case kTotal:
		outs = []list{o.evalTotal(ins[0])}
	case kLookup:
		outs = []list{o.evalLookup(ins[0], ins[1])}
	case kBuckets:
		outs = o.evalBuckets(ins[0])
	case kPairs:
		outs = []list{o.evalPairs(ins[0], ins[1])}
	case kRules:
		outs = o.evalRules(ins[0], ins[1], par)
	case kSink:
		outs = []list{ins[0]}
	default:
		outs = o.evalEach(ins[0])
	}
	for i := range outs {
		outs[i].par, outs[i].sources = par, sources
	}
	return outs
}

// evalEach is for operators that look at one record at a time. The second
// stream is what was refused.
func (o *op) evalEach(in list) []list {
	out, dead := in, in
	out.recs, dead.recs = nil, nil
	if o.kind == kAsync && o.unordered {
		out.order, dead.order = unordered, unordered
	}
	if o.kind == kDelays || o.kind == kHolds {
		out.order, out.timed = unordered, false
	}
	for i := range in.recs {
		r := &in.recs[i]
		if o.refuses(r) < 0 {
			dead.recs = append(dead.recs, *r)
			continue
		}
		switch o.kind {
		case kFilter:
			if o.keeps(r) {
				out.recs = append(out.recs, *r)
			}
		case kFlatMap, kFlatMapBatch:
			for n := range o.results(r) {
				out.recs = append(out.recs, o.result(r, n))
			}
		case kReduce:
			out.recs = append(out.recs, o.reduced(r))
		default:
			out.recs = append(out.recs, o.change(r))
		}
	}
	return []list{out, dead}
}

// reduced is a result of a reduce once its running value, which depends on the
// order, has been checked and taken out.
func (o *op) reduced(r *Rec) Rec {
	out := *r
	out.Val = 0
	out.Path = mix(r.Path, o.salt)
	return out
}

func (o *op) evalSource() []list {
	out := list{order: perSplit, timed: o.source.timed}
	dead := out
	dead.timed = false
	for _, split := range o.source.splits {
		for i := range split {
			if o.unreadable(&split[i]) {
				dead.recs = append(dead.recs, split[i])
			} else {
				out.recs = append(out.recs, split[i])
			}
		}
	}
	return []list{out, dead}
}

// union is a stream of several. Where records of one split and way come from
// more than one of them, they have no order.
func union(ins []list) list {
	out := list{order: perSplit, timed: true}
	seen := map[lineage]int{}
	for i, in := range ins {
		out.order = min(out.order, in.order)
		out.timed = out.timed && in.timed
		out.recs = append(out.recs, in.recs...)
		for j := range in.recs {
			way := lineageOf(&in.recs[j], perSplit)
			if first, ok := seen[way]; ok && first != i {
				out.order = unordered
			}
			seen[way] = i
		}
	}
	return out
}

// letters are the dead letters of from as the letters operator hands them on.
func (o *op) letters(from *op, in list) list {
	recs := make([]Rec, 0, len(in.recs))
	for i := range in.recs {
		l := flow.Failed[Rec]{Record: in.recs[i], Operator: from.name()}
		if from.kind == kSource {
			l.Record, l.Raw = Rec{}, raw(&in.recs[i])
		}
		recs = append(recs, o.letter(&l))
	}
	in.recs = recs
	return in
}

func (o *op) evalRoute(in list) []list {
	outs := make([]list, o.outs)
	for i := range outs {
		outs[i] = in
		outs[i].recs = nil
	}
	for i := range in.recs {
		if to := o.goes(&in.recs[i]); to >= 0 {
			outs[to].recs = append(outs[to].recs, in.recs[i])
		}
	}
	return outs
}

func (o *op) evalTotal(in list) list {
	sums := map[int32]*sum{}
	var keys []int32
	for i := range in.recs {
		r := &in.recs[i]
		if sums[r.Key] == nil {
			sums[r.Key] = &sum{}
			keys = append(keys, r.Key)
		}
		sums[r.Key].add(r)
	}
	out := list{}
	for _, key := range keys {
		out.recs = append(out.recs, o.total(key, *sums[key]))
	}
	return out
}

func (o *op) evalLookup(main, build list) list {
	out := main
	out.recs = nil
	rows := map[int32][]Rec{}
	for _, b := range build.recs { // each task sees it once
		rows[b.Key] = append(rows[b.Key], b)
	}
	for i := range main.recs {
		r := &main.recs[i]
		for j := range rows[r.Key] {
			out.recs = append(out.recs, o.pair(r, &rows[r.Key][j]))
		}
		if len(rows[r.Key]) == 0 && o.join == flow.LeftOuter {
			out.recs = append(out.recs, o.pair(r, nil))
		}
	}
	return out
}
