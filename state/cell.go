package state

import (
	"fmt"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/table"
)

// cell is the row of a table that belongs to the key in hand. Handles know the
// type of the value but not that of the key: this is where it is forgotten.
type cell[V any] interface {
	// peek returns the value to read, nil if there is none.
	peek() *V
	// pointer returns the value to change; edit also says whether it is a new,
	// zero one.
	pointer() *V
	edit() (v *V, fresh bool)
	remove()
	// now is the processing time.
	now() flow.Time
}

// plainCell is a cell whose values do not expire by themselves.
type plainCell[K comparable, V any] struct {
	hand   *flow.KeyInHand[K]
	rows   *table.Table[K, V] // nil while the graph is built
	states *flow.States
	name   string
}

func (c *plainCell[K, V]) peek() *V {
	if !c.hand.Held {
		c.noKey()
	}
	return c.rows.Peek(c.hand.Hash, c.hand.Key)
}

func (c *plainCell[K, V]) edit() (*V, bool) {
	if !c.hand.Held {
		c.noKey()
	}
	before := c.rows.Len()
	v := c.rows.Edit(c.hand.Hash, c.hand.Key)
	return v, c.rows.Len() != before
}

func (c *plainCell[K, V]) pointer() *V {
	if !c.hand.Held {
		c.noKey()
	}
	return c.rows.Edit(c.hand.Hash, c.hand.Key)
}

func (c *plainCell[K, V]) remove() {
	if !c.hand.Held {
		c.noKey()
	}
	c.rows.Delete(c.hand.Hash, c.hand.Key)
}

func (c *plainCell[K, V]) now() flow.Time { return c.states.Now() }

func (c *plainCell[K, V]) noKey() {
	panic(fmt.Sprintf("state %q: no key in hand: keyed state can be used where a Ctx is passed, and there only", c.name))
}

// stamped is a value and the processing time of the last write to it.
type stamped[V any] struct {
	at  flow.Time
	val V
}

// expiringCell is a cell whose values are gone some time after the last write.
type expiringCell[K comparable, V any] struct {
	plainCell[K, stamped[V]]
	life flow.Time
}

func (c *expiringCell[K, V]) peek() *V {
	p := c.plainCell.peek()
	if p == nil {
		return nil
	}
	if expired(p.at, c.life, c.now()) {
		c.plainCell.remove()
		return nil
	}
	return &p.val
}

func (c *expiringCell[K, V]) pointer() *V {
	v, _ := c.edit()
	return v
}

func (c *expiringCell[K, V]) edit() (*V, bool) {
	p, fresh := c.plainCell.edit()
	now := c.now()
	if !fresh && expired(p.at, c.life, now) {
		*p, fresh = stamped[V]{}, true
	}
	p.at = now
	return &p.val, fresh
}

// expired says whether what was written at that time has lived its life.
func expired(at, life, now flow.Time) bool { return now-at >= life }
