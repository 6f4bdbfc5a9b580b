package harness

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Pace says when the records of a split become due: in bursts, as from a
// network, at a fixed rate that does not wait for a slow program. A record's
// latency counts from when it was due and not from when it was taken, which is
// the cure for coordinated omission (Gil Tene, "How NOT to measure latency").
type Pace struct {
	PerSecond float64 // records a second, for each split
	Burst     int     // records that become due together
	Warmup    int     // first records of each split, whose latency is not recorded
}

// Due is the schedule of one split under a Pace. It belongs to one goroutine.
type Due struct {
	pace   Pace
	start  int64 // when the first burst was due; 0 before the first call
	issued int   // records handed out
}

// Schedule starts a schedule; its clock starts at the first call of Next, so
// that what a program needs to start up is not counted.
func (p Pace) Schedule() *Due { return &Due{pace: p} }

// Next says how many records, at most most, may be sent now, and when they
// were due (the same for all of them; 0 during warm-up). It returns 0 records
// if none is due, and never more than what is left of one burst.
func (d *Due) Next(now int64, most int) (n int, due int64) {
	if d.start == 0 {
		d.start = now
	}
	burst := d.issued / d.pace.Burst
	due = d.start + int64(float64(burst)*float64(d.pace.Burst)/d.pace.PerSecond*1e9)
	if now < due {
		return 0, due
	}
	n = min(most, (burst+1)*d.pace.Burst-d.issued)
	if d.issued < d.pace.Warmup {
		due = 0
	}
	d.issued += n
	return n, due
}

// Until is the time in nanoseconds until the next burst is due; not positive
// if it is due already.
func (d *Due) Until(now int64) int64 {
	if d.start == 0 {
		return 0
	}
	burst := d.issued / d.pace.Burst
	return d.start + int64(float64(burst)*float64(d.pace.Burst)/d.pace.PerSecond*1e9) - now
}

// maxLatency is the longest latency that is told apart, one minute.
const maxLatency = 60_000_000_000

// Latency collects latencies in nanoseconds, with one histogram for each lane
// (a task of the sink), so that recording takes no lock.
type Latency struct{ lanes []*hdrhistogram.Histogram }

// NewLatency makes a Latency for that many lanes, precise to 3 digits.
func NewLatency(lanes int) *Latency {
	l := &Latency{}
	for range lanes {
		l.lanes = append(l.lanes, hdrhistogram.New(1, maxLatency, 3))
	}
	return l
}

// Record counts n records of that latency. One goroutine at a time may record
// into a lane.
func (l *Latency) Record(lane int, ns int64, n int64) {
	// An error means that the value is out of range, and it is clamped.
	if err := l.lanes[lane].RecordValues(min(max(ns, 1), maxLatency), n); err != nil {
		panic(fmt.Sprintf("record latency %d ns: %v", ns, err))
	}
}

// Quantiles are in nanoseconds.
type Quantiles struct {
	Count               int64
	P50, P99, P999, Max int64
}

// Quantiles merges the lanes; nothing may be recording.
func (l *Latency) Quantiles() Quantiles {
	all := hdrhistogram.New(1, maxLatency, 3)
	for _, h := range l.lanes {
		all.Merge(h)
	}
	return QuantilesOf(all)
}

// QuantilesOf summarises a histogram of nanoseconds.
func QuantilesOf(h *hdrhistogram.Histogram) Quantiles {
	return Quantiles{
		Count: h.TotalCount(),
		P50:   h.ValueAtQuantile(50), P99: h.ValueAtQuantile(99),
		P999: h.ValueAtQuantile(99.9), Max: h.Max(),
	}
}
