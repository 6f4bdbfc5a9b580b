package exec

import "github.com/tailrace-io/tailrace/flow"

// element is what a ring carries: a batch or an event.
type element struct {
	batch flow.Batch // with kind data
	kind  elementKind
	split int       // with splitBegins and splitEnds
	time  flow.Time // with watermark
}

type elementKind uint8

const (
	data        elementKind = iota
	watermark               // event time of the producer
	idle                    // the producer does not hold back event time until its next element
	splitBegins             // from a pump only: records of that split follow
	splitEnds               // from a pump only
)
