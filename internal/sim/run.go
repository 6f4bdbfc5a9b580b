package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// run is one run of a shape. The user functions of the job report to it; they
// all run on the goroutine of the simulation.
type run struct {
	shape *Shape
	world *World
	got   map[int][]Rec // by sink
	want  map[int]list

	calls  map[int]int // of user code, by operator
	fired  bool        // the bomb went off
	tries  map[attempt]int
	chains map[foldKey]int64
	values map[int]map[uint64]int64 // by reduce: the value of each of its input records

	opened                    map[[2]int]int // splits
	readers, writers, flushed int            // now open, open, and flushed in all

	counts   map[string]int
	mistakes []string
}

type attempt struct {
	op  int
	rec uint64
}

type foldKey struct {
	op  int
	key int32
}

// wrong notes something that should not be.
func (r *run) wrong(format string, args ...any) {
	if len(r.mistakes) < 10 {
		r.mistakes = append(r.mistakes, fmt.Sprintf(format, args...))
	}
}

func (r *run) count(what string) { r.counts[what]++ }

// errBomb is the error of a bomb.
var errBomb = errors.New("bomb")

// use is called by all user code: it sets off the bomb.
func (r *run) use(o *op) error {
	if o.bomb.kind == noBomb || o.bomb.kind == bombSkip {
		return nil
	}
	n := r.calls[o.id]
	r.calls[o.id]++
	if n != o.bomb.call {
		return nil
	}
	r.fired = true
	switch o.bomb.kind {
	case bombPanic:
		panic("bomb")
	case bombGoexit:
		runtime.Goexit()
	}
	return errBomb
}

// mustUse is use for user code that can't return an error.
func (r *run) mustUse(o *op) {
	if err := r.use(o); err != nil {
		panic(err)
	}
}

// try is what a function that can fail returns for in.
func (r *run) try(o *op, in *Rec) error {
	if err := r.use(o); err != nil {
		return err
	}
	times := o.refuses(in)
	if times < 0 {
		return errRefused
	}
	if times == 0 {
		return nil
	}
	a := attempt{o.id, in.identity()}
	r.tries[a]++
	if r.tries[a] > times {
		return nil
	}
	r.count("retry")
	return errRefused
}

// checkFold checks a running result of a reduce: the hash over all records of
// the key tells of any that was skipped, repeated or swapped.
func (r *run) checkFold(o *op, key int32, got *Rec) {
	k := foldKey{o.id, key}
	prev, known := r.chains[k]
	value, expected := r.values[o.id][got.identity()]
	if known {
		value = int64(mix(uint64(prev), uint64(value)))
	}
	if !expected || value != got.Val || got.Key != key {
		r.wrong("%s: running result of key %d is %+v, want value %d", o.name(), key, *got, value)
	}
	r.chains[k] = got.Val
}

// TaskChanged implements exec.Observer.
func (r *run) TaskChanged(operator string, task int, state exec.TaskState) {
	r.world.Trace().Note("task", operator, uint64(task)<<8|uint64(state))
}

// JobChanged implements exec.Observer.
func (r *run) JobChanged(_, outcome string) { r.world.Trace().Note("job", outcome, 0) }

// Result is what a run has shown.
type Result struct {
	Outcome exec.Outcome
	Hash    uint64
	Steps   int
	Counts  map[string]int // how often what happened
}

// Run runs a shape with rings of the given capacity. The schedule comes from
// the shape's seed and the capacity. The error says all that is wrong.
func Run(s *Shape, ringCapacity int) (Result, error) {
	r := &run{
		shape: s, world: NewWorld(mix(s.Seed, uint64(ringCapacity)), ringCapacity),
		got: map[int][]Rec{}, calls: map[int]int{}, tries: map[attempt]int{}, chains: map[foldKey]int64{},
		opened: map[[2]int]int{}, counts: map[string]int{},
	}
	r.interpret()
	job, err := exec.StartIn(context.Background(), r.world.Env(), r.build(), exec.Options{
		Workers: s.workers, BatchSize: s.batch, Pin: exec.PinOff, Observer: r,
	})
	if err != nil {
		return Result{}, fmt.Errorf("start: %w\n%s", err, s)
	}
	if s.cancelAt >= 0 {
		r.world.At(s.cancelAt, func() {
			r.world.Trace().Note("cancel", "", 0)
			job.Cancel()
		})
	}
	if err := r.world.Drive(); err != nil {
		dump := describe(job.Status())
		job.Cancel() // so that nothing is left
		r.world.Drive()
		return r.result(exec.Failed), r.report(fmt.Errorf("%w\n%s", err, dump))
	}
	res, err := job.Wait()
	r.checkOutcome(res, err)
	r.checkOutput(res.Outcome == exec.Finished)
	r.coverage(res.Outcome)
	return r.result(res.Outcome), r.report(nil)
}

func (r *run) result(outcome exec.Outcome) Result {
	return Result{Outcome: outcome, Hash: r.world.Trace().Hash(), Steps: r.world.Steps(), Counts: r.counts}
}

// interpret finds what each sink is to get.
func (r *run) interpret() {
	r.want, r.values = map[int]list{}, map[int]map[uint64]int64{}
	g := &generator{shape: &Shape{workers: r.shape.workers}, read: map[input]bool{}}
	for _, o := range r.shape.ops {
		g.add(o)
		switch o.kind {
		case kSink:
			r.want[o.id] = g.outs[o.id][0]
		case kReduce:
			values := map[uint64]int64{}
			for _, rec := range g.list(o.ins[0]).recs {
				values[rec.identity()] = rec.Val
			}
			r.values[o.id] = values
		}
	}
	r.coverEdges(g)
}

// report makes one error of all that is wrong, with what is needed to see it
// again; nil when all is well.
func (r *run) report(err error) error {
	if err == nil && len(r.mistakes) == 0 {
		return nil
	}
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "%v\n", err)
	}
	for _, m := range r.mistakes {
		fmt.Fprintf(&b, "%s\n", m)
	}
	w := r.world
	fmt.Fprintf(&b, "ring capacity %d, policy %s, a stepper a task %v, %d steps, trace %016x\n%s%s",
		w.Env().RingCapacity, w.Policy(), w.Env().PerTask, w.Steps(), w.Trace().Hash(), r.shape, w.Trace().Tail())
	return errors.New(b.String())
}

// describe shows the tasks that have not closed: what each waits for can be
// read from its state and the fill of its rings.
func describe(s exec.Status) string {
	var b strings.Builder
	for _, t := range s.Tasks {
		if t.State == exec.Closed {
			continue
		}
		wm := t.Watermark.String()
		if t.Watermark == flow.MinTime {
			wm = "none"
		}
		fmt.Fprintf(&b, "  %s/%d: %v, in %d, out %d, fullest input ring %.0f %%, watermark %s\n", t.Operators, t.Index, t.State, t.In, t.Out, 100*t.QueueFill, wm)
	}
	return b.String()
}
