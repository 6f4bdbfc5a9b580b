package exec

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// splitReader reads the splits it draws from a pool, one after the other.
type splitReader struct {
	ctx    context.Context
	spec   *flow.SourceSpec
	pool   *splitPool
	fixed  *int          // the only split to read, drawn already
	drawn  *atomic.Int64 // counts splits before they are drawn
	reader flow.SourceReader
	split  int
	pos    flow.Position
}

// exhausted is an event of a splitReader: no split is left. It never travels.
const exhausted elementKind = 255

// readEvent is what happened beside the records.
type readEvent struct {
	kind  elementKind // data: nothing
	split int
}

// next fills b, which is empty, with records of one split, or opens or ends a split.
func (r *splitReader) next(b flow.Batch) (readEvent, error) {
	if r.reader == nil {
		return r.begin()
	}
	err := r.reader.Read(r.ctx, b)
	h := b.Header()
	h.Split = r.split
	r.pos = h.Pos
	if err == nil {
		return readEvent{}, nil
	}
	if err != io.EOF {
		return readEvent{}, err
	}
	split := r.split
	if err := r.close(); err != nil {
		return readEvent{}, wrap("close the split", err)
	}
	return readEvent{kind: splitEnds, split: split}, nil
}

func (r *splitReader) begin() (readEvent, error) {
	r.drawn.Add(1)
	split, ok := r.draw()
	if !ok {
		r.drawn.Add(-1)
		return readEvent{kind: exhausted}, nil
	}
	r.split, r.pos = split, nil
	reader, err := r.spec.Open(r.ctx, r.pool.get(split), nil)
	if err != nil {
		return readEvent{}, wrap("open the split", err)
	}
	r.reader = reader
	return readEvent{kind: splitBegins, split: split}, nil
}

func (r *splitReader) draw() (int, bool) {
	if r.fixed == nil {
		return r.pool.claim()
	}
	if *r.fixed < 0 {
		return 0, false
	}
	split := *r.fixed
	*r.fixed = -1
	return split, true
}

func (r *splitReader) id() string { return r.pool.id(r.split) }

func (r *splitReader) close() (err error) {
	if r.reader == nil {
		return nil
	}
	reader := r.reader
	r.reader = nil
	defer func() {
		// A reader that has panicked may well do so again here, where nobody
		// waits for it.
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	return reader.Close()
}

// pump reads for a source task on a thread of its own, so that the worker
// never waits for a file.
type pump struct {
	source *source
	reader splitReader
	lane   *lane
	thread *thread
	batch  flow.Batch // taken, not yet filled
	ended  bool
}

func newPump(s *source, fixed *int) *pump {
	t := s.task
	p := &pump{source: s}
	p.reader = splitReader{ctx: t.job.ctx, spec: s.node.Source, pool: s.pool, fixed: fixed, drawn: &s.drawn}
	p.lane = newLane(t.job.pumpDepth(), func() flow.Batch { return s.node.Source.NewBatch(t.job.opts.BatchSize) })
	p.thread = &thread{job: t.job, name: s.node.Name + " reader", steppers: []stepper{p}, alive: 1}
	p.lane.own, p.lane.consumer, p.lane.trace = p.thread, t.thread, t.job.env.Trace
	in := &input{link: p.lane.link, producer: p.thread, own: t.thread, wm: flow.MinTime}
	t.inputs = append(t.inputs, in)
	s.enter(p)
	return p
}

func (p *pump) what() string {
	return fmt.Sprintf("%q (reader of task %d)", p.source.node.Name, p.source.task.index)
}

// step reads one batch. It may block in the source's Read.
func (p *pump) step() (status env.Status, at int64) {
	t := p.source.task
	completed := false
	defer func() {
		if !completed {
			status, at = p.fail(panicked(recover()))
		}
	}()
	status, at = p.advance(t)
	completed = true
	return status, at
}

func (p *pump) advance(t *task) (env.Status, int64) {
	if t.job.stopping.Load() {
		if err := p.reader.close(); err != nil && !isCanceled(err) {
			t.job.fail(t.readError(&p.reader, wrap("close the split", err)))
		}
		return env.Done, 0
	}
	if len(p.lane.waiting) > 0 {
		if !p.lane.push() {
			return env.Idle, 0
		}
		return env.Progress, 0
	}
	if p.ended {
		p.lane.end()
		return env.Done, 0
	}
	if p.batch == nil {
		b, ok := p.lane.credit()
		if !ok {
			return env.Idle, 0
		}
		p.batch = b
	}
	event, err := p.reader.next(p.batch)
	if err != nil {
		if t.job.stopping.Load() && isCanceled(err) {
			return env.Progress, 0
		}
		return p.fail(err)
	}
	if p.batch.Len() > 0 || p.batch.Header().Bad != nil {
		p.lane.Send(p.batch)
		p.batch = nil
	}
	switch event.kind {
	case splitBegins, splitEnds:
		p.lane.emit(element{kind: event.kind, split: event.split})
	case exhausted:
		p.ended = true
	}
	return env.Progress, 0
}

func (p *pump) fail(err error) (env.Status, int64) {
	t := p.source.task
	t.job.fail(t.readError(&p.reader, err))
	_ = p.reader.close() // the failure that is told came first
	return env.Done, 0
}
