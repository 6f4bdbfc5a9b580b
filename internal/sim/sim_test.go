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

// floors are how often each thing must happen in 200 seeds, for the runs to
// show anything.
var floors = map[string]int{
	"keyed exchange": 1,
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
						counts[what] += n
						runs[what]++
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
