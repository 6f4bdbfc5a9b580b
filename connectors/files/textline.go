package files

import (
	"bytes"
	"fmt"
	"io"

	"github.com/tailrace-io/tailrace/flow"
)

// nextLine returns the next line of the split without its end, LF or CR LF. It
// is valid until the next call. It returns io.EOF after the last line, and a
// *flow.RecordError for a line over the limit, which is passed over.
func (t *text) nextLine() ([]byte, error) {
	if t.at >= t.piece.end && t.piece.codec == codecPlain && !t.piece.whole {
		return nil, t.endOfRange()
	}
	seen := 0
	for {
		if i := bytes.IndexByte(t.buf[t.rd+seen:t.wr], '\n'); i >= 0 {
			return t.takeLine(seen+i, 1)
		}
		seen = t.wr - t.rd
		if t.eof {
			if seen == 0 {
				return nil, io.EOF
			}
			return t.takeLine(seen, 0)
		}
		if seen > t.opts.maxRecord+1 {
			return nil, t.passLongLine()
		}
		if err := t.more(); err != nil {
			return nil, err
		}
	}
}

func (t *text) endOfRange() error {
	if err := t.checkUnchanged(); err != nil {
		return err
	}
	return io.EOF
}

// takeLine uses a line of n bytes and its line end of lineEnd bytes.
func (t *text) takeLine(n, lineEnd int) ([]byte, error) {
	line := t.buf[t.rd : t.rd+n]
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	if len(line) > t.opts.maxRecord {
		err := t.tooLong(line)
		t.use(n+lineEnd, int64(lineEnd))
		return nil, err
	}
	t.use(n+lineEnd, int64(lineEnd))
	t.lastEnds = lineEnd
	return line, nil
}

// passLongLine uses a line of which more than the limit is in the window,
// without keeping it.
func (t *text) passLongLine() error {
	tooLong := t.tooLong(t.buf[t.rd:t.wr])
	for {
		if i := bytes.IndexByte(t.buf[t.rd:t.wr], '\n'); i >= 0 {
			t.use(i+1, 1)
			return tooLong
		}
		t.use(t.wr-t.rd, 0)
		if t.eof {
			return tooLong
		}
		if err := t.more(); err != nil {
			return err
		}
	}
}

func (t *text) tooLong(raw []byte) *flow.RecordError {
	return badRecord(raw, fmt.Errorf("%s at byte %d: longer than the limit of %d bytes (MaxRecord raises it)",
		t.where(t.line(), 0), t.at, t.opts.maxRecord))
}

// alignToLine moves from the begin of a byte range to the first line that
// begins in it. A line that begins before belongs to the range before, however
// far it reaches. The text must have been opened one byte before the range.
func (t *text) alignToLine() error {
	for {
		if i := bytes.IndexByte(t.buf[t.rd:t.wr], '\n'); i >= 0 {
			t.use(i+1, 1)
			return nil
		}
		t.use(t.wr-t.rd, 0)
		if t.eof {
			return nil
		}
		if err := t.more(); err != nil {
			return err
		}
	}
}
