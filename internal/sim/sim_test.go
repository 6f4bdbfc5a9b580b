package sim

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

var (
	seedFlag  = flag.Uint64("sim.seed", 0, "the only seed to run")
	seedsFlag = flag.Int("sim.seeds", 200, "how many seeds to run, from 1")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// capacities are those of all rings of a run: each seed is run with each.
var capacities = []int{1, 2, 8}

// floors are in how many of the 600 runs of 200 seeds each thing must happen,
// for the runs to show anything: about half of what was counted when they were set.
var floors = map[string]int{
	"keyed exchange": 150, "rebalance": 200, "broadcast": 100, "union": 80, "diamond": 50, "route": 60, "lookup join": 50,
	"stream read twice": 200, "source without splits": 60, "empty source": 80, "input ended before the others": 250,
	"ring of 1 full": 80, "ring of 2 full": 70, "ring of 8 full": 40, "batch held": 60, "retry": 40, "dead letter": 120,
	"timer fired": 60, "clock timer fired": 50, "end of data handled": 80,
	"injected panic": 20, "injected Goexit": 10, "injected error": 5, "injected too many refused": 2,
	"goroutine lost": 10, "outcome canceled": 20, "outcome failed": 40, "outcome finished": 250,
	"tasks share workers": 60, "policy uniform": 40, "policy priorities": 40, "policy starve": 40, "policy bursts": 40, "policy turns": 40,
}

func seeds(t *testing.T) (from, to uint64) {
	switch n := *seedsFlag; {
	case *seedFlag != 0:
		return *seedFlag, *seedFlag
	case testing.Short():
		return 1, uint64(min(n, 40))
	default:
		return 1, uint64(n)
	}
}

// TestRandomJobsGiveWhatTheOracleSays runs random jobs under random schedules.
func TestRandomJobsGiveWhatTheOracleSays(t *testing.T) {
	from, to := seeds(t)
	var mu sync.Mutex
	counts, runs, steps := map[string]int{}, map[string]int{}, 0
	work := make(chan uint64)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for seed := range work {
				for _, capacity := range capacities {
					res, err := Run(Generate(seed), capacity)
					mu.Lock()
					steps += res.Steps
					for what, n := range res.Counts {
						if n > 0 {
							counts[what] += n
							runs[what]++
						}
					}
					if err != nil && !t.Failed() {
						t.Errorf("seed %d: %v\nreplay: go test ./internal/sim -run %s -sim.seed=%d", seed, err, t.Name(), seed)
					}
					mu.Unlock()
				}
			}
		})
	}
	for seed := from; seed <= to && !t.Failed(); seed++ {
		work <- seed
	}
	close(work)
	wg.Wait()
	t.Logf("%d runs, %d steps\n%s", 3*(to-from+1), steps, table(counts, runs))
	if t.Failed() || to-from < 199 {
		return // too few to count on
	}
	for _, what := range keysOf(floors) {
		if floor := floors[what] * int(to-from+1) / 250; runs[what] < floor {
			t.Errorf("%s: in %d runs, and it should be in %d: the generator has lost something", what, runs[what], floor)
		}
	}
}

func table(counts, runs map[string]int) string {
	var b strings.Builder
	names := keysOf(counts)
	slices.SortStableFunc(names, func(a, b string) int { return runs[b] - runs[a] })
	for _, name := range names {
		fmt.Fprintf(&b, "  %-32s %8d times in %6d runs\n", name, counts[name], runs[name])
	}
	return b.String()
}

// TestASeedGivesTheSameRunAgain: to the last step, and in every event.
func TestASeedGivesTheSameRunAgain(t *testing.T) {
	from, to := uint64(1000), uint64(1050)
	if *seedFlag != 0 {
		from, to = *seedFlag, *seedFlag+1
	}
	for seed := from; seed < to; seed++ {
		for _, capacity := range capacities {
			first, err := Run(Generate(seed), capacity)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			second, err := Run(Generate(seed), capacity)
			if err != nil || first.Hash != second.Hash || first.Steps != second.Steps {
				t.Errorf("seed %d, capacity %d: %d steps, trace %016x, then %d steps, trace %016x, %v",
					seed, capacity, first.Steps, first.Hash, second.Steps, second.Hash, err)
			}
		}
	}
}
