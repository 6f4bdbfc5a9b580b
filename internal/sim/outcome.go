package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// checkOutcome compares how the job ended with what was done to it.
func (r *run) checkOutcome(res exec.Result, err error) {
	want := exec.Finished
	var culprit *op
	for _, o := range r.shape.ops {
		if o.bomb.kind != noBomb && (r.fired || o.bomb.kind == bombSkip) {
			culprit, want = o, exec.Failed
		}
	}
	if r.shape.cancelAt >= 0 && res.Outcome == exec.Canceled {
		want = exec.Canceled // or finished before
	}
	if res.Outcome != want {
		r.wrong("the job ended as %v with %v, want %v", res.Outcome, err, want)
		return
	}
	switch want {
	case exec.Finished:
		if err != nil {
			r.wrong("finished, with the error %v", err)
		}
	case exec.Canceled:
		if !errors.Is(err, context.Canceled) {
			r.wrong("canceled, with the error %v", err)
		}
	case exec.Failed:
		r.checkBlame(culprit, err)
	}
	r.checkClosed(want)
}

// checkBlame wants the error to name the operator whose bomb went off.
func (r *run) checkBlame(o *op, err error) {
	var failed *exec.TaskError
	if !errors.As(err, &failed) {
		r.wrong("%s in %q: no TaskError: %v", o.bomb.kind, o.name(), err)
		return
	}
	if failed.Operator != o.name() {
		r.wrong("%s in %q is blamed on %q", o.bomb.kind, o.name(), failed.Operator)
	}
	var panicked *exec.PanicError
	wantPanic := o.bomb.kind == bombPanic || o.bomb.kind == bombGoexit
	if errors.As(err, &panicked) != wantPanic {
		r.wrong("%s in %q: the error is %v", o.bomb.kind, o.name(), err)
	}
	if o.bomb.kind == bombError && o.kind != kRoute && !errors.Is(err, errBomb) {
		r.wrong("error of %q: is not what was returned: %v", o.name(), err)
	}
	if text := err.Error(); strings.Contains(text, "not stopped cleanly") {
		r.wrong("failed, and %v", text)
	}
}

// checkClosed wants everything given back.
func (r *run) checkClosed(outcome exec.Outcome) {
	if r.readers != 0 || r.writers != 0 {
		r.wrong("%v, and %d readers and %d writers are open", outcome, r.readers, r.writers)
	}
	if files := r.world.FS().Files(); len(files) > 0 {
		r.wrong("%v, and files are left: %v", outcome, files)
	}
	if outcome != exec.Finished {
		return
	}
	tasks := 0
	for _, l := range r.want {
		tasks += l.par
	}
	if r.flushed != tasks {
		r.wrong("finished, and %d of %d sink tasks were flushed", r.flushed, tasks)
	}
	for _, o := range r.shape.ops {
		for i := range o.source.splits {
			if n := r.opened[[2]int{o.id, i}]; n != 1 {
				r.wrong("finished, and split %d of %s was opened %d times", i, o.name(), n)
			}
		}
	}
}

// checkOutput compares each sink with the oracle.
func (r *run) checkOutput(complete bool) {
	for _, o := range r.shape.ops {
		if o.kind != kSink {
			continue
		}
		if err := compare(r.want[o.id], r.got[o.id], complete); err != nil {
			r.wrong("%s: %v", o.name(), err)
		}
	}
}

// coverEdges counts what the shape has, weighed with its records.
func (r *run) coverEdges(g *generator) {
	readers := map[input]int{}
	for _, o := range r.shape.ops {
		par := g.outs[o.id][0].par
		for _, in := range o.ins {
			from := g.outs[in.from][in.port]
			readers[input{from: in.from, port: in.port}]++
			if len(from.recs) == 0 {
				continue
			}
			if in.part == flow.ByKey && par > 1 {
				r.count("keyed exchange")
			}
			if in.part == flow.RoundRobin && par > 1 || in.part == flow.Forward && par != from.par {
				r.count("rebalance")
			}
			if in.part == flow.ToAll && par > 1 {
				r.count("broadcast")
			}
		}
		r.counts[o.kind.String()]++
		if o.kind == kSource {
			if len(g.outs[o.id][0].recs) == 0 {
				r.count("empty source")
			}
			if len(o.source.splits) == 0 {
				r.count("source without splits")
			}
		}
	}
	for _, n := range readers {
		if n > 1 {
			r.count("stream read twice")
		}
	}
	for _, o := range r.shape.ops {
		if o.kind == kUnion && r.isDiamond(o) {
			r.count("diamond")
		}
	}
}

// isDiamond says whether two inputs of o come from the same operator.
func (r *run) isDiamond(o *op) bool {
	seen := map[int]int{}
	for i, in := range o.ins {
		for up := range r.above(in.from) {
			if before, ok := seen[up]; ok && before != i {
				return true
			}
			seen[up] = i
		}
	}
	return false
}

// above is an operator and all that feed it.
func (r *run) above(id int) map[int]bool {
	all := map[int]bool{id: true}
	for i := id; i >= 0; i-- {
		if all[i] {
			for _, in := range r.shape.ops[i].ins {
				all[in.from] = true
			}
		}
	}
	return all
}

// coverage counts what happened in the run.
func (r *run) coverage(outcome exec.Outcome) {
	for _, what := range keysOf(r.world.Events()) {
		r.counts[what] += r.world.Events()[what]
	}
	if full := r.world.Events()["ring full"]; full > 0 {
		r.counts[fmt.Sprintf("ring of %d full", r.world.Env().RingCapacity)] += full
	}
	r.count("outcome " + outcome.String())
	r.count("policy " + r.world.Policy())
	if !r.world.Env().PerTask {
		r.count("tasks share workers")
	}
	for _, o := range r.shape.ops {
		if r.fired && o.bomb.kind != noBomb || o.bomb.kind == bombSkip && outcome == exec.Failed {
			r.count(fmt.Sprintf("injected %s", o.bomb.kind))
		}
	}
	r.counts["goroutine lost"] += r.world.Goexits()
}
