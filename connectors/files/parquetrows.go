package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/tailrace-io/tailrace/internal/env"
)

// rowReader reads one row group column by column into records of any type: a
// batch of rows is one pass over the batch for each column.
type rowReader struct {
	file    env.File
	piece   piece
	columns []*columnPages
	row     int64 // of the row group, the next to be read
	rows    int64 // of the row group
}

// open goes to r.row of the row group.
func (r *rowReader) open(file *parquet.File, columns []parquetColumn) error {
	groups := file.RowGroups()
	if r.piece.begin >= int64(len(groups)) {
		return r.errorf("it has only %d row groups", len(groups))
	}
	group := groups[r.piece.begin]
	r.rows = group.NumRows()
	if r.row > r.rows {
		return r.errorf("it has only %d rows instead of %d", r.rows, r.row)
	}
	chunks := group.ColumnChunks()
	for _, c := range columns {
		f, err := newFiller(&c)
		if err != nil {
			return r.errorf("%w", err)
		}
		col := &columnPages{name: c.path, optional: c.leaf.MaxDefinitionLevel > 0, maxLevel: byte(c.leaf.MaxDefinitionLevel), filler: f}
		r.columns = append(r.columns, col)
		err = guard(func() error {
			col.pages = chunks[c.leaf.ColumnIndex].Pages()
			return col.skip(r.row)
		})
		if err != nil {
			return r.errorf("column %q: go to row %d: %w", c.path, r.row, err)
		}
	}
	return nil
}

func (r *rowReader) errorf(format string, args ...any) error {
	return fmt.Errorf("read %s, row group %d: "+format, append([]any{r.piece.path, r.piece.begin}, args...)...)
}

// covers says whether the columns fill every byte of a record of that size, so
// that it needn't be cleared first.
func (r *rowReader) covers(size uintptr) bool {
	sum := uintptr(0)
	for _, c := range r.columns {
		sum += c.filler.width()
	}
	return sum == size
}

// fill stores the next n rows in the records at base, stride bytes apart.
func (r *rowReader) fill(base unsafe.Pointer, stride uintptr, n int) error {
	for _, c := range r.columns {
		err := guard(func() error { return c.fill(base, stride, n) })
		if err != nil {
			return r.errorf("column %q: rows from %d on: %w", c.name, r.row, err)
		}
	}
	r.row += int64(n)
	return nil
}

func (r *rowReader) Close() error {
	if r.file == nil {
		return nil
	}
	var errs []error
	for _, c := range r.columns {
		errs = append(errs, c.close())
	}
	errs = append(errs, r.file.Close())
	r.file = nil
	return errors.Join(errs...)
}

// columnPages reads the pages of one column.
type columnPages struct {
	name     string
	optional bool
	maxLevel byte // the definition level of a value that isn't null
	pages    parquet.Pages
	page     parquet.Page
	levels   []byte // of the rows of page that are left; nil when none is null
	left     int    // rows of page that are left
	filler   filler
}

// fill stores the next n values in records. It makes no address after the last
// record, which may be that of something else.
func (c *columnPages) fill(base unsafe.Pointer, stride uintptr, n int) error {
	for done := 0; done < n; {
		if c.left == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		k := min(n-done, c.left)
		at := unsafe.Add(base, uintptr(done)*stride)
		if c.levels == nil {
			c.filler.fill(at, stride, k)
		} else {
			c.filler.fillNullable(at, stride, c.levels[:k], c.maxLevel)
			c.levels = c.levels[k:]
		}
		c.left -= k
		done += k
	}
	return nil
}

// skip passes over the first n rows. It reads the pages before them, for pages
// that the library has cut hide where in a byte their first bool is.
func (c *columnPages) skip(n int64) error {
	for n > 0 {
		if err := c.nextPage(); err != nil {
			return err
		}
		k := int(min(n, int64(c.left)))
		present := k
		if c.levels != nil {
			present = bytes.Count(c.levels[:k], []byte{c.maxLevel})
			c.levels = c.levels[k:]
		}
		c.filler.skip(present)
		c.left -= k
		n -= int64(k)
	}
	return nil
}

func (c *columnPages) nextPage() error {
	c.release()
	page, err := c.pages.ReadPage()
	if err == io.EOF {
		return fmt.Errorf("the column ends too early: %w", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return err
	}
	c.page = page
	c.left = int(page.NumRows())
	present := int(page.NumValues() - page.NumNulls())
	if c.optional && present != c.left {
		c.levels = page.DefinitionLevels()
	}
	return c.filler.load(page, present)
}

func (c *columnPages) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page, c.levels, c.left = nil, nil, 0
	}
}

func (c *columnPages) close() error {
	return guard(func() error {
		c.release()
		if c.pages == nil {
			return nil
		}
		return c.pages.Close()
	})
}
