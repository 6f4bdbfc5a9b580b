package state

import (
	"fmt"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// Option changes a keyed state.
type Option func(*options)

type options struct {
	ttl  bool
	life time.Duration
}

// TTL makes what was not written for d disappear, in processing time: the whole
// value of a Value or an Aggregate, the single elements of a List and entries
// of a Map. A write is what Set, Edit, Append, Replace and Add do; reading
// does not count. d is at least 1 µs. What has expired is never seen again; its
// memory is given back by and by, while the task has records to process.
func TTL(d time.Duration) Option {
	return func(o *options) { o.ttl, o.life = true, d }
}

func apply(opts []Option) (o options) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// lifeTime is the life of an entry in microseconds; 0 is for ever.
func (o options) lifeTime() flow.Time { return flow.Time(o.life.Microseconds()) }

func (o options) check() error {
	if o.ttl && o.lifeTime() <= 0 {
		return fmt.Errorf("TTL(%v): must be at least 1 µs", o.life)
	}
	return nil
}

// kind names a kind of state, for Explain.
func (o options) kind(name string) string {
	if o.ttl {
		return fmt.Sprintf("%s, TTL %v", name, o.life)
	}
	return name
}
