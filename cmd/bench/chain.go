package main

import (
	"context"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

// The steps of the chain. Each does harness.Work, so about 20 ns.

func chainFirst(in, out *event) {
	*out = *in
	out.Value = int64(harness.Work(uint64(in.Value)))
}

// chainKeep drops about one event in sixteen.
func chainKeep(e *event) bool { return harness.Work(uint64(e.Value))>>60 != 0 }

func chainLast(in, out *event) {
	*out = *in
	out.Tag = harness.Work(in.Tag)
}

// eachEvent makes a step for whole batches.
func eachEvent(step func(in, out *event)) func(in, out []event) error {
	return func(in, out []event) error {
		for i := range in {
			step(&in[i], &out[i])
		}
		return nil
	}
}

// runChain compares a chain of operators on one worker with one loop.
func runChain(ctx context.Context, r *runner) error {
	const name = "20 ns a step"
	if !r.wants(name) {
		return nil
	}
	load := harness.Load{Records: r.size(2_000_000)}
	makeLoad := func() harness.Load { return load }
	engine, whole := engines.chain(false, 1), engines.chain(true, 1)
	split, err := bestChainBatches(ctx, load)
	if err != nil {
		return err
	}
	programs := exists(append([]harness.Program{chainLoop(), engine, whole}, split...)...)
	m, err := r.play(ctx, name, programs, makeLoad)
	if err != nil {
		return err
	}
	m.faster("engine, a record at a time, vs loop", engine.Name, "one loop")
	m.faster("engine, MapBatch, vs loop", whole.Name, "one loop")
	m.faster("loop vs channels of batches, 2 threads", "one loop", "chan []T")
	m.faster("loop vs channels of items, 2 threads", "one loop", "chan T")
	if err := m.allocations(ctx, engine, load); err != nil {
		return err
	}
	r.done(m)
	return nil
}

// bestChainBatches are the twins that use two threads.
func bestChainBatches(ctx context.Context, load harness.Load) ([]harness.Program, error) {
	var twins []harness.Program
	for _, start := range starts {
		best, err := harness.Best(ctx, []harness.Program{
			chainBatches("chan []T, "+start.name+", b=256", 256, start.run),
			chainBatches("chan []T, "+start.name+", b=1024", 1024, start.run),
		}, 2, load)
		if err != nil {
			return nil, err
		}
		twins = append(twins, best)
	}
	for _, start := range starts {
		twins = append(twins, chainItems("chan T, "+start.name, start.run))
	}
	return twins, nil
}

// chainLoop does all of it in one loop over a batch, with the same reader and
// writer.
func chainLoop() harness.Program {
	return harness.Program{Name: "one loop", Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := eventSource(load, 1), eventSink(load)
		in, w := mustOpen(src, 0), sink.writer(0)
		buf, out := make([]event, hopBatch), make([]event, 0, hopBatch)
		for {
			n, err := in.Read(ctx, buf)
			out = out[:0]
			for i := range buf[:n] {
				e := &buf[i]
				chainFirst(e, e)
				if !chainKeep(e) {
					continue
				}
				out = out[:len(out)+1]
				chainLast(e, &out[len(out)-1])
			}
			if err := w.Write(ctx, out); err != nil {
				return harness.Answer{}, err
			}
			if drained(err) {
				break
			}
		}
		return eventsDone(ctx, src, sink, in, w)
	}}
}

// chainBatches cuts the chain in two: read, map and filter; map and write.
func chainBatches(name string, batch int, start func(int, func())) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := eventSource(load, 1), eventSink(load)
		in, w := mustOpen(src, 0), sink.writer(0)
		full, empty := make(chan *box[event], hopDepth), newBoxes[event](hopDepth, batch)
		start(0, func() {
			defer close(full)
			for end := false; !end; {
				b := <-empty
				n, err := in.Read(ctx, b.recs[:batch])
				end = drained(err)
				recs, kept := b.recs[:n], 0
				for i := range recs {
					chainFirst(&recs[i], &recs[i])
					if chainKeep(&recs[i]) {
						recs[kept] = recs[i]
						kept++
					}
				}
				b.recs = recs[:kept]
				full <- b
			}
		})
		done := make(chan error, 1)
		start(1, func() {
			var failed error
			for b := range full {
				for i := range b.recs {
					chainLast(&b.recs[i], &b.recs[i])
				}
				if err := w.Write(ctx, b.recs); err != nil && failed == nil {
					failed = err
				}
				b.home <- b
			}
			done <- failed
		})
		if err := <-done; err != nil {
			return harness.Answer{}, err
		}
		return eventsDone(ctx, src, sink, in, w)
	}}
}

// chainItems cuts it at the same place and sends one event at a time.
func chainItems(name string, start func(int, func())) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := eventSource(load, 1), eventSink(load)
		in, w := mustOpen(src, 0), sink.writer(0)
		items := make(chan event, hopPlaces)
		start(0, func() {
			defer close(items)
			buf := make([]event, hopBatch)
			for end := false; !end; {
				n, err := in.Read(ctx, buf)
				end = drained(err)
				for i := range buf[:n] {
					chainFirst(&buf[i], &buf[i])
					if chainKeep(&buf[i]) {
						items <- buf[i]
					}
				}
			}
		})
		done := make(chan error, 1)
		start(1, func() {
			done <- gather(items, func(recs []event) error {
				for i := range recs {
					chainLast(&recs[i], &recs[i])
				}
				return w.Write(ctx, recs)
			})
		})
		if err := <-done; err != nil {
			return harness.Answer{}, err
		}
		return eventsDone(ctx, src, sink, in, w)
	}}
}
