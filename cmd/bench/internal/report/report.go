// Package report has the results of the benchmark suites and prints them, for
// people (Table), for programs (JSON) and for benchstat (GoBench).
package report

import (
	"math"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

// Limit is what a row has to reach.
type Limit struct {
	Must float64 `json:"must"`
	Aim  float64 `json:"aim"`
	// Below: less is better, and the limits are upper ones.
	Below bool `json:"below,omitempty"`
}

// Verdict compares a value with a Limit.
type Verdict string

// What a Verdict may be; that of a row without a limit is empty.
const (
	Missed Verdict = "MISSED"      // the must
	OK     Verdict = "ok"          // the must is met, the aim isn't
	Aimed  Verdict = "ok, aim met" // both are met
)

// Judge says how value stands to l. NaN meets nothing.
func (l Limit) Judge(value float64) Verdict {
	reaches := func(limit float64) bool {
		if l.Below {
			return value <= limit
		}
		return value >= limit
	}
	switch {
	case math.IsNaN(value) || !reaches(l.Must):
		return Missed
	case !reaches(l.Aim):
		return OK
	}
	return Aimed
}

// Row is one statement that a case makes: a ratio, or a quantity.
type Row struct {
	Name  string        `json:"name"`
	Value harness.Ratio `json:"value"`
	Unit  string        `json:"unit"` // "x" for a ratio
	Limit *Limit        `json:"limit,omitempty"`
	// Same: the ratio is no further from 1 than that of a program against itself.
	Same bool   `json:"not_distinguishable,omitempty"`
	Note string `json:"note,omitempty"`
}

// Verdict is empty for a row without a limit.
func (r Row) Verdict() Verdict {
	if r.Limit == nil {
		return ""
	}
	return r.Limit.Judge(r.Value.Median)
}

// Line is what was measured of one program in a case. All but the samples are medians over
// the rounds.
type Line struct {
	Program     string        `json:"program"`
	Nanos       harness.Ratio `json:"ns_per_record"` // wall time
	PerSecond   float64       `json:"records_per_second"`
	Allocs      float64       `json:"allocs_per_record"`
	WallSeconds float64       `json:"wall_seconds"`
	CPUSeconds  float64       `json:"cpu_seconds"` // of the process: divided by wall, the cores kept busy
	PeakRSS     int64         `json:"peak_rss_bytes,omitempty"`
	// CPUNanos is CPU time of the process per record: neighbours that take the
	// core don't move it much.
	CPUNanos float64            `json:"cpu_ns_per_record"`
	Latency  *harness.Quantiles `json:"latency_ns,omitempty"`
	Samples  []float64          `json:"samples_ns_per_record"`
}

// Case is one size or form of a suite's job.
type Case struct {
	Name    string         `json:"name"`
	Records int            `json:"records"`
	Lines   []Line         `json:"programs"`
	AA      *harness.Ratio `json:"aa,omitempty"` // the first program against itself
	Rows    []Row          `json:"rows"`
	Notes   []string       `json:"notes,omitempty"`
}

// Suite is the outcome of one suite.
type Suite struct {
	Name  string       `json:"name"`
	About string       `json:"about"`
	Gaps  harness.Gaps `json:"idle_gaps"`
	Cases []Case       `json:"cases"`
}

// Host is where it ran.
type Host struct {
	OS     string  `json:"os"`
	Arch   string  `json:"arch"`
	Go     string  `json:"go"`
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	WorkNs float64 `json:"work_ns"` // what harness.Work takes here
}

// Report is one run of the benchmark.
type Report struct {
	Host   Host    `json:"host"`
	Suites []Suite `json:"suites"`
}

// Missed is how many rows miss their must.
func (s *Suite) Missed() int {
	n := 0
	for _, c := range s.Cases {
		for _, r := range c.Rows {
			if r.Verdict() == Missed {
				n++
			}
		}
	}
	return n
}

// LineOf summarises the rounds of one program.
func LineOf(p harness.Program, records int, samples []harness.Sample) Line {
	l := Line{Program: p.Name}
	total := float64(records * max(1, p.Copies))
	var wall, cpu, allocs []float64
	for _, s := range samples {
		wall = append(wall, s.Wall.Seconds())
		cpu = append(cpu, s.CPU.Seconds())
		allocs = append(allocs, float64(s.Mallocs)/total)
		l.Samples = append(l.Samples, float64(s.Wall.Nanoseconds())/total)
	}
	l.Nanos = harness.Summary(l.Samples)
	l.PerSecond = 1e9 / l.Nanos.Median
	l.WallSeconds, l.CPUSeconds, l.Allocs = harness.Median(wall), harness.Median(cpu), harness.Median(allocs)
	l.CPUNanos = l.CPUSeconds * 1e9 / total
	l.Latency = medianQuantiles(samples)
	return l
}

// medianQuantiles is the median of each quantile over the rounds; nil without
// latencies.
func medianQuantiles(samples []harness.Sample) *harness.Quantiles {
	median := func(of func(harness.Quantiles) int64) int64 {
		var values []float64
		for _, s := range samples {
			values = append(values, float64(of(s.Latency)))
		}
		return int64(harness.Median(values))
	}
	q := harness.Quantiles{Count: median(func(q harness.Quantiles) int64 { return q.Count })}
	if q.Count == 0 {
		return nil
	}
	q.P50 = median(func(q harness.Quantiles) int64 { return q.P50 })
	q.P99 = median(func(q harness.Quantiles) int64 { return q.P99 })
	q.P999 = median(func(q harness.Quantiles) int64 { return q.P999 })
	q.Max = median(func(q harness.Quantiles) int64 { return q.Max })
	return &q
}
