package table

import (
	"runtime"
	"testing"
	"time"
)

// growthSteps inserts n keys into a table and returns how long the longest
// insert took, how many took more than a millisecond, all, and the bytes held.
func growthSteps(tb testing.TB, n int, pool *Pool) (longest time.Duration, slow int, all time.Duration, held int64) {
	tb.Helper()
	t := New(Config[uint64, int64]{Groups: 128, Slabs: pool})
	defer t.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	before := start
	for i := range n {
		k := scrambled(uint64(i))
		t.Set(HashUint64(k), k, int64(i))
		now := threadTime()
		step := now - before
		longest = max(longest, step)
		if step > time.Millisecond {
			slow++
		}
		before = now
	}
	if t.Len() != n {
		tb.Fatalf("%d keys of %d", t.Len(), n)
	}
	return longest, slow, before - start, t.Bytes()
}

func BenchmarkGrowth(b *testing.B) {
	const n = 10_000_000
	for _, helper := range []bool{false, true} {
		name := "populating itself"
		if helper {
			name = "populated ahead"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				wake := make(chan struct{}, 1)
				pool := NewPool(0, func() {
					select {
					case wake <- struct{}{}:
					default:
					}
				})
				if helper {
					for pool.Stock() {
					}
					go func() {
						for range wake {
							for pool.Stock() {
							}
						}
					}()
				}
				longest, slow, all, held := growthSteps(b, n, pool)
				close(wake)
				b.ReportMetric(float64(longest.Microseconds()), "µs/longest")
				b.ReportMetric(float64(slow), "steps>1ms")
				b.ReportMetric(float64(held)/n, "B/key")
				b.ReportMetric(float64(all.Nanoseconds())/n, "ns/insert")
			}
		})
	}
}
