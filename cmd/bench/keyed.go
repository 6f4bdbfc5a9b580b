package main

import (
	"context"
	"fmt"
	"io"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/flow"
)

// hit is the record of the keyed suite.
type hit struct{ Key, Value uint64 }

func (h *hit) key() uint64 { return h.Key }

type keyCount = flow.KeyValue[uint64, int64]

// mostKeys is the largest number of keys.
const mostKeys = 10_000_000

// hitSource generates hits with that many keys, all as likely, in every split.
func hitSource(load harness.Load, keys int) *source[hit] {
	return &source[hit]{splits: twinLanes, open: func(split int) fill[hit] {
		left := share(load.Records, twinLanes, split)
		state := harness.Mix(uint64(split) + 1)
		return func(buf []hit) (int, error) {
			if left == 0 {
				return 0, io.EOF
			}
			n := min(len(buf), left)
			left -= n
			for i := range buf[:n] {
				state = state*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
				buf[i] = hit{Key: ((state>>32)*uint64(keys)>>32 + 1) * golden, Value: state}
			}
			return n, nil
		}
	}}
}

func countSink() *sink[keyCount] {
	return &sink[keyCount]{check: func(_ int, batch []keyCount) (sum uint64) {
		for i := range batch {
			sum += harness.Mix(batch[i].Key ^ uint64(batch[i].Value)<<40)
		}
		return sum
	}}
}

// runKeyed plays counts at three sizes of state, its memory, and the stalls of
// growth.
func runKeyed(ctx context.Context, r *runner) error {
	for _, c := range []struct {
		name          string
		keys, records int
	}{{"10 k keys", 10_000, 4_000_000}, {"1 M keys", 1_000_000, 6_000_000}, {"10 M keys", mostKeys, 12_000_000}} {
		if !r.wants(c.name) {
			continue
		}
		if err := playKeyed(ctx, r, c.name, c.keys, harness.Load{Records: r.size(c.records)}); err != nil {
			return err
		}
	}
	if r.wants("memory, 10 M keys") {
		err := playMemory(ctx, r, memoryCase{
			name: "memory, 10 M keys", records: r.size(3 * mostKeys), row: "peak RSS of the engine",
			engine: engines.keyed(mostKeys, 2).Name, twin: keyedLoop(mostKeys).Name,
		})
		if err != nil {
			return err
		}
	}
	if r.wants("growth") {
		playGrowth(r)
	}
	return nil
}

func playKeyed(ctx context.Context, r *runner, name string, keys int, load harness.Load) error {
	one, two := engines.keyed(keys, 1), engines.keyed(keys, 2)
	loop := keyedLoop(keys)
	programs := []harness.Program{one, two, loop, harness.Copies(loop, 2)}
	for _, start := range starts {
		programs = append(programs, keyedMerge("2 maps, merged, "+start.name, keys, start.run))
	}
	for _, start := range starts {
		var sizes []harness.Program
		for _, batch := range []int{256, 1024} {
			sizes = append(sizes, keyedShuffle(fmt.Sprintf("chan []T, %s, b=%d", start.name, batch), keys, twinOptions{batch: batch, start: start.run}))
		}
		best, err := harness.Best(ctx, sizes, 1, load)
		if err != nil {
			return err
		}
		programs = append(programs, best)
	}
	programs = append(programs, keyedItems("chan T, free", keys, harness.GoFree))
	if one.Run != nil {
		programs = append(programs, harness.Copies(one, 2))
	}
	m, err := r.play(ctx, name, exists(programs...), func() harness.Load { return load })
	if err != nil {
		return err
	}
	m.faster("engine, 1 worker, vs loop", one.Name, loop.Name)
	m.ceiling(one.Name)
	m.ofCeiling("engine, 2 workers vs 1, of the ceiling", two.Name, one.Name, one.Name)
	m.faster("engine, 2 workers, vs 2 maps, merged", two.Name, "2 maps")
	m.faster("engine, 2 workers, vs channels of batches", two.Name, "chan []T")
	m.faster("engine, 2 workers, vs channels of items", two.Name, "chan T")
	m.ceiling(loop.Name)
	m.faster("2 maps, merged, vs loop", fastestOf(m, "2 maps"), loop.Name)
	if err := m.allocations(ctx, one, load); err != nil {
		return err
	}
	r.done(m)
	return nil
}
