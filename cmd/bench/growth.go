package main

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/cmd/bench/internal/report"
	"github.com/tailrace-io/tailrace/internal/table"
)

// playGrowth inserts new keys into the engine's table and into a Go map, with
// the clock read after each insert, and reports the longest: what a record
// waits for when the state grows. An idle thread that reads the clock for as
// long shows what the host adds.
func playGrowth(r *runner) {
	keys := r.size(mostKeys)
	m := r.newCase("growth", keys)
	for _, c := range []struct {
		name string
		run  func(insert func(func(key uint64)))
	}{
		{"engine's table", func(each func(func(uint64))) {
			t := table.New[uint64, int64](table.Config[uint64, int64]{Groups: 128})
			defer t.Close()
			each(func(k uint64) { *t.Edit(table.HashUint64(k), k)++ })
		}},
		{"Go map", func(each func(func(uint64))) {
			counts := map[uint64]int64{}
			each(func(k uint64) { counts[k]++ })
		}},
	} {
		h := hdrhistogram.New(1, 60_000_000_000, 3)
		var took int64
		done := make(chan struct{})
		harness.GoPinned(harness.UsableCPUs()-1, func() {
			defer close(done)
			c.run(func(insert func(uint64)) { took = timeInserts(h, keys, insert) })
		})
		<-done
		m.out.Lines = append(m.out.Lines, insertLine(c.name, keys, took, h))
		m.row("longest insert, "+c.name, "us", single(float64(h.Max())/1e3), "")
		idle := harness.MeasureGaps(time.Duration(took))
		m.row("longest gap of an idle thread in that time, after "+c.name, "us", single(float64(idle.Max)/1e3), "")
	}
	r.done(m)
}

// timeInserts inserts new keys and returns the nanoseconds that all took.
func timeInserts(h *hdrhistogram.Histogram, keys int, insert func(uint64)) int64 {
	start := harness.Now()
	last := start
	for i := range keys {
		insert(uint64(i+1) * golden)
		now := harness.Now()
		if err := h.RecordValue(max(now-last, 1)); err != nil {
			panic(err) // an insert of more than a minute
		}
		last = harness.Now() // recording is not part of the next insert
	}
	return last - start
}

func insertLine(name string, keys int, took int64, h *hdrhistogram.Histogram) report.Line {
	nanos := float64(took) / float64(keys)
	return report.Line{
		Program: name, Nanos: single(nanos), PerSecond: 1e9 / nanos, WallSeconds: float64(took) / 1e9,
		Latency: new(harness.QuantilesOf(h)), Samples: []float64{nanos},
	}
}
