package env

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAWorkerIsWhereItsLeaseSays reads the mask back on the thread of the worker
// while the lease moves it through all cores, and to none.
func TestAWorkerIsWhereItsLeaseSays(t *testing.T) {
	all := ThreadCPUs()
	if len(all) == 0 {
		t.Fatal("no cores")
	}
	lease := newLease(false, all[0])
	wishes := append(slices.Clone(all), -1, all[len(all)-1], maxCPU-1, all[0])
	steps, moved := 0, 0
	var w Waker
	w, wait := run(Spec{Worker: true, Lease: lease}, stepFunc(func() (Status, int64) {
		// The lease is looked at once in leaseRounds busy rounds: check well after.
		if steps++; steps%(2*leaseRounds) != 0 {
			return Progress, 0
		}
		want, got := []int{wishes[moved]}, ThreadCPUs()
		if wish := wishes[moved]; wish < 0 || !slices.Contains(all, wish) {
			want = all // no wish, or one that must not be granted
		}
		if !slices.Equal(got, want) {
			t.Errorf("the lease says %d: the thread may use %v, want %v", wishes[moved], got, want)
		}
		if moved++; moved == len(wishes) {
			return Done, 0
		}
		lease.cpu.Store(int64(wishes[moved]))
		return Progress, 0
	}))
	wait()
	if stats, _ := StatsOf(w); stats.CPU != all[0] {
		t.Errorf("stats say core %d, want %d", stats.CPU, all[0])
	}
	if got := ThreadCPUs(); !slices.Equal(got, all) {
		t.Errorf("another thread may use %v now, want %v", got, all)
	}
}

// TestAPinDoesNotOutliveTheGoroutine: a thread whose goroutine was ended by user
// code is gone with its mask, and the next one is pinned again.
func TestAPinDoesNotOutliveTheGoroutine(t *testing.T) {
	cpu := ThreadCPUs()[0]
	var threads []int
	_, wait := run(Spec{Worker: true, Lease: newLease(false, cpu)}, stepFunc(func() (Status, int64) {
		threads = append(threads, unix.Gettid())
		if got := ThreadCPUs(); !slices.Equal(got, []int{cpu}) {
			t.Errorf("thread %d of the worker may use %v, want core %d", len(threads), got, cpu)
		}
		if len(threads) == 1 {
			runtime.Goexit()
		}
		return Done, 0
	}))
	if lost := wait(); lost != 1 || threads[0] == threads[1] {
		t.Errorf("%d lost, threads %v", lost, threads)
	}
}

// TestAnIdleWorkerCostsLessThanAHundredth compares the CPU clock of the worker's
// thread with the time that passed while nobody woke it.
func TestAnIdleWorkerCostsLessThanAHundredth(t *testing.T) {
	for _, kind := range kinds[:3] {
		var from, to, cpuFrom, cpuTo int64
		_, wait := run(kind.spec, stepFunc(func() (Status, int64) {
			to, cpuTo = realClock{}.Mono(), threadCPU(t)
			if from == 0 {
				from, cpuFrom = to, cpuTo
			}
			if to-from > int64(500*time.Millisecond) {
				return Done, 0
			}
			return Idle, 0
		}))
		wait()
		share := float64(cpuTo-cpuFrom) / float64(to-from)
		t.Logf("%s: %.3f %% of a core", kind.name, 100*share)
		if share >= 0.01 {
			t.Errorf("%s costs %.2f %% of a core while idle", kind.name, 100*share)
		}
	}
}

func threadCPU(t *testing.T) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		t.Errorf("thread CPU clock: %v", err)
	}
	return ts.Nano()
}
