package sim

import (
	"sync"
	"time"
)

// clock is virtual time: it moves when the scheduler says so.
type clock struct {
	mu     sync.Mutex // After is called by whoever waits for a job
	now    int64      // ns since epoch
	timers []timer
}

type timer struct {
	at int64
	c  chan time.Time
}

// epoch is when every run begins. Mono starts at one hour, since zero means
// "never" to a Stepper.
var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func newClock() *clock { return &clock{now: int64(time.Hour)} }

// Mono implements env.Clock.
func (c *clock) Mono() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Now implements env.Clock.
func (c *clock) Now() time.Time { return epoch.Add(time.Duration(c.Mono())) }

// After implements env.Clock.
func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := timer{at: c.now + int64(d), c: make(chan time.Time, 1)}
	c.timers = append(c.timers, t)
	return t.c
}

// moveTo moves time forward and fires what is due.
func (c *clock) moveTo(at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = max(c.now, at)
	left := c.timers[:0]
	for _, t := range c.timers {
		if t.at > c.now {
			left = append(left, t)
			continue
		}
		t.c <- epoch.Add(time.Duration(c.now))
	}
	c.timers = left
}
