package flow

import (
	"math"
	"time"

	"github.com/tailrace-io/tailrace/internal/table"
)

// timers are the timers of the keys of one task.
type timers[K comparable] struct {
	event, clock *table.Timers[K] // in microseconds
	tags         tagNames
	// clockEnded says that processing-time timers are not taken any more.
	clockEnded bool
	// awaitUntil is how long the end of data waits for them, once it does.
	awaitUntil time.Time
}

func newTimers[K comparable]() *timers[K] {
	return &timers[K]{event: table.NewTimers[K](), clock: table.NewTimers[K]()}
}

func (t *timers[K]) bytes() int64 {
	return t.event.Bytes() + t.clock.Bytes() + int64(len(t.tags.names))*tagBytes
}

// used marks the tags of all timers.
func (t *timers[K]) used(mark []bool) {
	for w := range t.event.All() {
		mark[w.Tag] = true
	}
	for w := range t.clock.All() {
		mark[w.Tag] = true
	}
}

func (t *timers[K]) count() int { return t.event.Len() + t.clock.Len() }

// tagNames gives a number to each tag in use, since a timer holds no string.
// The zero value is ready.
type tagNames struct {
	ids   map[string]uint32
	names []string
	free  []uint32
	last  uint32
}

const (
	tagBytes  = 64   // memory of one, roughly
	manyTags  = 1024 // below this, tags are never given up
	tagsShare = 2    // tags a timer, above which they are looked through
)

// timerTags says which tags are in use.
type timerTags interface {
	count() int
	used(mark []bool)
}

func (n *tagNames) known(tag string) (uint32, bool) {
	if int(n.last) < len(n.names) && n.names[n.last] == tag {
		return n.last, true
	}
	id, ok := n.ids[tag]
	if ok {
		n.last = id
	}
	return id, ok
}

// id returns the number of tag, a new one if it has none. Tags that no timer
// has any more give theirs back when there are many of them.
func (n *tagNames) id(tag string, of timerTags) uint32 {
	if id, ok := n.known(tag); ok {
		return id
	}
	if len(n.free) == 0 && len(n.names) >= manyTags && len(n.names) >= tagsShare*of.count() {
		n.giveUp(of)
	}
	return n.add(tag)
}

// add gives a number to tag, which has none.
func (n *tagNames) add(tag string) uint32 {
	if n.ids == nil {
		n.ids = map[string]uint32{}
	}
	id := uint32(len(n.names))
	if k := len(n.free); k > 0 {
		id, n.free = n.free[k-1], n.free[:k-1]
		n.names[id] = tag
	} else {
		n.names = append(n.names, tag)
	}
	n.ids[tag], n.last = id, id
	return id
}

func (n *tagNames) giveUp(of timerTags) {
	n.last = math.MaxUint32
	mark := make([]bool, len(n.names))
	of.used(mark)
	for id := len(mark) - 1; id >= 0; id-- {
		if !mark[id] {
			delete(n.ids, n.names[id])
			n.names[id] = ""
			n.free = append(n.free, uint32(id))
		}
	}
}
