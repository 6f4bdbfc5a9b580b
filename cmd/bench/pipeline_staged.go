package main

import (
	"context"
	"errors"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

// stagedBatches has a goroutine for each stage of each lane, as Go pipelines
// are often drawn: generate, map and partition, aggregate, map, sink. A box
// goes home from where it is read last.
func stagedBatches(name string, o twinOptions) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := eventSource(load, twinLanes), eventSink(load)
		produce := func(lane int, to []chan *box[event]) error {
			made := make(chan *box[event], hopDepth)
			o.start(lane, func() {
				defer close(made)
				in, empty := mustOpen(src, lane), newBoxes[event](hopDepth, o.batch)
				for end := false; !end; {
					b := <-empty
					n, err := in.Read(ctx, b.recs[:o.batch])
					end = drained(err)
					b.recs = b.recs[:n]
					made <- b
				}
				_ = in.Close() // a generated source: its Close cannot fail
			})
			out := newScatter[event](to, o.batch)
			for b := range made {
				for i := range b.recs {
					pipelineIn(&b.recs[i], out.slot(target(b.recs[i].Key)))
				}
				b.home <- b
			}
			out.flush()
			return nil
		}
		consume := func(lane int, from chan *box[event]) error {
			counted, mapped := make(chan *box[event], hopDepth), make(chan *box[event], hopDepth)
			o.start(lane, func() {
				defer close(counted)
				state := keyState{}
				for b := range from {
					for i := range b.recs {
						state.update(&b.recs[i])
					}
					counted <- b
				}
			})
			o.start(lane, func() {
				defer close(mapped)
				for b := range counted {
					for i := range b.recs {
						pipelineOut(&b.recs[i], &b.recs[i])
					}
					mapped <- b
				}
			})
			w := sink.writer(lane)
			var failed error
			for b := range mapped {
				failed = errors.Join(failed, w.Write(ctx, b.recs))
				b.home <- b
			}
			return errors.Join(failed, w.finish(ctx))
		}
		if err := lanes(o, hopDepth, produce, consume); err != nil {
			return harness.Answer{}, err
		}
		return sink.answer(src.read.Load()), nil
	}}
}
