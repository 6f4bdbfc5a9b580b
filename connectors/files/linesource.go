package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// Line is one line of a text file, without its line end.
type Line struct{ Text string }

// Lines is a source of the lines, UTF-8, of the files that glob matches. Lines
// end with LF or CR LF; the last need not. A line that is not UTF-8 is a
// *flow.RecordError.
func Lines(glob string, opts ...Option) flow.Source[Line] {
	return newLineSource(lines, glob, opts, func(*options) lineDecoder[Line] { return &lineText{} })
}

// JSONLines is a source of the JSON values, one a line, of the files that glob
// matches, decoded into T as by encoding/json/v2: member names match in case
// and must not repeat; members that T lacks are left out. Blank lines are
// passed over.
func JSONLines[T any](glob string, opts ...Option) flow.Source[T] {
	return newLineSource(jsonLines, glob, opts, newJSONDecoder[T])
}

// lineDecoder makes a record of a line. line is lent; out comes zeroed. It is
// used by one reader.
type lineDecoder[T any] interface {
	// decode says at which byte of line, from 1, the trouble is; 0 for not known.
	decode(line []byte, out *T) (column int, err error)
	skipsBlank() bool
}

type lineText struct{ strings arena }

func (d *lineText) decode(line []byte, out *Line) (int, error) {
	out.Text = d.strings.copy(line)
	return 0, nil
}

func (d *lineText) skipsBlank() bool { return false }

type lineSource[T any] struct {
	fileSet
	decoder func(*options) lineDecoder[T]
}

func newLineSource[T any](f formats, glob string, opts []Option, d func(*options) lineDecoder[T]) flow.Source[T] {
	return &lineSource[T]{newFileSet(f, glob, opts), d}
}

func (s *lineSource[T]) Open(ctx context.Context, split flow.Split, from flow.Position) (flow.Reader[T], error) {
	if s.err != nil {
		return nil, s.err
	}
	first, err := parsePiece(split)
	if err != nil {
		return nil, err
	}
	align := from == nil && first.begin > 0
	if align {
		from = first.id.position(first.begin - 1)
	}
	t, err := openText(ctx, split, from, &s.opts)
	if err != nil {
		return nil, err
	}
	if align {
		if err := t.alignToLine(); err != nil {
			return nil, errors.Join(err, t.close())
		}
	}
	return &lineReader[T]{text: t, decoder: s.decoder(&s.opts), lenient: s.opts.lenient}, nil
}

// fileSet is what the sources share: the files they read.
type fileSet struct {
	format formats
	globs  []string
	opts   options
	err    error // a mistake in the options
}

func newFileSet(f formats, glob string, opts []Option) fileSet {
	o, err := newOptions(f, opts)
	if err != nil {
		err = fmt.Errorf("read files of %q: %w", glob, err)
	}
	return fileSet{f, append([]string{glob}, o.alsoGlobs...), o, err}
}

func (s *fileSet) Bounded() bool { return true }

// Check finds missing and unreadable files, and packings that aren't supported.
func (s *fileSet) Check(ctx context.Context) error {
	_, err := s.Splits(ctx)
	return err
}

// Splits lists ranges of the plain files and the packed ones as they are.
func (s *fileSet) Splits(ctx context.Context) ([]flow.Split, error) {
	var splits []flow.Split
	err := s.each(ctx, func(f env.File, p piece) error {
		for _, part := range p.ranges(s.opts.splitSize) {
			splits = append(splits, part.split())
		}
		return nil
	})
	return splits, err
}

// each calls visit with every file, open, and with all of it as a piece.
func (s *fileSet) each(ctx context.Context, visit func(env.File, piece) error) error {
	if s.err != nil {
		return s.err
	}
	names, err := expand(ctx, s.globs, s.opts.allowEmpty)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.visit(env.FSFrom(ctx), name, visit); err != nil {
			return err
		}
	}
	return nil
}

func (s *fileSet) visit(fsys env.FS, name string, visit func(env.File, piece) error) (err error) {
	f, err := openRegular(fsys, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	id, head, err := examine(f)
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	c := codecPlain
	if s.format&textSources != 0 {
		if c, err = detect(name, head); err != nil {
			return fmt.Errorf("open %s: %w", name, err)
		}
	}
	return visit(f, piece{path: name, id: id, codec: c, end: id.size, whole: true})
}

// minRange keeps a byte order mark in one range with the line it stands before.
const minRange = 4

// ranges divides a plain file into ranges of about size bytes, the last of
// which is not much smaller than the others.
func (p piece) ranges(size int64) []piece {
	size = max(size, minRange)
	count := (p.id.size + size/2) / size
	if p.codec != codecPlain || count < 2 {
		return []piece{p}
	}
	parts := make([]piece, count)
	for i := range parts {
		parts[i] = p
		parts[i].whole = false
		parts[i].begin, parts[i].end = int64(i)*size, int64(i+1)*size
	}
	parts[count-1].end = p.id.size
	return parts
}

// lineReader reads the lines of one split.
type lineReader[T any] struct {
	text    *text
	decoder lineDecoder[T]
	lenient bool
}

func (r *lineReader[T]) Read(ctx context.Context, buf []T) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	clear(buf)
	n := 0
	for n < len(buf) {
		line, err := r.text.nextLine()
		if err != nil {
			return n, err
		}
		if r.decoder.skipsBlank() && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := r.decode(line, &buf[n]); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (r *lineReader[T]) decode(line []byte, out *T) error {
	if !utf8.Valid(line) {
		if !r.lenient {
			return r.bad(line, invalidUTF8(line)+1, errUTF8)
		}
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	if column, err := r.decoder.decode(line, out); err != nil {
		var zero T
		*out = zero
		return r.bad(line, column, err)
	}
	return nil
}

// bad makes the error of the line just used.
func (r *lineReader[T]) bad(line []byte, column int, err error) error {
	number := r.text.line() - int64(r.text.lastEnds)
	return badRecord(line, fmt.Errorf("%s: %w", r.text.where(number, column), err))
}

var errUTF8 = errors.New("invalid UTF-8")

// invalidUTF8 is the index of the first byte of b that is not UTF-8.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}

func (r *lineReader[T]) Position() flow.Position { return r.text.position() }
func (r *lineReader[T]) Close() error            { return r.text.close() }
