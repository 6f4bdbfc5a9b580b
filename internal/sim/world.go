package sim

import (
	"math/rand/v2"

	"github.com/tailrace-io/tailrace/internal/env"
)

// World is a simulated environment. A job is started in it with exec.StartIn;
// nothing happens until Drive steps it. A World belongs to one goroutine.
type World struct {
	seed   uint64
	clock  *clock
	fs     *MemFS
	sched  *scheduler
	trace  Trace
	events map[string]int
	env    *env.Env
}

// stepLimit is far above what a run of the generated jobs takes.
const stepLimit = 300_000

// NewWorld makes a world whose every choice comes from seed, with rings of the
// given capacity (0: the engine's choice).
func NewWorld(seed uint64, ringCapacity int) *World {
	w := &World{seed: seed, clock: newClock(), fs: NewMemFS(), events: map[string]int{}}
	r := w.stream("schedule")
	s := &scheduler{clock: w.clock, trace: &w.trace, r: r, policy: drawPolicy(r), limit: stepLimit}
	if r.IntN(2) == 0 {
		s.jitter = 1 + r.Int64N(100_000)
	}
	if r.IntN(4) == 0 {
		s.astray = 1 + r.IntN(30)
	}
	w.sched = s
	w.env = &env.Env{
		Clock: w.clock, FS: w.fs, Runner: s, Rand: w.stream,
		PerTask:      r.IntN(4) > 0,
		RingCapacity: ringCapacity,
		Trace: func(what string) {
			w.events[what]++
			w.trace.Note("event", what, 0)
		},
	}
	return w
}

// stream is the random stream of that name.
func (w *World) stream(name string) *rand.Rand {
	h := uint64(fnvOffset)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * fnvPrime
	}
	return rand.New(rand.NewPCG(w.seed, h))
}

// Env is the world as the engine sees it.
func (w *World) Env() *env.Env { return w.env }

// FS is its file system.
func (w *World) FS() *MemFS { return w.fs }

// Trace is what has happened.
func (w *World) Trace() *Trace { return &w.trace }

// Events counts what the engine told Env.Trace.
func (w *World) Events() map[string]int { return w.events }

// Policy names how steppers are picked.
func (w *World) Policy() string { return w.sched.policy.name() }

// Steps is the number of steps made.
func (w *World) Steps() int { return w.sched.steps }

// Goexits is the number of goroutines that user code has ended.
func (w *World) Goexits() int { return w.sched.goexits }

// At has f called between two steps, when the given number has been made.
// Calls must be planned in the order of their steps.
func (w *World) At(step int, f func()) {
	w.sched.plans = append(w.sched.plans, plannedCall{step, f})
}

// Drive steps all that was started until it is done. It returns a *StuckError,
// a *CrashError or ErrLimit when it does not come to that.
func (w *World) Drive() error { return w.sched.drive() }
