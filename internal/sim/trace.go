package sim

import (
	"fmt"
	"strings"
)

// Trace is what happened in a run: a hash of everything, and the last events
// in words. Two runs are the same if their hashes are.
type Trace struct {
	hash   uint64
	events uint64
	last   [lastEvents]event
}

// lastEvents is how many events are kept to be shown beside a failure.
const lastEvents = 60

type event struct {
	what, who string
	n         uint64
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// Note adds an event.
func (t *Trace) Note(what, who string, n uint64) {
	if t.events == 0 {
		t.hash = fnvOffset
	}
	t.last[t.events%lastEvents] = event{what, who, n}
	t.events++
	h := t.hash
	for i := range len(what) {
		h = (h ^ uint64(what[i])) * fnvPrime
	}
	for i := range len(who) {
		h = (h ^ uint64(who[i])) * fnvPrime
	}
	t.hash = (h ^ mix(n, t.events)) * fnvPrime
}

// Hash is the hash of all events so far.
func (t *Trace) Hash() uint64 { return t.hash }

// Events is the number of events so far.
func (t *Trace) Events() uint64 { return t.events }

// Tail has the last events, oldest first, one a line.
func (t *Trace) Tail() string {
	var b strings.Builder
	for i := max(0, int64(t.events)-lastEvents); i < int64(t.events); i++ {
		e := t.last[i%lastEvents]
		fmt.Fprintf(&b, "  %6d %-12s %s %d\n", i, e.what, e.who, e.n)
	}
	return b.String()
}

// mix is a hash of two words (the finaliser of SplitMix64).
func mix(a, b uint64) uint64 {
	z := a + 0x9e3779b97f4a7c15*(b+1)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
