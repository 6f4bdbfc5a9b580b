package exec

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// splitPool holds the splits of one source; the source's tasks draw from it.
// A split that nobody drew yet holds event time back everywhere. Safe for concurrent use.
type splitPool struct {
	splits atomic.Pointer[[]flow.Split] // grows only
	next   atomic.Int64
}

func newSplitPool(splits []flow.Split) *splitPool {
	p := &splitPool{}
	p.splits.Store(&splits)
	return p
}

// claim draws a split and returns its index, or false when none is left.
func (p *splitPool) claim() (int, bool) {
	for {
		i := p.next.Load()
		if i >= int64(len(*p.splits.Load())) {
			return 0, false
		}
		if p.next.CompareAndSwap(i, i+1) {
			return int(i), true
		}
	}
}

func (p *splitPool) unbegun() bool { return p.next.Load() < int64(len(*p.splits.Load())) }

func (p *splitPool) count() int { return len(*p.splits.Load()) }

func (p *splitPool) get(i int) flow.Split { return (*p.splits.Load())[i] }

// id is the ID of split i, "" if there is no such split.
func (p *splitPool) id(i int) string {
	if all := *p.splits.Load(); i >= 0 && i < len(all) {
		return all[i].ID
	}
	return ""
}

// add appends the splits not known yet. Only the lister calls it.
func (p *splitPool) add(found []flow.Split) (added int) {
	all := *p.splits.Load()
	known := make(map[string]bool, len(all))
	for _, s := range all {
		known[s.ID] = true
	}
	grown := all[:len(all):len(all)]
	for _, s := range found {
		if !known[s.ID] {
			known[s.ID] = true
			grown = append(grown, s)
			added++
		}
	}
	if added > 0 {
		p.splits.Store(&grown)
	}
	return added
}

// listSplits asks a source what there is to read.
func listSplits(ctx context.Context, n *flow.Node) ([]flow.Split, error) {
	var splits []flow.Split
	err := guarded(n, func() (err error) {
		splits, err = n.Source.Splits(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the splits of source %q: %w", n.Name, err)
	}
	seen := make(map[string]bool, len(splits))
	for _, s := range splits {
		if seen[s.ID] {
			return nil, fmt.Errorf("list the splits of source %q: two splits have the ID %q", n.Name, s.ID)
		}
		seen[s.ID] = true
	}
	return splits, nil
}

// source is the reading side of a task whose root reads. A bounded source has
// one pump a task, which draws one split after the other; an unbounded one has
// a pump for each split, since all must be read at once. A source that never
// blocks is read inline, on the worker.
type source struct {
	task   *task
	node   *flow.Node
	pool   *splitPool
	inline *splitReader
	batch  flow.Batch  // inline: the one batch
	marks  []*operator // those that make the times of its records
	dry    bool        // inline: the last read found nothing that is due
	done   bool        // inline: no split left
	// reading, inline: code of the source runs, or was left by a panic.
	reading bool
	// pumps grows only. Owner: the task.  Observed by: whoever wakes all.
	pumps atomic.Pointer[[]*pump]
	drawn atomic.Int64 // splits drawn by its pumps, begun or about to
	begun int64        // beginnings consumed
	// finished counts the ends consumed.
	finished int64
	adopted  int // unbounded: splits of the pool seen
}

func (s *source) begins(split int) {
	s.begun++
	for _, o := range s.marks {
		o.watermarking.SplitBegins(split)
	}
}

func (s *source) ends(split int) {
	s.finished++
	for _, o := range s.marks {
		o.watermarking.SplitEnds(split)
	}
}

// exhausted says whether the source can bring nothing more.
func (s *source) exhausted() bool {
	if s.inline != nil {
		return s.done
	}
	return s.node.Source.Bounded
}

// unbegun says whether a split of the source is still to begin here: not drawn
// by any task, or drawn by this one and its beginning not consumed yet. The
// order of the two looks matters: a pump counts before it draws.
//
// A bounded source without a split in hand counts as one that has something to
// begin: it is not idle but about to end, and what its consumers still hold
// (timers) must not be overtaken by the event time of others.
func (s *source) unbegun() bool {
	if s.node.Source.Bounded && (s.pool.unbegun() || s.begun == s.finished) {
		return true
	}
	return s.drawn.Load() > s.begun
}

// adopt starts pumps for this task's share of the splits of an unbounded
// source that it has not seen yet.
func (s *source) adopt() (progress bool) {
	if s.node.Source.Bounded {
		return false
	}
	for all := s.pool.count(); s.adopted < all; s.adopted++ {
		if s.adopted%s.task.chain.parallelism != s.task.index {
			continue
		}
		split := s.adopted
		s.task.job.startPump(newPump(s, &split))
		progress = true
	}
	return progress
}

// started returns the pumps. Any thread may call it.
func (s *source) started() []*pump {
	if all := s.pumps.Load(); all != nil {
		return *all
	}
	return nil
}

// enter adds a pump. The task alone calls it.
func (s *source) enter(p *pump) {
	all := append(s.started()[:len(s.started()):len(s.started())], p)
	s.pumps.Store(&all)
}

// dryWait is how long a worker that has nothing else to do waits before it reads
// an inline source again that had nothing to give.
const dryWait = 20 * time.Microsecond

// readInline reads one batch on the worker.
func (t *task) readInline() (progress bool, err error) {
	s := t.source
	if s.done {
		return false, nil
	}
	t.current = t.root()
	s.reading = true
	event, err := s.inline.next(s.batch)
	s.reading = false
	t.current = nil
	if err != nil {
		return true, t.blame(t.root(), t.readError(s.inline, err))
	}
	s.dry = event.kind == data && s.batch.Len() == 0 && s.batch.Header().Bad == nil
	if s.dry {
		return false, nil
	}
	if s.batch.Len() > 0 || s.batch.Header().Bad != nil {
		if err := t.process(nil, s.batch); err != nil {
			return true, err
		}
		if t.held.batch == nil {
			s.batch.Reset()
		}
	}
	switch event.kind {
	case splitBegins:
		s.begins(event.split)
	case splitEnds:
		s.ends(event.split)
		t.startTime()
	case exhausted:
		s.done = true
		t.inputsChanged()
	}
	return true, nil
}

// readError says where reading failed.
func (t *task) readError(r *splitReader, err error) error {
	return &TaskError{Operator: t.root().node.Name, Task: t.index, Split: r.id(), Position: r.pos, Err: err}
}
