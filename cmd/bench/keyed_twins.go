package main

import (
	"context"
	"errors"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

// writeCounts writes a map in batches.
func writeCounts(ctx context.Context, w *writer[keyCount], counts map[uint64]int64) error {
	batch := make([]keyCount, 0, hopBatch)
	for k, n := range counts {
		if batch = append(batch, keyCount{Key: k, Value: n}); len(batch) == cap(batch) {
			if err := w.Write(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return errors.Join(w.Write(ctx, batch), w.finish(ctx))
}

// countSplit counts a whole split into counts.
func countSplit(ctx context.Context, src *source[hit], split int, counts map[uint64]int64) error {
	in, buf := mustOpen(src, split), make([]hit, hopBatch)
	for {
		n, err := in.Read(ctx, buf)
		for i := range buf[:n] {
			counts[buf[i].Key]++
		}
		if drained(err) {
			return in.Close()
		}
	}
}

// keyedLoop is m[k]++ in a loop.
func keyedLoop(keys int) harness.Program {
	return harness.Program{Name: "one loop, m[k]++", Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := hitSource(load, keys), countSink()
		counts := map[uint64]int64{}
		for split := range src.splits {
			if err := countSplit(ctx, src, split, counts); err != nil {
				return harness.Answer{}, err
			}
		}
		if err := writeCounts(ctx, sink.writer(0), counts); err != nil {
			return harness.Answer{}, err
		}
		return sink.answer(src.read.Load()), nil
	}}
}

// keyedMerge counts each split in a map of its own and adds them up at the end:
// no exchange at all, for twice the memory.
func keyedMerge(name string, keys int, start func(int, func())) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := hitSource(load, keys), countSink()
		var parts [twinLanes]map[uint64]int64
		err := both(start, func(lane int) error {
			parts[lane] = map[uint64]int64{}
			return countSplit(ctx, src, lane, parts[lane])
		})
		if err != nil {
			return harness.Answer{}, err
		}
		for _, part := range parts[1:] {
			for k, n := range part {
				parts[0][k] += n
			}
		}
		if err := writeCounts(ctx, sink.writer(0), parts[0]); err != nil {
			return harness.Answer{}, err
		}
		return sink.answer(src.read.Load()), nil
	}}
}

// keyedShuffle sends each key to the lane that counts it, in batches.
func keyedShuffle(name string, keys int, o twinOptions) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := hitSource(load, keys), countSink()
		produce := func(lane int, to []chan *box[uint64]) error {
			in, out, buf := mustOpen(src, lane), newScatter(to, o.batch), make([]hit, hopBatch)
			for end := false; !end; {
				n, err := in.Read(ctx, buf)
				end = drained(err)
				for i := range buf[:n] {
					*out.slot(target(buf[i].Key)) = buf[i].Key
				}
			}
			out.flush()
			return in.Close()
		}
		consume := func(lane int, from chan *box[uint64]) error {
			counts := map[uint64]int64{}
			for b := range from {
				for _, k := range b.recs {
					counts[k]++
				}
				b.home <- b
			}
			return writeCounts(ctx, sink.writer(lane), counts)
		}
		if err := lanes(o, hopDepth, produce, consume); err != nil {
			return harness.Answer{}, err
		}
		return sink.answer(src.read.Load()), nil
	}}
}

// keyedItems sends one key at a time.
func keyedItems(name string, keys int, start func(int, func())) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := hitSource(load, keys), countSink()
		produce := func(lane int, to []chan uint64) error {
			in, buf := mustOpen(src, lane), make([]hit, hopBatch)
			for end := false; !end; {
				n, err := in.Read(ctx, buf)
				end = drained(err)
				for i := range buf[:n] {
					to[target(buf[i].Key)] <- buf[i].Key
				}
			}
			return in.Close()
		}
		consume := func(lane int, from chan uint64) error {
			counts := map[uint64]int64{}
			for k := range from {
				counts[k]++
			}
			return writeCounts(ctx, sink.writer(lane), counts)
		}
		if err := lanes(twinOptions{start: start}, hopPlaces, produce, consume); err != nil {
			return harness.Answer{}, err
		}
		return sink.answer(src.read.Load()), nil
	}}
}
