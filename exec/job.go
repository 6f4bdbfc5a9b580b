package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/cores"
	"github.com/tailrace-io/tailrace/internal/env"
	"github.com/tailrace-io/tailrace/internal/table"
)

// Outcome is how a job ended.
type Outcome uint8

const (
	Failed   Outcome = iota // by an error
	Finished                // all sources came to their end and everything was written
	Canceled                // by Cancel or its context
)

func (o Outcome) String() string {
	return [...]string{"failed", "finished", "canceled"}[o]
}

// Result is what became of a job.
type Result struct {
	Outcome   Outcome
	Operators []OperatorResult // in the order of the graph
	Duration  time.Duration
}

// Job is a running job. Its methods are safe for concurrent use.
type Job struct {
	graph *flow.Graph
	plan  *plan
	opts  Options
	env   *env.Env
	ctx   context.Context
	stop  context.CancelCauseFunc

	tasks   []*task
	threads []*thread
	shared  map[*flow.Node]*flow.OperatorStats
	pools   map[*flow.Node]*splitPool
	grant   *cores.Grant
	pool    *table.Pool // the memory of all tables
	stocker *thread     // keeps the pool's reserve; nil without keyed state

	started  atomic.Bool
	stopping atomic.Bool // canceled or failed: every task closes at its next step
	live     atomic.Int64
	done     chan struct{}
	begun    time.Time
	ended    atomic.Int64 // ns since begun
	state    atomic.Int64 // bytes of state

	mu       sync.Mutex
	failures []error
	canceled error
	unwatch  func() bool
}

// Run runs g and blocks until it has ended. It returns an error for the
// outcomes Failed and Canceled; for the latter errors.Is(err,
// context.Canceled) holds.
func Run(ctx context.Context, g *flow.Graph, o Options) (Result, error) {
	j, err := Start(ctx, g, o)
	if err != nil {
		return Result{}, err
	}
	return j.Wait()
}

// Start starts g. It returns an error, and has started nothing, when the graph
// has mistakes, an option is impossible, or a source or sink says that it
// can't work.
func Start(ctx context.Context, g *flow.Graph, o Options) (*Job, error) {
	return StartIn(ctx, env.Real(), g, o)
}

// StartIn is Start in a given environment. It is for the engine's own tests.
func StartIn(ctx context.Context, e *env.Env, g *flow.Graph, o Options) (*Job, error) {
	o, err := o.settle()
	if err != nil {
		return nil, err
	}
	if err := g.Validate(); err != nil {
		return nil, err
	}
	p, err := newPlan(g, o.Workers)
	if err != nil {
		return nil, err
	}
	j := &Job{graph: g, plan: p, opts: o, env: e, done: make(chan struct{}), shared: map[*flow.Node]*flow.OperatorStats{}}
	j.ctx, j.stop = context.WithCancelCause(env.WithFS(context.WithoutCancel(ctx), e.FS))
	if err := j.prepare(ctx); err != nil {
		j.stop(err)
		j.discard()
		return nil, err
	}
	j.launch(ctx)
	return j, nil
}

// prepare does all that can fail before a task runs.
func (j *Job) prepare(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("start job %q: %w", j.graph.Name(), err)
	}
	ctx = env.WithFS(ctx, j.env.FS)
	if err := j.check(ctx); err != nil {
		return err
	}
	j.pools = map[*flow.Node]*splitPool{}
	j.addPool()
	for _, n := range j.graph.Nodes() {
		j.shared[n] = &flow.OperatorStats{}
		if n.Source == nil {
			continue
		}
		splits, err := listSplits(ctx, n)
		if err != nil {
			return err
		}
		j.pools[n] = newSplitPool(splits)
	}
	return j.build(j.pools)
}

// discard lets go of what a job that does not start has made.
func (j *Job) discard() {
	defer func() {
		if j.pool != nil {
			j.pool.Drain()
		}
	}()
	for _, t := range j.tasks {
		for _, o := range t.ops {
			if o.stateful != nil {
				o.stateful.CloseState()
			}
		}
	}
}

// check asks sources and then sinks whether they can work: a sink's check may
// make a directory, which must not happen for a job whose input is missing.
func (j *Job) check(ctx context.Context) error {
	var errs []error
	for _, sinks := range []bool{false, true} {
		for _, n := range j.graph.Nodes() {
			if n.Check == nil || n.Sink != sinks {
				continue
			}
			if err := guarded(n, func() error { return n.Check(ctx) }); err != nil {
				errs = append(errs, fmt.Errorf("%s %q: %w", n.Kind, n.Name, err))
			}
		}
		if len(errs) > 0 {
			break
		}
	}
	return errors.Join(errs...)
}

// launch starts all threads.
func (j *Job) launch(ctx context.Context) {
	workers, others, readers := 0, 0, 0
	for _, th := range j.threads {
		if th.worker {
			workers++
		} else {
			others++
		}
		if _, ok := th.steppers[0].(*pump); ok {
			readers++
		}
	}
	for _, n := range j.graph.Nodes() {
		if n.Source != nil && !n.Source.Bounded {
			j.threads = append(j.threads, newLister(j, n))
		}
	}
	j.grant = cores.Acquire(workers, others, cores.Pin(j.opts.Pin))
	j.begun = j.env.Clock.Now()
	j.live.Store(int64(len(j.threads)))
	j.opts.Logger.Info("job started", "job", j.graph.Name(), "workers", workers, "tasks", len(j.tasks))
	if j.opts.Observer != nil {
		j.opts.Observer.JobChanged(j.graph.Name(), "running")
	}
	next := 0
	for _, th := range j.threads {
		spec := env.Spec{Name: th.name, Labels: th.labels, Ctx: j.ctx, Exit: th.exit}
		if th.worker {
			spec.Worker, spec.Lease = true, j.grant.Worker(next)
			if workers+readers > cores.Usable() {
				spec.Lease = patientLease{spec.Lease}
			}
			next++
		}
		w := j.env.Runner.Run(spec, th)
		th.waker.Store(&w)
	}
	j.started.Store(true)
	j.wakeAll()
	j.unwatch = context.AfterFunc(ctx, func() { j.cancel(context.Cause(ctx)) })
}

// patientLease keeps a worker from spinning: readers need the cores, and what
// it would spin for comes from them.
type patientLease struct{ env.Lease }

func (patientLease) Spin() bool { return false }

// startPump starts the reader of a split found while the job runs. The step of a
// live thread calls it, so the job has not ended.
func (j *Job) startPump(p *pump) {
	j.live.Add(1)
	w := j.env.Runner.Run(env.Spec{Name: p.thread.name, Ctx: j.ctx, Exit: p.thread.exit}, p.thread)
	p.thread.waker.Store(&w)
	p.thread.wake()
}

func (j *Job) wakeAll() {
	for _, th := range j.allThreads() {
		th.wake()
	}
}

// allThreads returns the threads of the plan and those of splits found since.
func (j *Job) allThreads() []*thread {
	all := j.threads[:len(j.threads):len(j.threads)]
	for _, t := range j.tasks {
		if t.source != nil && !t.source.node.Source.Bounded {
			for _, p := range t.source.started() {
				all = append(all, p.thread)
			}
		}
	}
	return all
}

// threadEnded counts down; the last thread ends the job. A thread whose
// goroutine user code has ended with Goexit goes on in another one.
func (j *Job) threadEnded(lost bool) {
	if lost {
		return
	}
	switch left := j.live.Add(-1); {
	case left == 1 && j.stocker != nil:
		j.stocker.wake() // it ends last
		return
	case left > 0:
		return
	}
	j.ended.Store(int64(j.env.Clock.Now().Sub(j.begun)))
	j.grant.Release()
	outcome := j.outcome()
	j.opts.Logger.Info("job ended", "job", j.graph.Name(), "outcome", outcome.String())
	if j.opts.Observer != nil {
		j.opts.Observer.JobChanged(j.graph.Name(), outcome.String())
	}
	j.stop(nil)
	close(j.done)
}

// fail fails the job. The first failure stops it, later ones are told beside
// it unless they only follow from stopping; what fails once the job is being canceled follows from that.
func (j *Job) fail(err error) {
	isCancel := isCanceled(err)
	j.mu.Lock()
	follows := j.canceled != nil && len(j.failures) == 0
	if !follows && (len(j.failures) == 0 || !isCancel) {
		j.failures = append(j.failures, err)
	}
	j.mu.Unlock()
	j.opts.Logger.Error("task failed", "job", j.graph.Name(), "error", err)
	j.halt(err)
}

// isCanceled says whether err comes from a canceled context. Errors are user
// code, and may panic when they are compared.
func isCanceled(err error) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return errors.Is(err, context.Canceled)
}

// Cancel ends the job at once: nothing more is emitted or written. It does not
// wait; Wait does.
func (j *Job) Cancel() { j.cancel(context.Canceled) }

func (j *Job) cancel(cause error) {
	j.mu.Lock()
	if j.canceled == nil {
		j.canceled = cause
	}
	j.mu.Unlock()
	j.halt(cause)
}

func (j *Job) halt(cause error) {
	j.stopping.Store(true)
	j.stop(cause)
	j.wakeAll()
}

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait blocks until the job has ended and says what became of it. User code
// that does not return can't be stopped: if some still runs a while after the job was
// canceled or failed, Wait returns an error that names it.
func (j *Job) Wait() (Result, error) {
	select {
	case <-j.done:
	case <-j.ctx.Done():
		if err := j.waitForUserCode(); err != nil {
			j.unwatch()
			return j.result(), errors.Join(j.err(), err)
		}
	}
	j.unwatch()
	return j.result(), j.err()
}

// patience is how long Wait waits for user code to return once the job has
// been told to end.
const patience = 10 * time.Second

func (j *Job) waitForUserCode() error {
	select {
	case <-j.done:
		return nil
	case <-j.env.Clock.After(patience):
	}
	e := &stuckError{}
	for _, th := range j.allThreads() {
		if !th.ended.Load() {
			e.code = append(e.code, th.steppers[th.at.Load()].what())
		}
	}
	return e
}

// stuckError says whose user code still runs, though its job was told to end.
type stuckError struct{ code []string }

func (e *stuckError) Error() string {
	return fmt.Sprintf("not stopped cleanly: user code of %s has not returned for %v", strings.Join(e.code, ", "), patience)
}

func (j *Job) outcome() Outcome {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case len(j.failures) > 0:
		return Failed
	case j.canceled != nil && (j.stoppedShort() || j.live.Load() > 0):
		return Canceled
	}
	return Finished
}

// stoppedShort says whether a task gave up. A job canceled after its last task
// had closed is finished.
func (j *Job) stoppedShort() bool {
	for _, t := range j.tasks {
		if t.short.Load() {
			return true
		}
	}
	return false
}

// err is the error of the outcome: nil for Finished.
func (j *Job) err() error {
	outcome := j.outcome()
	j.mu.Lock()
	defer j.mu.Unlock()
	switch outcome {
	case Failed:
		return fmt.Errorf("job %q failed: %w", j.graph.Name(), errors.Join(j.failures...))
	case Canceled:
		if !errors.Is(j.canceled, context.Canceled) {
			return fmt.Errorf("job %q was canceled: %w (%w)", j.graph.Name(), context.Canceled, j.canceled)
		}
		return fmt.Errorf("job %q was canceled: %w", j.graph.Name(), j.canceled)
	}
	return nil
}
