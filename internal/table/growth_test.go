package table

import (
	"runtime"
	"testing"
	"time"
)

// steps is what the inserts of one kind took, in CPU time of the thread.
type steps struct {
	longest time.Duration
	slow    int // of more than a millisecond
}

func (s *steps) add(d time.Duration) {
	s.longest = max(s.longest, d)
	if d > time.Millisecond {
		s.slow++
	}
}

// growthSteps inserts n keys into a table and returns what the inserts took
// that made a segment grow, and what the others took: on a virtual machine the
// time that the host takes away counts too, and shows there.
func growthSteps(tb testing.TB, n int, pool *Pool) (growing, others steps, held int64) {
	tb.Helper()
	t := New(Config[uint64, int64]{Groups: 128, Slabs: pool})
	defer t.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	for i := range n {
		k := scrambled(uint64(i))
		h := HashUint64(k)
		s := t.seg(t.dir[t.index(h)].seg)
		grows := s.live >= s.max
		t.Set(h, k, int64(i))
		now := threadTime()
		if grows {
			growing.add(now - before)
		} else {
			others.add(now - before)
		}
		before = now
	}
	if t.Len() != n {
		tb.Fatalf("%d keys of %d", t.Len(), n)
	}
	return growing, others, t.Bytes()
}

func BenchmarkGrowth(b *testing.B) {
	b.Run("populating itself", func(b *testing.B) {
		for b.Loop() {
			reportGrowth(b, NewPool(0, nil))
		}
	})
	b.Run("populated ahead", func(b *testing.B) {
		for b.Loop() {
			wake := make(chan struct{}, 1)
			pool := NewPool(0, func() {
				select {
				case wake <- struct{}{}:
				default:
				}
			})
			stocked := make(chan struct{})
			for pool.Stock() {
			}
			go func() {
				defer close(stocked)
				for range wake {
					for pool.Stock() {
					}
				}
			}()
			reportGrowth(b, pool)
			close(wake)
			<-stocked
			pool.Drain()
		}
	})
}

func reportGrowth(b *testing.B, pool *Pool) {
	const n = 10_000_000
	growing, others, held := growthSteps(b, n, pool)
	b.ReportMetric(float64(growing.longest.Microseconds()), "µs/longest-growth")
	b.ReportMetric(float64(growing.slow), "growths>1ms")
	b.ReportMetric(float64(others.longest.Microseconds()), "µs/longest-other")
	b.ReportMetric(float64(held)/n, "B/key")
}
