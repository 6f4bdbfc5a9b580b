package main

import "github.com/tailrace-io/tailrace/cmd/bench/internal/report"

// limits are what the rows of the suites have to reach, by suite, case and
// row. Ratios say how many times faster the engine is than a twin; "of the
// ceiling" is the share of what two independent copies reach.
var limits = map[string]report.Limit{
	"ring/48 B/ring vs chan T":           {Must: 10, Aim: 15},
	"ring/48 B/ring vs chan []T, pinned": {Must: 2, Aim: 3},
	"ring/48 B/allocations per record":   {Must: 0.001, Aim: 0, Below: true},

	"chain/20 ns a step/engine, a record at a time, vs loop": {Must: 0.80, Aim: 0.90},
	"chain/20 ns a step/engine, MapBatch, vs loop":           {Must: 0.95, Aim: 0.98},
	"chain/20 ns a step/allocations per record":              {Must: 0.001, Aim: 0, Below: true},

	"pipeline/throughput/engine, 2 workers, vs channels of batches": {Must: 1.4, Aim: 2},
	"pipeline/throughput/engine, 2 workers, vs channels of items":   {Must: 4, Aim: 6},
	"pipeline/throughput/allocations per record":                    {Must: 0.001, Aim: 0, Below: true},
	"pipeline/latency at half load/engine's p99 over twin's":        {Must: 0.1, Aim: 0.02, Below: true},
	"pipeline/memory/peak RSS of the engine":                        {Must: 150, Aim: 60, Below: true},

	"keyed/1 M keys/engine, 1 worker, vs loop":              {Must: 1.2, Aim: 2},
	"keyed/1 M keys/engine, 2 workers vs 1, of the ceiling": {Must: 0.85, Aim: 0.95},
	"keyed/1 M keys/allocations per record":                 {Must: 0.001, Aim: 0, Below: true},
	"keyed/memory, 10 M keys/peak RSS of the engine":        {Must: 700, Aim: 450, Below: true},

	"flights/routes/engine, 1 worker, vs loop":                 {Must: 0.85, Aim: 0.95},
	"flights/routes/engine, 2 workers vs loop, of the ceiling": {Must: 0.80, Aim: 0.95},
}
