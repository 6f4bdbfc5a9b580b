package harness

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Gaps is what an idle pinned thread sees when it does nothing but read the
// clock: each gap between two readings that is longer than a reading takes is
// time that the host, a neighbour or the collector took.
type Gaps struct {
	Quantiles
	Over10us, Over100us, Over1ms int64   // gaps longer than that
	Lost                         float64 // share of the time in gaps over 10 us
}

// MeasureGaps spins for d on a thread of its own, pinned to the last usable core.
func MeasureGaps(d time.Duration) Gaps {
	var g Gaps
	h := hdrhistogram.New(1, maxLatency, 3)
	done := make(chan struct{})
	cores := UsableCPUs()
	GoPinned(cores-1, func() {
		defer close(done)
		start := Now()
		var lost int64
		for last := start; last-start < int64(d); {
			now := Now()
			gap := max(now-last, 1)
			last = now
			if err := h.RecordValue(min(gap, maxLatency)); err != nil {
				panic(err) // the value is within the range of the histogram
			}
			if gap > 10_000 {
				g.Over10us++
				lost += gap
			}
			if gap > 100_000 {
				g.Over100us++
			}
			if gap > 1_000_000 {
				g.Over1ms++
			}
		}
		g.Lost = float64(lost) / float64(Now()-start)
	})
	<-done
	g.Quantiles = QuantilesOf(h)
	return g
}
