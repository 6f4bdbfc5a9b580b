package main

import (
	"io"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

// event is the record of the ring, chain and pipeline suites: 48 bytes.
type event struct {
	Key   uint64
	Value int64
	Count int64 // how many of this key came so far, with this one
	Total int64 // the sum of their values
	Due   int64 // when it was due to be sent, on harness.Now; 0: latency doesn't matter
	Tag   uint64
}

func (e *event) key() uint64 { return e.Key }

// eventKeys is how many keys there are, over all splits.
const eventKeys = 4096

// golden spreads small numbers over 64 bits (2^64 divided by the golden ratio).
const golden = 0x9e3779b97f4a7c15

// eventSource generates load.Records events. A key occurs in one split only,
// so that the order of a key's records is defined, and the answer with it.
func eventSource(load harness.Load, splits int) *source[event] {
	return &source[event]{splits: splits, open: func(split int) fill[event] {
		return eventFill(load, splits, split)
	}}
}

func eventFill(load harness.Load, splits, split int) fill[event] {
	left := share(load.Records, splits, split)
	var due *harness.Due
	if load.Pace != nil {
		due = load.Pace.Schedule()
	}
	state, keys := harness.Mix(uint64(split)+1), uint64(eventKeys/splits)
	return func(buf []event) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		n, at := min(len(buf), left), int64(0)
		if due != nil {
			n, at = due.Next(harness.Now(), n)
		}
		left -= n
		for i := range buf[:n] {
			state = state*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
			id := (state>>32)*keys>>32*uint64(splits) + uint64(split)
			buf[i] = event{Key: (id + 1) * golden, Value: int64(state >> 40), Due: at, Tag: state}
		}
		return n, nil
	}
}

// eventSink checks events and records the latency of those that have a time
// when they were due. The clock is read once for a batch.
func eventSink(load harness.Load) *sink[event] {
	return &sink[event]{check: func(lane int, batch []event) uint64 {
		if load.Latency != nil {
			recordLatency(load.Latency, lane, batch)
		}
		var sum uint64
		for i := range batch {
			e := &batch[i]
			h := e.Key ^ uint64(e.Value)*0xbf58476d1ce4e5b9 ^ uint64(e.Count)*0x94d049bb133111eb ^ uint64(e.Total)*golden ^ e.Tag
			sum += (h ^ h>>29) * golden
		}
		return sum
	}}
}

// recordLatency records runs of events that were due together at once.
func recordLatency(l *harness.Latency, lane int, batch []event) {
	now := harness.Now()
	for i := 0; i < len(batch); {
		due, from := batch[i].Due, i
		for i < len(batch) && batch[i].Due == due {
			i++
		}
		if due != 0 {
			l.Record(lane, now-due, int64(i-from))
		}
	}
}
