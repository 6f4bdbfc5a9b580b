package main

import (
	"context"
	"time"

	"github.com/tailrace-io/tailrace/buffers"
	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

const (
	hopBatch  = 256 // records a batch
	hopDepth  = 8   // batches between the two sides
	hopPlaces = 1024
)

// runRing compares the engine's link with channels: the same records, made by
// one side and added up by the other.
func runRing(ctx context.Context, r *runner) error {
	const name = "48 B"
	if !r.wants(name) {
		return nil
	}
	load := harness.Load{Records: r.size(4_000_000)}
	programs := []harness.Program{
		hopRing("ring, pinned", harness.GoPinned),
		hopRing("ring, free", harness.GoFree),
		hopLoop("one loop"),
		hopBatches("chan []T, pinned", harness.GoPinned),
		hopBatches("chan []T, free", harness.GoFree),
		hopItems("chan T, pinned", harness.GoPinned),
		hopItems("chan T, free", harness.GoFree),
	}
	m, err := r.play(ctx, name, programs, func() harness.Load { return load })
	if err != nil {
		return err
	}
	m.faster("ring vs chan T", "ring, pinned", "chan T")
	m.faster("ring vs chan []T, pinned", "ring, pinned", "chan []T, pinned")
	m.faster("ring vs chan []T, free", "ring, pinned", "chan []T, free")
	if err := m.allocations(ctx, programs[0], load); err != nil {
		return err
	}
	m.out.Notes = append(m.out.Notes,
		"free goroutines may share one core: where cpu s is about wall s, nothing ran in parallel")
	r.done(m)
	return nil
}

// hopFill makes the next events of a batch: cheap, field by field, so that the
// hop shows.
func hopFill(recs []event, from int) {
	n := int64(from)
	for i := range recs {
		e := &recs[i]
		e.Key, e.Value, e.Count = uint64(n), n, n
		e.Total, e.Due, e.Tag = n, n, uint64(n)
		n++
	}
}

// hopSum reads all 48 bytes of each event.
func hopSum(recs []event) uint64 {
	var x, y uint64
	for i := range recs {
		e := &recs[i]
		x += e.Key + uint64(e.Value) + uint64(e.Count)
		y += uint64(e.Total) + uint64(e.Due) + e.Tag
	}
	return x + y*golden
}

// hopLoop fills and adds up in one goroutine: the same work without a hop.
func hopLoop(name string) harness.Program {
	return harness.Program{Name: name, Run: func(_ context.Context, load harness.Load) (harness.Answer, error) {
		recs := make([]event, hopBatch)
		var sum uint64
		for sent := 0; sent < load.Records; {
			n := min(hopBatch, load.Records-sent)
			hopFill(recs[:n], sent)
			sum += hopSum(recs[:n])
			sent += n
		}
		return hopAnswer(load, sum), nil
	}}
}

func hopAnswer(load harness.Load, sum uint64) harness.Answer {
	return harness.Answer{Records: int64(load.Records), Results: int64(load.Records), Sum: sum}
}

// hopRing is what the engine does between two workers: a Link whose buffers go
// back to be filled again, and a Waiter on each side.
func hopRing(name string, start func(int, func())) harness.Program {
	return harness.Program{Name: name, Run: func(_ context.Context, load harness.Load) (harness.Answer, error) {
		batches := make([]*box[event], hopDepth)
		for i := range batches {
			batches[i] = &box[event]{recs: make([]event, 0, hopBatch)}
		}
		link := buffers.NewLink[*box[event]](hopDepth, 0, batches...)
		toProducer, toConsumer := buffers.NewThreadWaiter(), buffers.NewThreadWaiter()
		start(0, func() {
			for sent := 0; sent < load.Records; {
				var b *box[event]
				await(toProducer, func() (ok bool) { b, ok = link.TakeBuffer(); return ok })
				n := min(hopBatch, load.Records-sent)
				b.recs = b.recs[:n]
				hopFill(b.recs, sent)
				sent += n
				link.TryPush(b) // has room: there are no more buffers than slots
				toConsumer.Wake()
			}
		})
		sum := make(chan uint64)
		start(1, func() {
			var total uint64
			for got := 0; got < load.Records; {
				var b *box[event]
				await(toConsumer, func() (ok bool) { link.Look(0); b, ok = link.TryPop(); return ok })
				total += hopSum(b.recs)
				got += len(b.recs)
				link.GiveBack(b)
				toProducer.Wake()
			}
			sum <- total
		})
		return hopAnswer(load, <-sum), nil
	}}
}

// await waits until ready. Its time-out only bounds what a lost wake-up costs,
// and there are none.
func await(w *buffers.Waiter, ready func() bool) {
	for !ready() {
		if w.Spin() {
			continue
		}
		w.Prepare()
		if ready() {
			w.Cancel()
			break
		}
		w.Park(time.Millisecond)
	}
	w.Busy()
}

// hopBatches sends the same boxes over channels.
func hopBatches(name string, start func(int, func())) harness.Program {
	return harness.Program{Name: name, Run: func(_ context.Context, load harness.Load) (harness.Answer, error) {
		full, empty := make(chan *box[event], hopDepth), newBoxes[event](hopDepth, hopBatch)
		start(0, func() {
			for sent := 0; sent < load.Records; {
				b := <-empty
				n := min(hopBatch, load.Records-sent)
				b.recs = b.recs[:n]
				hopFill(b.recs, sent)
				sent += n
				full <- b
			}
			close(full)
		})
		sum := make(chan uint64)
		start(1, func() {
			var total uint64
			for b := range full {
				total += hopSum(b.recs)
				b.home <- b
			}
			sum <- total
		})
		return hopAnswer(load, <-sum), nil
	}}
}

// hopItems sends one event at a time.
func hopItems(name string, start func(int, func())) harness.Program {
	return harness.Program{Name: name, Run: func(_ context.Context, load harness.Load) (harness.Answer, error) {
		items := make(chan event, hopPlaces)
		start(0, func() {
			var one [1]event
			for sent := range load.Records {
				hopFill(one[:], sent)
				items <- one[0]
			}
			close(items)
		})
		sum := make(chan uint64)
		start(1, func() {
			var total uint64
			var one [1]event
			for one[0] = range items {
				total += hopSum(one[:])
			}
			sum <- total
		})
		return hopAnswer(load, <-sum), nil
	}}
}
