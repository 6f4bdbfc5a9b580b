package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/flow"
)

// routes is the state of a twin. Pointers make an update one look-up.
type routes map[route]*delays

func (m routes) add(f *flight) {
	k := f.Route()
	d := m[k]
	if d == nil {
		d = new(delays)
		m[k] = d
	}
	d.add(f)
}

// merge folds from into m and may keep its values.
func (m routes) merge(from routes) {
	for k, d := range from {
		if have := m[k]; have != nil {
			have.merge(d)
		} else {
			m[k] = d
		}
	}
}

// write sends the results to a sink.
func (m routes) write(ctx context.Context, records int64) (harness.Answer, error) {
	sink := routeSink()
	w := sink.writer(0)
	var batch []routeDelays
	for k, d := range m {
		batch = append(batch, routeDelays{Key: k, Value: *d})
	}
	if err := errors.Join(w.Write(ctx, batch), w.finish(ctx)); err != nil {
		return harness.Answer{}, err
	}
	return sink.answer(records), nil
}

// eachFlight reads the splits that next gives out, in batches.
func eachFlight(ctx context.Context, src flow.Source[flight], splits []flow.Split, next *atomic.Int64, pass func([]flight)) (read int64, err error) {
	buf := make([]flight, hopBatch)
	for {
		i := int(next.Add(1)) - 1
		if i >= len(splits) {
			return read, nil
		}
		n, err := readSplit(ctx, src, splits[i], buf, pass)
		read += n
		if err != nil {
			return read, fmt.Errorf("read split %s: %w", splits[i].ID, err)
		}
	}
}

func readSplit(ctx context.Context, src flow.Source[flight], split flow.Split, buf []flight, pass func([]flight)) (read int64, err error) {
	in, err := src.Open(ctx, split, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	for {
		n, err := in.Read(ctx, buf)
		read += int64(n)
		pass(buf[:n])
		if err == io.EOF {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

// flightsProgram opens the source and hands over its splits.
func flightsProgram(name string, data flightData, run func(ctx context.Context, src flow.Source[flight], splits []flow.Split) (routes, int64, error)) harness.Program {
	return harness.Program{Name: name, Run: func(ctx context.Context, _ harness.Load) (harness.Answer, error) {
		src := data.source()
		splits, err := src.Splits(ctx)
		if err != nil {
			return harness.Answer{}, err
		}
		result, read, err := run(ctx, src, splits)
		if err != nil {
			return harness.Answer{}, err
		}
		return result.write(ctx, read)
	}}
}

func flightsLoop(data flightData) harness.Program {
	return flightsProgram("one loop", data, func(ctx context.Context, src flow.Source[flight], splits []flow.Split) (routes, int64, error) {
		state := routes{}
		read, err := eachFlight(ctx, src, splits, new(atomic.Int64), func(batch []flight) {
			for i := range batch {
				state.add(&batch[i])
			}
		})
		return state, read, err
	})
}

// flightsMerge has a map for each lane, which takes the next split when it has
// read one, and adds the maps up at the end.
func flightsMerge(name string, data flightData, start func(int, func())) harness.Program {
	return flightsProgram(name, data, func(ctx context.Context, src flow.Source[flight], splits []flow.Split) (routes, int64, error) {
		var next, read atomic.Int64
		var parts [twinLanes]routes
		err := both(start, func(lane int) error {
			state := routes{}
			parts[lane] = state
			n, err := eachFlight(ctx, src, splits, &next, func(batch []flight) {
				for i := range batch {
					state.add(&batch[i])
				}
			})
			read.Add(n)
			return err
		})
		for _, part := range parts[1:] {
			parts[0].merge(part)
		}
		return parts[0], read.Load(), err
	})
}

// flightsBatches has readers that send batches to whoever aggregates; a map for
// each of those.
func flightsBatches(name string, data flightData, start func(int, func())) harness.Program {
	return flightsProgram(name, data, func(ctx context.Context, src flow.Source[flight], splits []flow.Split) (routes, int64, error) {
		var next, read atomic.Int64
		var parts [twinLanes]routes
		produce := func(lane int, to []chan *box[flight]) error {
			empty := newBoxes[flight](hopDepth, hopBatch)
			n, err := eachFlight(ctx, src, splits, &next, func(batch []flight) {
				b := <-empty
				b.recs = append(b.recs[:0], batch...)
				to[lane] <- b
			})
			read.Add(n)
			return err
		}
		consume := func(lane int, from chan *box[flight]) error {
			state := routes{}
			parts[lane] = state
			for b := range from {
				for i := range b.recs {
					state.add(&b.recs[i])
				}
				b.home <- b
			}
			return nil
		}
		err := lanes(twinOptions{start: start}, hopDepth, produce, consume)
		for _, part := range parts[1:] {
			parts[0].merge(part)
		}
		return parts[0], read.Load(), err
	})
}

// flightsItems sends one flight at a time.
func flightsItems(name string, data flightData, start func(int, func())) harness.Program {
	return flightsProgram(name, data, func(ctx context.Context, src flow.Source[flight], splits []flow.Split) (routes, int64, error) {
		var next, read atomic.Int64
		var parts [twinLanes]routes
		produce := func(lane int, to []chan flight) error {
			n, err := eachFlight(ctx, src, splits, &next, func(batch []flight) {
				for i := range batch {
					to[lane] <- batch[i]
				}
			})
			read.Add(n)
			return err
		}
		consume := func(lane int, from chan flight) error {
			state := routes{}
			parts[lane] = state
			for f := range from {
				state.add(&f)
			}
			return nil
		}
		err := lanes(twinOptions{start: start}, hopPlaces, produce, consume)
		for _, part := range parts[1:] {
			parts[0].merge(part)
		}
		return parts[0], read.Load(), err
	})
}
