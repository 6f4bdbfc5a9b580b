package table

import (
	"errors"
	"math/bits"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// Freezing. Every row carries, in its tag, the phases in which it was written
// since the last commit. A freeze ends the current phase and begins a fresh
// one: that is all it does. Then, until the view is encoded,
//
//   - the first write of the new phase to a page encodes that page first
//     (beforeWrite), so that every page is encoded as it was at the freeze;
//   - the owner encodes the pages nobody writes to, some at a time (Slice).
//
// What is frozen counts as written until a commit says that it is durable:
// the phases of all open and aborted checkpoints are wanted by the next view.
// Phases that are not wanted any more are cleared from the tags by the next
// pass, and only then used again.
//
// Rules, each held by a test:
//
//  1. A slot whose tag has the current phase was written after the newest
//     freeze, and its page was encoded for the view before.
//  2. A freeze takes a phase that no tag carries.
//  3. A segment encodes all its pending pages before its geometry changes, and
//     a backward shift encodes the page of every row that it moves.
//  4. born counts only together with the current phase: only a row inserted in
//     this phase may be deleted without a tombstone.
//  5. segment.dirty is a superset of the phases in its tags.

// ErrBusy refuses a freeze while the view before is still being encoded.
var ErrBusy = errors.New("the view before is still being encoded")

// ErrPhases refuses a freeze when too many checkpoints are open or were
// aborted. The table has then begun a pass that reclaims the phases of the
// aborted ones: freeze again when Slice is done.
var ErrPhases = errors.New("too many checkpoints in flight or aborted")

// Mode says what a view has in it.
type Mode uint8

const (
	// Delta is what changed since the last committed checkpoint, or since Load:
	// the keys deleted, then the rows written.
	Delta Mode = iota
	// Full is all rows.
	Full
)

// freezer is the part of a core that knows phases.
type freezer struct {
	cur      tag      // the phase of writes from now on
	open     []frozen // frozen and neither committed nor aborted, in order of id
	retiring tag      // phases of committed checkpoints, still in tags
	aborted  tag      // phases of aborted ones: written, and in no checkpoint
	deleted  keyLog   // since the last commit
	durable  logPos   // the deletes before it are committed
	tracked  bool     // something was frozen or loaded: deletes must be logged
	view     view
}

type frozen struct {
	id    uint64
	phase tag
	log   logPos // the deletes before it belong to this checkpoint
}

// view is the pass in progress.
type view struct {
	active  bool
	id      uint64
	seq     uint32 // counts passes; segments compare it with theirs
	want    tag    // the rows to encode: those with one of these bits
	retired tag    // phases that the pass clears from the tags
	merge   tag    // phases that the pass replaces
	into    tag    // by this one
	pos     uint64 // the pages before this hash are done
	sink    Sink
	rows    chunkWriter
	keys    chunkWriter
	keysAt  logPos // deletes still to encode: from here
	keysEnd logPos // to here
	err     error  // the first one of a codec
}

func (f *freezer) init() { f.cur = phaseOne }

// Freeze takes a view of the table as it is, in constant time. The view is
// encoded into sink by Slice and by writes. id grows from freeze to freeze.
func (c *core) Freeze(id uint64, mode Mode, sink Sink) error {
	if c.view.active {
		return ErrBusy
	}
	if n := len(c.open); n > 0 {
		invariant.Check(id > c.open[n-1].id, "freeze %d after %d", id, c.open[n-1].id)
	}
	inUse := c.cur | c.retiring | c.aborted
	want := c.cur | c.aborted
	for _, f := range c.open {
		inUse |= f.phase
		want |= f.phase
	}
	fresh := phases &^ inUse
	if fresh == 0 {
		c.sweep()
		return ErrPhases
	}
	from, _ := c.span()
	c.view = view{
		active: true, id: id, seq: c.view.seq + 1, sink: sink, pos: from,
		want: want, retired: c.retiring, merge: c.aborted, into: c.cur,
		keysAt: c.deleted.begin(), keysEnd: c.deleted.end(),
	}
	if mode == Full {
		c.view.want = occupied
		c.view.keysAt = c.view.keysEnd
	} else {
		c.view.err = c.logErr
	}
	c.view.rows.open(chunkRows, c)
	c.view.keys.open(chunkKeys, c)
	c.open = append(c.open, frozen{id, c.cur, c.deleted.end()})
	c.retiring = 0
	c.cur = fresh & -fresh
	c.tracked = true
	return nil
}

// sweep begins a pass that encodes nothing: it clears the phases of committed
// checkpoints and makes one of those of the aborted ones.
func (c *core) sweep() {
	from, _ := c.span()
	into := c.aborted & -c.aborted
	c.view = view{
		active: true, seq: c.view.seq + 1, pos: from,
		retired: c.retiring, merge: c.aborted &^ into, into: into,
	}
	c.retiring = 0
}

// Slice encodes about budget slots of the view in progress. It returns true
// when there is none, or none any more. After an error the view is lost: abort
// its checkpoint.
func (c *core) Slice(budget int) (done bool, err error) {
	v := &c.view
	for v.active && v.err == nil && v.keysAt != v.keysEnd {
		if budget <= 0 {
			return false, nil
		}
		budget -= c.encodeKeys(min(budget, 512))
	}
	_, end := c.span()
	for v.active && v.err == nil {
		if budget <= 0 {
			return false, nil
		}
		s, after := c.nextSegment(v.pos)
		c.look(s)
		budget--
		for s.pend != 0 && budget > 0 {
			page := bits.TrailingZeros64(s.pend)
			s.pend &^= 1 << page
			c.encodePage(s, page)
			budget -= 1 << c.pageLog(s)
		}
		if s.pend != 0 || v.err != nil {
			continue
		}
		c.settled(s)
		if v.pos = after; after == end {
			c.complete()
		}
	}
	if v.err != nil {
		err = v.err
		c.stop()
		return true, err
	}
	return true, nil
}

// complete ends a pass that has seen all: the phases it cleared are free.
func (c *core) complete() {
	v := &c.view
	v.rows.flush()
	v.keys.flush()
	c.aborted &^= v.merge
	c.endPass()
}

// stop ends a pass early: what it was to clear is still in some tags.
func (c *core) stop() {
	c.retiring |= c.view.retired
	c.endPass()
}

func (c *core) endPass() {
	c.view = view{seq: c.view.seq}
	c.deleted.trim(c.durable)
}

// Commit says that checkpoint id is durable, and with it, in effect, all
// before it. Unknown ids are ignored.
func (c *core) Commit(id uint64) {
	n := 0
	for n < len(c.open) && c.open[n].id <= id {
		n++
	}
	if n == 0 || c.open[n-1].id != id {
		return
	}
	invariant.Check(!c.view.active || c.view.sink == nil || c.view.id > id, "commit %d before it is encoded", id)
	for _, f := range c.open[:n] {
		c.retiring |= f.phase
	}
	c.durable = c.open[n-1].log
	if !c.view.active {
		c.deleted.trim(c.durable) // a view that is open needs what its parent lacked
	}
	c.open = append(c.open[:0], c.open[n:]...)
}

// Abort says that checkpoint id will never be durable: what it had is part of
// the next one. Unknown ids are ignored.
func (c *core) Abort(id uint64) {
	for i, f := range c.open {
		if f.id != id {
			continue
		}
		if c.view.active && c.view.sink != nil && c.view.id == id {
			c.stop()
		}
		c.aborted |= f.phase
		c.open = append(c.open[:i], c.open[i+1:]...)
		return
	}
}

// touch is the first write to slot i in the current phase.
func (c *core) touch(s *segment, i uint32) {
	c.beforeWrite(s, i)
	g := tagAt(s.base, i)
	*g = *g&^born | c.cur
	s.dirty |= c.cur
}

// delete removes the row in slot i and remembers its key for the next delta.
func (c *core) delete(s *segment, i uint32) {
	if g := *tagAt(s.base, i); c.tracked && (g&born == 0 || g&c.cur == 0) {
		c.logDelete(s, i)
	}
	c.remove(s, i)
}

// beforeWrite encodes the page of slot i if the view still needs it.
func (c *core) beforeWrite(s *segment, i uint32) {
	if !c.view.active {
		return
	}
	c.look(s)
	page := i >> c.pageLog(s)
	if s.pend&(1<<page) != 0 {
		s.pend &^= 1 << page
		c.encodePage(s, int(page))
	}
}

// look makes the pages of s pending if this view has not looked at it. Doing
// that late is what makes a freeze take constant time.
func (c *core) look(s *segment) {
	v := &c.view
	if s.seq == v.seq {
		return
	}
	s.seq, s.pend = v.seq, 0
	if s.mem.slab == 0 || s.dirty&(v.want|v.retired|v.merge) == 0 && v.want != occupied {
		return
	}
	pages := 1 << max(0, int(s.log)-int(c.pageLog(s)))
	s.pend = ^uint64(0) >> (64 - pages)
}

// finish encodes all pages of s that the view still needs.
func (c *core) finish(s *segment) {
	if !c.view.active {
		return
	}
	c.look(s)
	for s.pend != 0 {
		page := bits.TrailingZeros64(s.pend)
		s.pend &^= 1 << page
		c.encodePage(s, page)
	}
	c.settled(s)
}

// settled takes the phases that a pass has cleared from all tags of s out of
// their summary.
func (c *core) settled(s *segment) { s.dirty &^= c.view.retired | c.view.merge }

// pageLog is log2 of the slots of a page: at most 64 pages a segment.
func (c *core) pageLog(s *segment) uint8 {
	if s.log > c.pageSize+6 {
		return s.log - 6
	}
	return c.pageSize
}
