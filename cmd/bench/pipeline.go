package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

// The steps of the pipeline.

func pipelineIn(in, out *event) {
	*out = *in
	out.Value = in.Value*3 + 1
}

// pipelineState is what the aggregate remembers of a key.
type pipelineState struct{ Count, Total int64 }

// step folds in into s, and out is in with the state after it.
func (s *pipelineState) step(in, out *event) {
	s.Count++
	s.Total += in.Value
	*out = *in
	out.Count, out.Total = s.Count, s.Total
}

func pipelineOut(in, out *event) {
	*out = *in
	out.Tag = in.Tag ^ uint64(in.Total)
}

const (
	throughput = "throughput"
	latency    = "latency at half load"
	ownLatency = "latency at half of the engine's load"
	memory     = "memory"
)

// runPipeline plays throughput, latency at half of that, and memory.
func runPipeline(ctx context.Context, r *runner) error {
	if r.wants(throughput) || r.wants(latency) || r.wants(ownLatency) {
		if err := playPipeline(ctx, r); err != nil {
			return err
		}
	}
	if !r.wants(memory) {
		return nil
	}
	return playMemory(ctx, r, memoryCase{
		name: memory, records: r.size(100_000_000), row: "peak RSS of the engine",
		engine: engines.pipeline(2).Name, twin: pipelineLoop().Name,
	})
}

func playPipeline(ctx context.Context, r *runner) error {
	programs, err := pipelinePrograms(ctx, harness.Load{Records: r.size(2_000_000)})
	if err != nil {
		return err
	}
	engine := engines.pipeline(2)
	if !r.wants(throughput) { // only the rates are needed
		programs = slices.DeleteFunc(programs, func(p harness.Program) bool { return !isBatches(p) && p.Name != engine.Name })
	}
	twinRate, engineRate, err := pipelineThroughput(ctx, r, programs)
	if err != nil {
		return err
	}
	if r.wants(latency) {
		if err := pipelineLatency(ctx, r, latency, twinRate/2, latencyPrograms()); err != nil {
			return err
		}
	}
	if engine.Run == nil || !r.wants(ownLatency) {
		return nil
	}
	return pipelineLatency(ctx, r, ownLatency, engineRate/2, []harness.Program{engine})
}

// pipelinePrograms are the engine and its twins, the size of a batch of each
// twin chosen by trial.
func pipelinePrograms(ctx context.Context, load harness.Load) ([]harness.Program, error) {
	programs := []harness.Program{engines.pipeline(2), engines.pipeline(1), pipelineLoop(), harness.Copies(pipelineLoop(), 2)}
	shapes := []struct {
		name  string
		twin  func(string, twinOptions) harness.Program
		start int
	}{
		{"chan []T, 4 goroutines", fusedBatches, 0}, {"chan []T, 4 goroutines", fusedBatches, 1},
		{"chan []T, 10 goroutines", stagedBatches, 0},
	}
	for _, s := range shapes {
		var sizes []harness.Program
		for _, batch := range []int{256, 1024} {
			start := starts[s.start]
			name := fmt.Sprintf("%s, %s, b=%d", s.name, start.name, batch)
			sizes = append(sizes, s.twin(name, twinOptions{batch: batch, start: start.run, wait: waits[start.name]}))
		}
		best, err := harness.Best(ctx, sizes, 2, load)
		if err != nil {
			return nil, err
		}
		programs = append(programs, best)
	}
	for _, start := range starts {
		programs = append(programs, fusedItems("chan T, 4 goroutines, "+start.name, start.run))
	}
	if one := engines.pipeline(1); one.Run != nil {
		programs = append(programs, harness.Copies(one, 2))
	}
	return exists(programs...), nil
}

// pipelineThroughput returns the records per second of the fastest twin with
// batches, and of the engine with two workers.
func pipelineThroughput(ctx context.Context, r *runner, programs []harness.Program) (twinRate, engineRate float64, err error) {
	load := harness.Load{Records: r.size(2_000_000)}
	m, err := r.play(ctx, throughput, programs, func() harness.Load { return load })
	if err != nil {
		return 0, 0, err
	}
	rate := func(i int) float64 { return float64(load.Records) / harness.Median(m.Wall(i)) }
	two, one := engines.pipeline(2), engines.pipeline(1)
	twin := m.Least(m.Wall, isBatches)
	if m.has(two.Name) {
		engineRate = rate(m.Find(two.Name))
	}
	if !r.wants(throughput) {
		return rate(twin), engineRate, nil
	}
	m.faster("engine, 2 workers, vs channels of batches", two.Name, "chan []T")
	m.faster("engine, 2 workers, vs channels of items", two.Name, "chan T")
	m.faster("engine, 2 workers, vs loop", two.Name, "one loop")
	m.faster("engine, 1 worker, vs loop", one.Name, "one loop")
	m.ceiling(one.Name)
	m.ofCeiling("engine, 2 workers vs 1, of the ceiling", two.Name, one.Name, one.Name)
	m.ceiling("one loop")
	m.faster("fastest channels of batches vs loop", m.Programs[twin].Name, "one loop")
	if err := m.allocations(ctx, two, load); err != nil {
		return 0, 0, err
	}
	r.done(m)
	return rate(twin), engineRate, nil
}

// latencyPrograms are the engine and the twin with every way to start and to wait.
func latencyPrograms() []harness.Program {
	programs := []harness.Program{engines.pipeline(2)}
	for _, start := range starts {
		for _, wait := range []string{start.name, "nap"} {
			name := fmt.Sprintf("chan []T, 4 goroutines, %s, %s", start.name, waitNames[wait])
			programs = append(programs, fusedBatches(name, twinOptions{batch: hopBatch, start: start.run, wait: waits[wait]}))
		}
	}
	return exists(programs...)
}

// pipelineLatency paces the source at rate records per second, for half a
// second a run, for all programs alike.
func pipelineLatency(ctx context.Context, r *runner, name string, rate float64, programs []harness.Program) error {
	records := max(1000, int(rate*0.5*min(1, r.scale*5))) &^ 1
	pace := harness.Pace{PerSecond: rate / twinLanes, Burst: hopBatch, Warmup: records / twinLanes / 10}
	m, err := r.play(ctx, name, programs, func() harness.Load {
		return harness.Load{Records: records, Pace: &pace, Latency: harness.NewLatency(twinLanes)}
	})
	if err != nil {
		return err
	}
	m.aa = m.AAOf(m.P99)
	twin := m.Least(m.P99, isBatches)
	if engine := engines.pipeline(2).Name; m.has(engine) && twin >= 0 {
		m.row("engine's p99 over twin's", "x", harness.Paired(m.P99(m.Find(engine)), m.P99(twin)), "vs "+m.Programs[twin].Name)
	}
	m.out.Notes = append(m.out.Notes, fmt.Sprintf(
		"%.3g M records/s, due in bursts of %d; latency is from when a burst was due to when a record of it is in the sink; A/A is of p99",
		rate/1e6, hopBatch))
	r.done(m)
	return nil
}

// isBatches tells the twins with channels of batches.
func isBatches(p harness.Program) bool { return strings.HasPrefix(p.Name, "chan []T") }
