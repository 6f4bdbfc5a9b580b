package main

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/flow"
)

// waits are the ways to wait for a paced source: a free goroutine yields to
// goroutines, a pinned one to threads, and either may sleep for a moment.
var waits = map[string]func(){
	"free": runtime.Gosched, "pinned": harness.Yield,
	"nap": func() { harness.Nap(20 * time.Microsecond) },
}

var waitNames = map[string]string{"free": "yields", "pinned": "yields", "nap": "naps"}

// keyState is the aggregate of one lane in a twin. Pointers make an update one
// look-up instead of two.
type keyState map[uint64]*pipelineState

func (k keyState) update(e *event) {
	s := k[e.Key]
	if s == nil {
		s = new(pipelineState)
		k[e.Key] = s
	}
	s.step(e, e)
}

// pipelineLoop does the whole job in one loop, with the same reader and writer.
func pipelineLoop() harness.Program {
	return harness.Program{Name: "one loop", Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := eventSource(load, twinLanes), eventSink(load)
		w, state, buf := sink.writer(0), keyState{}, make([]event, hopBatch)
		var ins []flow.Reader[event]
		for split := range twinLanes {
			ins = append(ins, mustOpen(src, split))
		}
		for open := len(ins); open > 0; {
			for i, in := range ins {
				if in == nil {
					continue
				}
				n, err := in.Read(ctx, buf)
				for j := range buf[:n] {
					e := &buf[j]
					pipelineIn(e, e)
					state.update(e)
					pipelineOut(e, e)
				}
				if err := w.Write(ctx, buf[:n]); err != nil {
					return harness.Answer{}, err
				}
				if drained(err) {
					ins[i] = nil
					open--
					if err := in.Close(); err != nil {
						return harness.Answer{}, err
					}
				}
			}
		}
		if err := w.finish(ctx); err != nil {
			return harness.Answer{}, err
		}
		return sink.answer(src.read.Load()), nil
	}}
}

// fusedBatches has two goroutines a lane: read, map and partition; aggregate,
// map and write. No channel but those that the shuffle needs.
func fusedBatches(name string, o twinOptions) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := eventSource(load, twinLanes), eventSink(load)
		produce := func(lane int, to []chan *box[event]) error {
			in, out, buf := mustOpen(src, lane), newScatter[event](to, o.batch), make([]event, o.batch)
			for end := false; !end; {
				n, err := in.Read(ctx, buf)
				end = drained(err)
				for i := range buf[:n] {
					pipelineIn(&buf[i], out.slot(target(buf[i].Key)))
				}
				if n == 0 {
					out.flush()
					if !end {
						o.wait()
					}
				}
			}
			return in.Close()
		}
		consume := func(lane int, from chan *box[event]) error {
			w, state := sink.writer(lane), keyState{}
			var failed error
			for b := range from {
				for i := range b.recs {
					e := &b.recs[i]
					state.update(e)
					pipelineOut(e, e)
				}
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

// fusedItems has the same goroutines, and sends one event at a time.
func fusedItems(name string, start func(int, func())) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
		src, sink := eventSource(load, twinLanes), eventSink(load)
		produce := func(lane int, to []chan event) error {
			in, buf := mustOpen(src, lane), make([]event, hopBatch)
			for end := false; !end; {
				n, err := in.Read(ctx, buf)
				end = drained(err)
				for i := range buf[:n] {
					pipelineIn(&buf[i], &buf[i])
					to[target(buf[i].Key)] <- buf[i]
				}
			}
			return in.Close()
		}
		consume := func(lane int, from chan event) error {
			w, state := sink.writer(lane), keyState{}
			failed := gather(from, func(recs []event) error {
				for i := range recs {
					state.update(&recs[i])
					pipelineOut(&recs[i], &recs[i])
				}
				return w.Write(ctx, recs)
			})
			return errors.Join(failed, w.finish(ctx))
		}
		if err := lanes(twinOptions{start: start}, hopPlaces, produce, consume); err != nil {
			return harness.Answer{}, err
		}
		return sink.answer(src.read.Load()), nil
	}}
}
