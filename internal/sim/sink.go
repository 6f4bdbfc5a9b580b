package sim

import (
	"context"

	"github.com/tailrace-io/tailrace/flow"
)

// testSink keeps what it is given, in the order in which it comes.
type testSink struct {
	run *run
	op  *op
}

func (s testSink) Immediate() bool { return s.op.immediate }

func (s testSink) Open(_ context.Context, task flow.TaskInfo) (flow.Writer[Rec], error) {
	if task.Operator != s.op.name() || task.Index < 0 || task.Index >= task.Parallelism {
		s.run.wrong("%s: opened as task %+v", s.op.name(), task)
	}
	if err := s.run.use(s.op); err != nil {
		return nil, err
	}
	s.run.writers++
	return &testWriter{sink: s}, nil
}

type testWriter struct {
	sink            testSink
	flushed, closed bool
}

func (w *testWriter) Write(_ context.Context, batch []Rec) error {
	run, o := w.sink.run, w.sink.op
	if err := run.use(o); err != nil {
		return err
	}
	if w.flushed || w.closed || len(batch) == 0 {
		run.wrong("%s: %d records written, flushed %v, closed %v", o.name(), len(batch), w.flushed, w.closed)
	}
	for i := range batch {
		run.world.Trace().Note("write", o.name(), mix(batch[i].identity(), uint64(batch[i].Val)))
	}
	run.got[o.id] = append(run.got[o.id], batch...)
	return nil
}

func (w *testWriter) Flush(context.Context) error {
	if err := w.sink.run.use(w.sink.op); err != nil {
		return err
	}
	if w.flushed || w.closed {
		w.sink.run.wrong("%s: flushed again, or after it was closed", w.sink.op.name())
	}
	w.flushed = true
	w.sink.run.flushed++
	return nil
}

func (w *testWriter) Close() error {
	if w.closed {
		w.sink.run.wrong("%s: closed twice", w.sink.op.name())
	}
	w.closed = true
	w.sink.run.writers--
	return nil
}
