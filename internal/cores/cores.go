// Package cores shares the cores of the machine among the workers of all jobs
// of the process: it decides who may spin and who is pinned where.
package cores

import (
	"sync"
	"sync/atomic"

	"github.com/tailrace-io/tailrace/internal/env"
	"github.com/tailrace-io/tailrace/internal/invariant"
)

// Pin says whether the workers of a job are pinned to cores.
type Pin uint8

const (
	// Auto pins while every worker of the process can have a core of its own,
	// and the process has its cores to itself: a quota of the container means
	// that it has not.
	Auto Pin = iota
	On       // pinned, as long as there are cores that no other worker is pinned to
	Off      // never pinned
)

// Usable is the number of cores that the process may use: those it was allowed
// when it started, but not more than the CPU quota of its control group,
// rounded down. At least one. The answer is that of the first call.
func Usable() int { return machine().usable }

// machine is read once, before any worker is pinned: what comes later could see
// the mask of a pinned thread.
var machine = sync.OnceValue(readMachine)

// host is what there is to share.
type host struct {
	cpus   []int // the cores that the process may use, in the order of assignment; nil if unknown
	usable int   // how many workers can run at a time
	shared bool  // a quota is less than the cores: others use them too
}

// Grant is the share of one job.
type Grant struct {
	book   *book
	demand demand
	leases []*lease
}

// Acquire counts the workers of a job in, until Release. offWorker is the number
// of its goroutines that are no workers but need a core now and then: they
// count for Procs only. Safe for concurrent use.
//
// It never fails. When the workers of all grants together are more than the
// usable cores, no lease may spin and none but those of On is pinned, until
// enough grants are released.
func Acquire(workers, offWorker int, pin Pin) *Grant {
	return process().acquire(workers, offWorker, pin)
}

// Procs is the least GOMAXPROCS at which no goroutine outside the workers waits
// for a worker to be preempted (10 ms): one for each worker of all grants, and
// for each of the others as long as there are cores.
func Procs() int { return process().procs() }

// Worker returns the lease of worker i.
func (g *Grant) Worker(i int) env.Lease { return g.leases[i] }

// Release ends the grant: its leases allow nothing any more. The others may get
// back what they had to do without. Releasing again does nothing. Safe for
// concurrent use.
func (g *Grant) Release() { g.book.release(g) }

var process = sync.OnceValue(func() *book { return &book{machine: machine()} })

// book has the grants of the process.
type book struct {
	machine host
	mu      sync.Mutex
	grants  []*Grant // in the order of Acquire. Guarded by mu.
}

func (b *book) acquire(workers, offWorker int, pin Pin) *Grant {
	invariant.Check(workers >= 0 && offWorker >= 0, "acquire %d workers and %d others", workers, offWorker)
	g := &Grant{book: b, demand: demand{workers: workers, offWorker: offWorker, pin: pin}}
	for range workers {
		l := new(lease)
		l.set(terms{cpu: -1})
		g.leases = append(g.leases, l)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grants = append(b.grants, g)
	b.settle()
	return g
}

func (b *book) release(g *Grant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.grants {
		if other == g {
			b.grants = append(b.grants[:i:i], b.grants[i+1:]...)
			for _, l := range g.leases {
				l.set(terms{cpu: -1})
			}
			b.settle()
			return
		}
	}
}

// settle brings all leases to what decide says.
func (b *book) settle() {
	demands := make([]demand, len(b.grants))
	for i, g := range b.grants {
		demands[i] = g.demand
	}
	for i, all := range decide(b.machine, demands) {
		g := b.grants[i]
		g.demand.homes = g.demand.homes[:0]
		for w, t := range all {
			g.leases[w].set(t)
			g.demand.homes = append(g.demand.homes, t.home)
		}
	}
}

func (b *book) procs() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	workers, others := 0, 0
	for _, g := range b.grants {
		workers += g.demand.workers
		others += g.demand.offWorker
	}
	return max(1, workers+min(others, b.machine.usable))
}

// lease implements env.Lease.
type lease struct {
	// word: the core plus one, shifted, and the spin bit.
	// Owner: book, under mu.  Publishes: nothing else.  Observed by: Spin, CPU.
	word atomic.Int64
}

func (l *lease) set(t terms) {
	word := int64(t.cpu+1) << 1
	if t.spin {
		word |= 1
	}
	l.word.Store(word)
}

// Spin implements env.Lease.
func (l *lease) Spin() bool { return l.word.Load()&1 != 0 }

// CPU implements env.Lease.
func (l *lease) CPU() int { return int(l.word.Load()>>1) - 1 }
