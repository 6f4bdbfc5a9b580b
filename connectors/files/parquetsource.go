package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// Parquet is a source of the rows of the Parquet files that glob matches, one
// split for each row group. Only the columns of T are read, and a column that is
// missing or of another type is an error before the job starts. A column of a
// group is named by its path, joined by underscores; lists and maps are not
// supported. Integers fit fields of any integer type as long as the value does;
// timestamps and dates a time.Time, a flow.Time (truncated to microseconds), or
// an integer, which gets the number as it is stored.
func Parquet[T any](glob string, opts ...Option) flow.Source[T] {
	s := &parquetSource[T]{fileSet: newFileSet(parquetFile, glob, opts)}
	columns, err := columnsOf(reflect.TypeFor[T](), "parquet")
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("read Parquet files of %q: %w", glob, err))
	}
	s.columns = columns
	return s
}

type parquetSource[T any] struct {
	fileSet
	columns []column
}

// Check finds missing, unreadable and damaged files, and schemas that don't fit T.
func (s *parquetSource[T]) Check(ctx context.Context) error {
	_, err := s.Splits(ctx)
	return err
}

// Splits lists the row groups.
func (s *parquetSource[T]) Splits(ctx context.Context) ([]flow.Split, error) {
	var splits []flow.Split
	err := s.each(ctx, func(f env.File, p piece) error {
		file, err := openParquet(f, p)
		if err != nil {
			return err
		}
		if _, err := s.match(file, p.path); err != nil {
			return err
		}
		for i := range file.RowGroups() {
			part := p
			part.begin, part.end, part.whole = int64(i), int64(i+1), false
			splits = append(splits, part.split())
		}
		return nil
	})
	return splits, err
}

// readBuffer is how much of a column is read at once.
const readBuffer = 256 << 10

// openParquet reads the footer of f.
func openParquet(f env.File, p piece) (file *parquet.File, err error) {
	err = guard(func() (err error) {
		file, err = parquet.OpenFile(f, p.id.size,
			parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(readBuffer))
		if err != nil {
			return err
		}
		rows := int64(0)
		for _, group := range file.RowGroups() {
			rows += group.NumRows()
		}
		if rows != file.NumRows() {
			return fmt.Errorf("it says that it has %d rows, but its row groups have %d", file.NumRows(), rows)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open Parquet file %s: %w", p.path, err)
	}
	return file, nil
}

// guard calls f and makes an error of a panic, for the library panics on some
// damaged files.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the file is damaged: %v", r)
		}
	}()
	return f()
}

// parquetColumn is a column of a file that goes to a column of T.
type parquetColumn struct {
	column
	leaf parquet.LeafColumn
	path string
}

// match finds the columns of T in a file, and checks their types.
func (s *parquetSource[T]) match(file *parquet.File, name string) ([]parquetColumn, error) {
	schema := file.Schema()
	paths := schema.Columns()
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = strings.Join(path, "_")
	}
	var found []parquetColumn
	var errs []error
	for _, c := range s.columns {
		i, err := c.find(names)
		switch {
		case err != nil:
			errs = append(errs, err)
			continue
		case i < 0:
			errs = append(errs, fmt.Errorf("no column %q for field %s of %v: the columns are %q", c.name, c.field, reflect.TypeFor[T](), names))
			continue
		}
		leaf, _ := schema.Lookup(paths[i]...)
		p := parquetColumn{column: c, leaf: leaf, path: strings.Join(paths[i], ".")}
		if leaf.MaxRepetitionLevel > 0 {
			err = fmt.Errorf("column %q is repeated, which is not supported", p.path)
		} else {
			_, err = newFiller(&p)
		}
		errs = append(errs, err)
		found = append(found, p)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("read the schema of %s: %w", name, err)
	}
	return found, nil
}

func (s *parquetSource[T]) Open(ctx context.Context, split flow.Split, from flow.Position) (flow.Reader[T], error) {
	if s.err != nil {
		return nil, s.err
	}
	f, p, row, err := openPiece(env.FSFrom(ctx), split, from, s.opts.allowChanged)
	if err != nil {
		return nil, err
	}
	if from == nil {
		row = 0
	}
	r := &parquetReader[T]{rowReader: rowReader{file: f, piece: p, row: row}, checkEnd: !s.opts.allowChanged}
	if err := s.open(&r.rowReader); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (s *parquetSource[T]) open(r *rowReader) error {
	file, err := openParquet(r.file, r.piece)
	if err != nil {
		return err
	}
	columns, err := s.match(file, r.piece.path)
	if err != nil {
		return err
	}
	return r.open(file, columns)
}

// parquetReader reads the rows of one row group.
type parquetReader[T any] struct {
	rowReader
	checkEnd bool
}

func (r *parquetReader[T]) Read(ctx context.Context, buf []T) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n := int(min(int64(len(buf)), r.rows-r.row))
	if n == 0 && len(buf) > 0 {
		return 0, r.atEnd()
	}
	if !r.covers(unsafe.Sizeof(buf[0])) {
		clear(buf[:n])
	}
	if err := r.fill(unsafe.Pointer(unsafe.SliceData(buf)), unsafe.Sizeof(buf[0]), n); err != nil {
		return 0, err
	}
	return n, nil
}

// atEnd is io.EOF if the file is still the one that was opened.
func (r *parquetReader[T]) atEnd() error {
	if r.checkEnd {
		id, _, err := examine(r.file)
		if err == nil {
			err = id.changedFrom(r.piece.id)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", r.piece.path, err)
		}
	}
	return io.EOF
}

func (r *parquetReader[T]) Position() flow.Position { return r.piece.id.position(r.row) }
