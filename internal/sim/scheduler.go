package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"

	"github.com/tailrace-io/tailrace/internal/env"
)

// runner is one Stepper that the engine has started.
type runner struct {
	index    int
	spec     env.Spec
	stepper  env.Stepper
	status   env.Status
	woken    bool
	at       int64 // when it wants to be stepped though idle; 0 for never
	steps    int
	priority int64
}

// Wake implements env.Waker. Everything runs on one goroutine at a time, the
// waker included.
func (r *runner) Wake() { r.woken = true }

// ready says whether a real runner would step it now.
func (r *runner) ready(now int64) bool {
	return r.status != env.Done && (r.woken || r.status == env.Progress || r.at != 0 && r.at <= now)
}

// scheduler implements env.Runner: it steps everything on one goroutine, in an
// order that comes from the seed.
type scheduler struct {
	clock   *clock
	trace   *Trace
	r       *rand.Rand
	policy  policy
	jitter  int64 // most ns that pass between two steps
	astray  int   // chance of a step that nobody asked for, in 1000
	limit   int   // steps, of which no run needs as many
	runners []*runner
	scratch []*runner

	steps   int
	goexits int
	plans   []plannedCall
	current *runner
	failure error
}

// plannedCall is made between two steps.
type plannedCall struct {
	step int
	call func()
}

// Run implements env.Runner. The Stepper is stepped by drive.
func (s *scheduler) Run(spec env.Spec, stepper env.Stepper) env.Waker {
	r := &runner{index: len(s.runners), spec: spec, stepper: stepper, status: env.Progress}
	s.runners = append(s.runners, r)
	s.trace.Note("start", spec.Name, uint64(r.index))
	return r
}

// ErrLimit says that a run took more steps than any should.
var ErrLimit = errors.New("no end in sight: everybody makes progress, and nothing comes of it")

// StuckError says that nothing can be stepped though the job has not ended.
type StuckError struct {
	// Sleepers are the steppers that made progress when they were stepped all
	// the same: somebody forgot to wake them. Without any it is a deadlock.
	Sleepers []string
	Waiting  []string // the steppers that are not done
}

func (e *StuckError) Error() string {
	if len(e.Sleepers) > 0 {
		return "nobody woke " + strings.Join(e.Sleepers, ", ") + ", which had something to do"
	}
	return "deadlock: nothing can be stepped; waiting are " + strings.Join(e.Waiting, ", ")
}

// CrashError is a panic that came out of a step: a broken invariant, or a bug
// in the engine where it does not expect one of its own.
type CrashError struct {
	Value any
	Stack []byte
}

func (e *CrashError) Error() string { return fmt.Sprintf("a step panicked: %v\n%s", e.Value, e.Stack) }

// drive steps everything until all is done, and returns what went wrong with
// the scheduling itself. One goroutine of the real runner does it, and another
// goes on when user code has ended that one with runtime.Goexit.
func (s *scheduler) drive() error {
	s.failure = nil
	done := make(chan struct{})
	env.Real().Runner.Run(env.Spec{Name: "simulation", Ctx: context.Background(), Exit: func(lost bool) {
		if !lost {
			close(done)
			return
		}
		s.goexits++
		s.trace.Note("goexit", s.current.spec.Name, 0)
		s.current.status = env.Progress
		if exit := s.current.spec.Exit; exit != nil {
			exit(true)
		}
	}}, s)
	<-done
	return s.failure
}

// Step implements env.Stepper for the real runner.
func (s *scheduler) Step() (status env.Status, _ int64) {
	defer func() {
		if v := recover(); v != nil {
			s.failure, status = &CrashError{Value: v, Stack: debug.Stack()}, env.Done
		}
	}()
	more, err := s.next()
	if !more {
		s.failure = err
		return env.Done, 0
	}
	return env.Progress, 0
}

// next makes one step, or moves time when nobody has anything to do.
func (s *scheduler) next() (more bool, err error) {
	if s.steps >= s.limit {
		return false, ErrLimit
	}
	for len(s.plans) > 0 && s.plans[0].step <= s.steps {
		call := s.plans[0].call
		s.plans = s.plans[1:]
		call()
	}
	if s.jitter > 0 {
		s.clock.moveTo(s.clock.Mono() + s.r.Int64N(s.jitter))
	}
	now := s.clock.Mono()
	ready, alive, earliest := s.scratch[:0], 0, int64(0)
	for _, r := range s.runners {
		if r.status == env.Done {
			continue
		}
		alive++
		if r.ready(now) || s.astray > 0 && s.r.IntN(1000) < s.astray {
			ready = append(ready, r)
		} else if r.at != 0 && (earliest == 0 || r.at < earliest) {
			earliest = r.at
		}
	}
	s.scratch = ready
	switch {
	case alive == 0:
		return false, nil
	case len(ready) > 0:
		s.step(s.policy.pick(ready))
	case earliest > 0:
		s.clock.moveTo(earliest)
		s.trace.Note("time", "", uint64(earliest))
	case len(s.plans) > 0:
		s.steps = s.plans[0].step // nothing will happen before it
	default:
		if e := s.stuck(); s.astray == 0 || len(e.Sleepers) == 0 {
			return false, e
		} // else: a real runner looks again after a while, whoever wakes it
	}
	return true, nil
}

// step makes one step of r.
func (s *scheduler) step(r *runner) {
	s.steps++
	r.steps++
	r.woken = false
	s.current = r
	status, at := r.stepper.Step()
	r.status, r.at = status, at
	s.trace.Note("step", r.spec.Name, uint64(r.index)<<8|uint64(status))
	if status == env.Done && r.spec.Exit != nil {
		r.spec.Exit(false)
	}
}

// stuck finds out whether somebody was not woken who could go on.
func (s *scheduler) stuck() *StuckError {
	e := &StuckError{}
	for _, r := range s.runners {
		if r.status == env.Done {
			continue
		}
		e.Waiting = append(e.Waiting, r.spec.Name)
		s.step(r)
		if r.status != env.Idle {
			e.Sleepers = append(e.Sleepers, r.spec.Name)
			return e
		}
	}
	return e
}
