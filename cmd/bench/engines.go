package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
	"github.com/tailrace-io/tailrace/state"
)

// engines has, for each suite, the program that does its job on the engine with
// that many workers. It uses the suite's own source, sink and steps, as the
// twins do. It is a variable for the tests, which put a liar in.
var engines = struct {
	chain    func(wholeBatches bool, workers int) harness.Program
	pipeline func(workers int) harness.Program
	keyed    func(keys, workers int) harness.Program
	flights  func(data flightData, workers int) harness.Program
}{engineChain, enginePipeline, engineKeyed, engineFlights}

// engineProgram runs a graph that build makes anew for each run, and then asks
// for the answer.
func engineProgram(name string, workers int, build func(*flow.Graph, harness.Load) (answer func(records int64) harness.Answer)) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		g := flow.New("bench")
		answer := build(g, load)
		result, err := exec.Run(ctx, g, exec.Options{Workers: workers})
		if err != nil {
			return harness.Answer{}, err
		}
		if result.Outcome != exec.Finished || len(result.Operators) == 0 {
			return harness.Answer{}, errors.New("the job has not finished: " + result.Outcome.String())
		}
		return answer(int64(result.Operators[0].In)), nil // the first operator is the source
	}}
}

// withWorkers names an engine program.
func withWorkers(workers int) string {
	if workers == 1 {
		return "engine, 1 worker"
	}
	return fmt.Sprintf("engine, %d workers", workers)
}

// engineChain is the chain, with functions of one record or of whole batches.
func engineChain(wholeBatches bool, workers int) harness.Program {
	name := withWorkers(workers)
	if wholeBatches {
		name += ", MapBatch"
	}
	return engineProgram(name, workers, func(g *flow.Graph, load harness.Load) func(int64) harness.Answer {
		sink := eventSink(load)
		s := flow.Read(g, "events", eventSource(load, 1))
		if wholeBatches {
			s = flow.MapBatch(s, "first", eachEvent(chainFirst))
			s = flow.Filter(s, "keep", chainKeep)
			s = flow.MapBatch(s, "last", eachEvent(chainLast))
		} else {
			s = flow.MapInto(s, "first", chainFirst)
			s = flow.Filter(s, "keep", chainKeep)
			s = flow.MapInto(s, "last", chainLast)
		}
		flow.Write(s, "out", sink)
		return sink.answer
	})
}

// pipelineProcessor counts and adds up by key.
type pipelineProcessor struct{ state state.Value[pipelineState] }

func (p *pipelineProcessor) Process(_ flow.Ctx[uint64], in *event, out *flow.Out[event]) error {
	p.state.Edit().step(in, out.Slot())
	return nil
}

func enginePipeline(workers int) harness.Program {
	return engineProgram(withWorkers(workers), workers, func(g *flow.Graph, load harness.Load) func(int64) harness.Answer {
		sink := eventSink(load)
		s := flow.Read(g, "events", eventSource(load, twinLanes))
		s = flow.MapInto(s, "in", pipelineIn)
		s = flow.Process(flow.KeyBy(s, (*event).key), "count", func(sc flow.Scope[uint64]) *pipelineProcessor {
			return &pipelineProcessor{state.ValueOf[pipelineState](sc, "sums")}
		})
		s = flow.MapInto(s, "out", pipelineOut)
		flow.Write(s, "sink", sink)
		return sink.answer
	})
}

func engineKeyed(keys, workers int) harness.Program {
	return engineProgram(withWorkers(workers), workers, func(g *flow.Graph, load harness.Load) func(int64) harness.Answer {
		sink := countSink()
		s := flow.Read(g, "hits", hitSource(load, keys))
		flow.Write(flow.Total(flow.KeyBy(s, (*hit).key), "count", agg.Count[hit]()), "sink", sink)
		return sink.answer
	})
}

func engineFlights(data flightData, workers int) harness.Program {
	return engineProgram(withWorkers(workers), workers, func(g *flow.Graph, _ harness.Load) func(int64) harness.Answer {
		sink := routeSink()
		s := flow.Read(g, "flights", data.source())
		flow.Write(flow.Total(flow.KeyBy(s, (*flight).Route), "routes", routeAggregator), "sink", sink)
		return sink.answer
	})
}
