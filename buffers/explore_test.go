//go:build race || invariants

package buffers

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
)

// The tests in explore_*_test.go run the real code of this package on
// coroutines that stop before each access to shared memory, and try every order
// in which they can go on: no thread, no chance. Memory is sequentially
// consistent here, as Go's atomics are; what the race detector says of the plain
// memory between them is for the stress tests.

// errStopped unwinds the coroutines of a run that is over.
var errStopped = errors.New("stopped")

// scene is one small program: its threads, and what must hold after all ended.
type scene struct {
	threads []func()
	finish  func()
}

// script makes a fresh scene for each run. What goes wrong in it goes to fail.
type script func(fail func(format string, args ...any)) scene

// extent is how much a search goes through.
type extent bool

const (
	everything extent = false
	// reduced leaves out orders that differ only in neighbours which commute (sleep
	// sets, Godefroid 1996): still every value that a load can return is seen, but
	// not every moment at which a thread may ask what others have finished.
	reduced extent = true
)

// search goes through all runs of a script, depth first: each run replays the
// decisions of path and then takes the first thread that can go on.
type search struct {
	extent extent
	path   []branch
	runs   int
}

// branch is a decision. Sets of threads are bit masks.
type branch struct {
	taken   int
	enabled uint
	barred  uint // tried already, or left out since they commute
}

// run is one order, and implements explorer.
type run struct {
	threads []*thread
	current *thread
	trace   []traced
	failure string
}

type traced struct {
	thread int
	access access
}

type thread struct {
	name    int
	next    func() (access, bool)
	stop    func()
	yield   func(access) bool
	pending access // what it does when it goes on
	done    bool
	bed     *Waiter // where it sleeps
}

// explore tries all orders until one fails. It returns the number of runs, and
// the failure with its trace or "".
func explore(s script, e extent) (runs int, failure string) {
	x := &search{extent: e}
	for {
		if failure := x.once(s); failure != "" {
			return x.runs, failure
		}
		for len(x.path) > 0 { // to the last decision that has another way
			last := &x.path[len(x.path)-1]
			last.barred |= 1 << last.taken
			if free := last.enabled &^ last.barred; free != 0 {
				last.taken = first(free)
				break
			}
			x.path = x.path[:len(x.path)-1]
		}
		if len(x.path) == 0 {
			return x.runs, ""
		}
	}
}

// once runs the script in the order of path, which it completes.
func (x *search) once(s script) string {
	r := &run{}
	scene := s(r.fail)
	exploring = r
	defer func() { exploring = nil }()
	for i, body := range scene.threads {
		r.start(i, body)
	}
	defer func() {
		for _, t := range r.threads {
			t.stop()
		}
	}()
	var barred uint
	for depth := 0; r.failure == ""; depth++ {
		enabled := r.enabled()
		if enabled == 0 {
			break
		}
		if depth == len(x.path) {
			if enabled&^barred == 0 {
				return "" // every way on was or will be seen elsewhere
			}
			x.path = append(x.path, branch{first(enabled &^ barred), enabled, barred})
		}
		b := x.path[depth]
		barred = x.commuting(r, b)
		r.step(r.threads[b.taken])
	}
	x.runs++
	for _, t := range r.threads {
		if !t.done && r.failure == "" {
			r.fail("thread %d sleeps for good", t.name)
		}
	}
	exploring = nil
	if r.failure == "" {
		scene.finish()
	}
	if r.failure == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(r.failure)
	for _, s := range r.trace {
		fmt.Fprintf(&b, "\n\tthread %d: %s", s.thread, s.access)
	}
	return b.String()
}

// commuting returns those barred at b that are still so after its step.
func (x *search) commuting(r *run, b branch) (barred uint) {
	if x.extent == everything {
		return 0
	}
	for _, t := range r.threads {
		if b.barred&(1<<t.name) != 0 && commute(t.pending, r.threads[b.taken].pending) {
			barred |= 1 << t.name
		}
	}
	return barred
}

// access is what a thread does next.
type access struct {
	step step
	word any // a pointer
}

func (a access) String() string {
	return fmt.Sprintf("%s %T %p", [...]string{load: "load", store: "store"}[a.step], a.word, a.word)
}

// commute says whether two accesses of different threads can be swapped: they
// are to different words, or both only read.
func commute(a, b access) bool {
	return a.word != b.word || a.step == load && b.step == load
}

func first(set uint) int {
	for i := 0; ; i++ {
		if set&(1<<i) != 0 {
			return i
		}
	}
}

// start makes a coroutine of body and brings it to its first access.
func (r *run) start(name int, body func()) {
	t := &thread{name: name}
	r.threads = append(r.threads, t)
	t.next, t.stop = iter.Pull(func(yield func(access) bool) {
		defer func() {
			if p := recover(); p != nil && p != errStopped {
				r.fail("panic: %v", p)
			}
		}()
		t.yield = yield
		body()
	})
	r.current = t
	t.advance()
}

func (r *run) step(t *thread) {
	r.trace = append(r.trace, traced{t.name, t.pending})
	r.current = t
	t.advance()
}

func (t *thread) advance() {
	pending, more := t.next()
	t.pending, t.done = pending, !more
}

func (r *run) enabled() (set uint) {
	for _, t := range r.threads {
		if !t.done && t.bed == nil {
			set |= 1 << t.name
		}
	}
	return set
}

func (r *run) fail(format string, args ...any) {
	if r.failure == "" {
		r.failure = fmt.Sprintf(format, args...)
	}
}

func (r *run) at(s step, word any) {
	if !r.current.yield(access{s, word}) {
		panic(errStopped)
	}
}

// sleep is FUTEX_WAIT: look at the word and fall asleep, in one.
func (r *run) sleep(w *Waiter) {
	r.at(store, &w.parked)
	if w.parked.Load() == 1 {
		r.current.bed = w
		r.at(store, &w.parked)
	}
}

// wake is FUTEX_WAKE.
func (r *run) wake(w *Waiter) {
	r.at(store, &w.parked)
	for _, t := range r.threads {
		if t.bed == w {
			t.bed = nil
		}
	}
}

// mustHold explores all of s and expects no failure.
func mustHold(t *testing.T, what string, s script, e extent) (runs int) {
	t.Helper()
	runs, failure := explore(s, e)
	if failure != "" {
		t.Fatalf("%s: run %d: %s", what, runs, failure)
	}
	return runs
}

// mustBreak explores the scripts of a planted bug and expects that one of them
// fails, and says so in these words.
func mustBreak(t *testing.T, bug, words string, e extent, scripts ...script) {
	t.Helper()
	total := 0
	var others []string
	for _, s := range scripts {
		runs, failure := explore(s, e)
		total += runs
		what, _, _ := strings.Cut(failure, "\n")
		if failure != "" && strings.Contains(what, words) {
			t.Logf("%s: found in run %d: %s", bug, total, what)
			return
		} else if failure != "" {
			others = append(others, what)
		}
	}
	t.Errorf("%s: not found in %d runs; failures of another kind: %q", bug, total, others)
}
