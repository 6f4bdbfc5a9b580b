package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// csvText reads the CSV records of one split. Readers and Splits find the ends
// of records by this one code, so that they can't disagree about them.
type csvText struct {
	*text
	scanner csvScanner
	raw     []byte // the record that next found
	end     csvEnd // and its end
}

func newCSVText(t *text) *csvText {
	return &csvText{text: t, scanner: csvScanner{delimiter: t.opts.delimiter, comment: t.opts.comment}}
}

// next finds the next record and uses it; its fields are in the scanner and
// refer to raw, until the next call. It returns io.EOF after the last one and a
// *flow.RecordError for a malformed one, which is passed over.
func (c *csvText) next() error {
	for {
		if c.piece.codec == codecPlain && !c.piece.whole && c.at >= c.piece.end {
			return c.endOfRange()
		}
		res := csvPartial
		if c.rd < c.wr {
			res, c.end = c.scanner.record(c.buf[c.rd:c.wr], c.eof)
		} else if c.eof {
			return io.EOF
		}
		switch res {
		case csvBlank:
			c.use(c.end.size, int64(c.end.lines))
			continue
		case csvPartial:
			if c.wr-c.rd > c.opts.maxRecord+2 {
				return c.passLongRecord()
			}
			if err := c.more(); err != nil {
				return err
			}
			continue
		}
		return c.take(res)
	}
}

func (c *csvText) take(res csvResult) error {
	c.raw = c.buf[c.rd : c.rd+c.end.size]
	if c.end.size > c.opts.maxRecord && len(bytes.TrimRight(c.raw, "\r\n")) > c.opts.maxRecord {
		return c.passLongRecord()
	}
	c.use(c.end.size, int64(c.end.lines))
	if res == csvBad {
		return c.bad(c.end.line, c.end.column, c.end.err)
	}
	return nil
}

// passLongRecord passes over a record of which more than the limit is in the
// window. Only one without quotes so far can be passed over, with its line;
// another fails the job, however much of it happens to be in the window.
func (c *csvText) passLongRecord() error {
	if bytes.IndexByte(c.buf[c.rd:c.rd+c.opts.maxRecord], '"') < 0 {
		return c.passLongLine()
	}
	return fmt.Errorf("read %w", c.tooLong(c.buf[c.rd:c.wr]).Err)
}

// bad makes the error of the record just used: line is counted from its first,
// column from 0.
func (c *csvText) bad(line, column int, err error) error {
	number := c.line() - int64(c.end.lines) + int64(line)
	return badRecord(bytes.TrimRight(c.raw, "\r\n"), fmt.Errorf("%s: %w", c.where(number, column+1), err))
}

// passPlain uses the records from here up to the first quote in the window, or
// to the first that begins at or after the offset target. It says whether it
// used any.
func (c *csvText) passPlain(target int64) bool {
	window := c.buf[c.rd:c.wr]
	if q := bytes.IndexByte(window, '"'); q >= 0 {
		window = window[:q]
	}
	if ahead := target - c.at; ahead <= int64(len(window)) {
		first := max(int(ahead)-1, 0)
		if i := bytes.IndexByte(window[first:], '\n'); i >= 0 {
			window = window[:first+i+1]
		}
	}
	n := bytes.LastIndexByte(window, '\n') + 1
	c.use(n, int64(bytes.Count(window[:n], newline)))
	return n > 0
}

// csvRanges divides a plain CSV file into ranges of about size bytes that begin
// and end between records, which takes a pass over the file: whether a line end
// is in quotes depends on all that comes before it.
func csvRanges(ctx context.Context, c *csvText, size int64) ([]piece, error) {
	whole := c.piece
	size = max(size, minRange)
	count := int64(len(whole.ranges(size)))
	var parts []piece
	begin := int64(0)
	for i := int64(1); i < count; i++ {
		if err := c.passTo(ctx, i*size); err != nil {
			return nil, err
		}
		if c.at == whole.id.size {
			break
		}
		if c.at > begin {
			part := whole
			part.begin, part.end, part.whole = begin, c.at, false
			parts = append(parts, part)
			begin = c.at
		}
	}
	if len(parts) == 0 {
		return []piece{whole}, nil
	}
	last := whole
	last.begin, last.end, last.whole = begin, whole.id.size, false
	return append(parts, last), nil
}

// passTo moves to the first record that begins at or after the offset target.
func (c *csvText) passTo(ctx context.Context, target int64) error {
	for c.at < target {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.passPlain(target) {
			continue
		}
		err := c.next()
		if err == io.EOF {
			return nil
		}
		if _, bad := asRecordError(err); err != nil && !bad {
			return err
		}
	}
	return nil
}

// csvHeader reads the names of the columns and says where the records begin.
func csvHeader(c *csvText) (names []string, begin int64, err error) {
	err = c.next()
	if err == io.EOF {
		if c.opts.lenient {
			return nil, c.at, io.EOF
		}
		return nil, 0, fmt.Errorf("read %s: the file is empty: it has no header (NoHeader reads files without, Lenient empty ones)", c.path)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the header of %s: %w", c.path, err)
	}
	for i := range c.scanner.fields {
		names = append(names, string(c.scanner.field(c.raw, i)))
	}
	return names, c.at, nil
}
