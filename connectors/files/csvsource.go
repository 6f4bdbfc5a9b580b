package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// CSV is a source of the records of the CSV files (RFC 4180) that glob matches.
// The columns of the header are mapped to the fields of T as the package says:
// columns that T lacks are left out, and a column that is missing in a file is an
// error before the job starts. A record with another number of fields than the
// header, or with one that doesn't fit its type, is a *flow.RecordError. A field
// in quotes is null only if it is no text.
func CSV[T any](glob string, opts ...Option) flow.Source[T] {
	s := &csvSource[T]{fileSet: newFileSet(csvFile, glob, opts)}
	columns, err := columnsOf(reflect.TypeFor[T](), "csv")
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("read CSV files of %q: %w", glob, err))
	}
	s.columns = columns
	return s
}

type csvSource[T any] struct {
	fileSet
	columns []column
}

// Check finds missing and unreadable files, and headers without the columns of T.
func (s *csvSource[T]) Check(ctx context.Context) error {
	return s.each(ctx, func(_ env.File, p piece) error {
		_, err := s.layout(ctx, p.split())
		return err
	})
}

// Splits divides plain files between records and leaves packed ones whole.
func (s *csvSource[T]) Splits(ctx context.Context) ([]flow.Split, error) {
	var splits []flow.Split
	err := s.each(ctx, func(_ env.File, p piece) error {
		parts := p.ranges(s.opts.splitSize)
		if len(parts) > 1 {
			t, err := openText(ctx, p.split(), nil, &s.opts)
			if err != nil {
				return err
			}
			parts, err = csvRanges(ctx, newCSVText(t), s.opts.splitSize)
			if err = errors.Join(err, t.close()); err != nil {
				return err
			}
		}
		for _, part := range parts {
			splits = append(splits, part.split())
		}
		return nil
	})
	return splits, err
}

// csvLayout is how the fields of one file become those of T.
type csvLayout struct {
	width   int // fields of a record
	names   []string
	targets []csvTarget
	begin   int64 // of the records
}

type csvTarget struct {
	column
	index int // of the field in a record
}

// layout reads the header of the file of a split.
func (s *csvSource[T]) layout(ctx context.Context, split flow.Split) (l csvLayout, err error) {
	if s.opts.noHeader {
		l.width = len(s.columns)
		for i, c := range s.columns {
			l.targets = append(l.targets, csvTarget{c, i})
			l.names = append(l.names, c.name)
		}
		return l, nil
	}
	p, err := parsePiece(split)
	if err != nil {
		return l, err
	}
	p.begin, p.end, p.whole = 0, p.id.size, true
	t, err := openText(ctx, p.split(), nil, &s.opts)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	l.names, l.begin, err = csvHeader(newCSVText(t))
	if err == io.EOF {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	l.width = len(l.names)
	l.targets, err = s.match(l.names)
	if err != nil {
		err = fmt.Errorf("read the header of %s: %w", p.path, err)
	}
	return l, err
}

func (s *csvSource[T]) match(names []string) ([]csvTarget, error) {
	var targets []csvTarget
	var errs []error
	for _, c := range s.columns {
		i, err := c.find(names)
		if err == nil && i < 0 {
			err = fmt.Errorf("no column %q for field %s of %v: the columns are %q", c.name, c.field, reflect.TypeFor[T](), names)
		}
		errs = append(errs, err)
		targets = append(targets, csvTarget{c, i})
	}
	return targets, errors.Join(errs...)
}

func (s *csvSource[T]) Open(ctx context.Context, split flow.Split, from flow.Position) (flow.Reader[T], error) {
	if s.err != nil {
		return nil, s.err
	}
	layout, err := s.layout(ctx, split)
	if err != nil {
		return nil, err
	}
	p, err := parsePiece(split)
	if err != nil {
		return nil, err
	}
	if from == nil && p.begin < layout.begin {
		from = p.id.position(layout.begin)
	}
	t, err := openText(ctx, split, from, &s.opts)
	if err != nil {
		return nil, err
	}
	return &csvReader[T]{csv: newCSVText(t), layout: layout, decoder: newFieldDecoder(&s.opts), opts: &s.opts}, nil
}

// csvReader reads the records of one split.
type csvReader[T any] struct {
	csv     *csvText
	layout  csvLayout
	decoder fieldDecoder
	opts    *options
}

func (r *csvReader[T]) Read(ctx context.Context, buf []T) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	clear(buf)
	for n := range buf {
		err := r.csv.next()
		if err == nil {
			err = r.decode(unsafe.Pointer(&buf[n]))
		}
		if err != nil {
			var zero T
			buf[n] = zero
			return n, err
		}
	}
	return len(buf), nil
}

// decode stores the record that was found in the zeroed one at rec.
func (r *csvReader[T]) decode(rec unsafe.Pointer) error {
	s := &r.csv.scanner
	raw := r.csv.raw
	if !r.opts.lenient && !utf8.Valid(raw) {
		return r.badUTF8()
	}
	if got := len(s.fields); got != r.layout.width && !r.opts.lenient {
		at := s.fields[min(got-1, r.layout.width)]
		return r.csv.bad(int(at.line), int(at.column), fmt.Errorf("the record has %d fields instead of %d", got, r.layout.width))
	}
	for i := range r.layout.targets {
		target := &r.layout.targets[i]
		if target.index >= len(s.fields) {
			continue // lenient: null
		}
		at := &s.fields[target.index]
		if err := r.decoder.decode(&target.column, rec, s.field(raw, target.index), at.quoted); err != nil {
			return r.csv.bad(int(at.line), int(at.column), fmt.Errorf("column %q: %w", target.name, err))
		}
	}
	return nil
}

func (r *csvReader[T]) badUTF8() error {
	line, column := 0, 0
	for _, c := range r.csv.raw[:invalidUTF8(r.csv.raw)] {
		column++
		if c == '\n' {
			line, column = line+1, 0
		}
	}
	return r.csv.bad(line, column, errUTF8)
}

func (r *csvReader[T]) Position() flow.Position { return r.csv.position() }
func (r *csvReader[T]) Close() error            { return r.csv.close() }
