package main

import (
	"context"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

// suite is one subject, with one function that plays its cases.
type suite struct {
	name, about string
	run         func(context.Context, *runner) error
}

var suites = []suite{
	{"ring", "one hop between two threads, 48-byte records", runRing},
	{"chain", "MapInto, Filter, MapInto with 20 ns of work in each, 48-byte records", runChain},
	{"pipeline", "generate, map, 2x2 keyed shuffle, aggregate, map, sink, 48-byte records", runPipeline},
	{"keyed", "count by key, random uint64 keys", runKeyed},
	{"flights", "Parquet to flights, mean and longest delay by route", runFlights},
}

// memoryPrograms can be run alone in a process of their own, by name, for
// their peak of resident memory.
func memoryPrograms() map[string]harness.Program {
	all := map[string]harness.Program{}
	for _, p := range exists(pipelineLoop(), engines.pipeline(2)) {
		all["pipeline/"+p.Name] = p
	}
	for _, p := range exists(keyedLoop(mostKeys), engines.keyed(mostKeys, 2)) {
		all["keyed/"+p.Name] = p
	}
	return all
}
