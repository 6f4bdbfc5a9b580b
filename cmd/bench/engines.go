package main

import "github.com/tailrace-io/tailrace/cmd/bench/internal/harness"

// engines has, for each suite, the program that does its job on the engine with
// that many workers. A Program without Run is left out of the suite.
//
// Such a program builds its graph around the suite's own source and sink, uses
// the suite's own functions for the steps, runs it with exec.Run, and returns
// the sink's answer: see the loop of the suite, which does the same by hand.
var engines = struct {
	// chain: MapInto(chainFirst), Filter(chainKeep), MapInto(chainLast), or with
	// whole batches the MapBatch and FlatMapBatch forms of them.
	chain func(wholeBatches bool, workers int) harness.Program
	// pipeline: MapInto(pipelineIn), KeyBy((*event).key), a Process that keeps
	// a pipelineState and calls its step, MapInto(pipelineOut).
	pipeline func(workers int) harness.Program
	// keyed: Total(KeyBy((*hit).key), agg.Count).
	keyed func(keys, workers int) harness.Program
	// flights: Total(KeyBy((*flight).Route), routeDelays).
	flights func(data flightData, workers int) harness.Program
}{
	chain:    func(bool, int) harness.Program { return harness.Program{} },
	pipeline: func(int) harness.Program { return harness.Program{} },
	keyed:    func(int, int) harness.Program { return harness.Program{} },
	flights:  func(flightData, int) harness.Program { return harness.Program{} },
}
