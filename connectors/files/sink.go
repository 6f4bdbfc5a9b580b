package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// encoder writes the records of one part. It is used by one goroutine.
type encoder[T any] interface {
	write(batch []T) error
	// finish writes what is still held back, and what ends the format.
	finish() error
}

// sink is what the sinks share.
type sink[T any] struct {
	dir    directory
	opts   options
	pack   Compression // of the file as a whole
	err    error       // a mistake in the options or the type
	encode func(io.Writer) (encoder[T], error)
}

func newSink[T any](f formats, dir, extension string, opts []Option) *sink[T] {
	o, err := newOptions(f, opts)
	if err != nil {
		err = fmt.Errorf("write to %q: %w", dir, err)
	}
	s := &sink[T]{opts: o, err: err}
	if f != toParquet {
		s.pack = o.compression
	}
	s.dir = directory{path: dir, extension: extension + s.pack.extension()}
	return s
}

// Check creates the directory, and finds one that can't be written to and parts
// that are there already.
func (s *sink[T]) Check(ctx context.Context) error {
	if s.err != nil {
		return s.err
	}
	return s.dir.check(env.FSFrom(ctx), s.opts.existing)
}

func (s *sink[T]) Open(ctx context.Context, task flow.TaskInfo) (flow.Writer[T], error) {
	if s.err != nil {
		return nil, s.err
	}
	fsys := env.FSFrom(ctx)
	next, err := s.dir.nextSequence(fsys, task.Index)
	if err != nil {
		return nil, fmt.Errorf("open %s for task %d: %w", s.dir.path, task.Index, err)
	}
	return &partWriter[T]{sink: s, fsys: fsys, task: task.Index, next: next}, nil
}

// partWriter writes what one task sends, part after part.
type partWriter[T any] struct {
	sink *sink[T]
	fsys env.FS
	task int
	next int // sequence number of the next part

	// Invariant: part and encoder are both set while a part is open.
	part    *part
	encoder encoder[T]
	failed  error // a part could not be written: nothing more is
}

// Write adds batch to the open part, and ends the part when it has its size or
// age.
func (w *partWriter[T]) Write(ctx context.Context, batch []T) error {
	if w.failed != nil {
		return w.failed
	}
	if err := ctx.Err(); err != nil || len(batch) == 0 {
		return err
	}
	w.failed = w.write(batch)
	return w.failed
}

func (w *partWriter[T]) write(batch []T) error {
	if w.part == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := w.encoder.write(batch); err != nil {
		return w.part.failure(err)
	}
	every := w.sink.opts.rollEvery
	if w.part.size() >= w.sink.opts.rollBytes || every > 0 && time.Since(w.part.begun) >= every {
		return w.end()
	}
	return nil
}

func (w *partWriter[T]) begin() error {
	p, err := w.sink.dir.newPart(w.fsys, w.task, w.next, w.sink.pack)
	if err != nil {
		return err
	}
	w.next++
	w.part = p
	w.encoder, err = w.sink.encode(p)
	if err != nil {
		return p.failure(err)
	}
	return nil
}

// end completes the open part and gives it its name.
func (w *partWriter[T]) end() error {
	if err := w.encoder.finish(); err != nil {
		return w.part.failure(err)
	}
	if err := w.part.stage(); err != nil {
		return err
	}
	err := w.part.commit()
	if err == nil {
		w.part, w.encoder = nil, nil
	}
	return err
}

// Flush completes the open part.
func (w *partWriter[T]) Flush(ctx context.Context) error {
	if w.failed != nil {
		return w.failed
	}
	if err := ctx.Err(); err != nil || w.part == nil {
		return err
	}
	w.failed = w.end()
	return w.failed
}

// Close removes a part that wasn't completed.
func (w *partWriter[T]) Close() error {
	if w.part == nil {
		return nil
	}
	p := w.part
	w.part, w.encoder = nil, nil
	if w.failed == nil {
		w.failed = errors.New("the writer is closed")
	}
	return p.discard()
}
