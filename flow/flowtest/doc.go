// Package flowtest lets users test what they write for the engine: one
// processor, stepped by hand with a clock that stands still, and sources and
// sinks that live in the test.
//
//	h := flowtest.NewProcess(t, newDetector)
//	h.Send("card-1", flow.Time(1), Payment{Cents: 100})
//	h.Restart()
//	h.Send("card-1", flow.Time(2), Payment{Cents: 5000})
//	got := h.Results()
package flowtest

import (
	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
)

// From is a source of the given records, in one split, for a test of a whole
// job.
func From[T any](records ...T) flow.Source[T] { return memory.From(records...) }

// Collected keeps what its Sink is given; its Records method returns it.
type Collected[T any] = memory.Collected[T]
