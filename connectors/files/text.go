package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// firstWindow is how many bytes of a text are in memory when no record is
// longer.
const firstWindow = 256 << 10

// text is a window that moves over the bytes of one split, plain or unpacked.
// Offsets count unpacked bytes from the begin of the file.
type text struct {
	file   env.File
	path   string
	piece  piece
	opts   *options
	in     io.Reader
	unpack *unpacker

	buf    []byte
	rd, wr int   // what is in memory and not yet used: buf[rd:wr]
	at     int64 // offset of buf[rd]
	eof    bool  // nothing follows buf[:wr]

	lines    int64 // line ends passed since linesAt
	linesAt  int64 // offset from which lines counts
	baseLine int64 // line ends before linesAt, once counted; -1 until then
	lastEnds int   // line ends of the line that nextLine returned: 0 for a last one without
}

// openText opens the split s after the position from.
func openText(ctx context.Context, s flow.Split, from flow.Position, opts *options) (*text, error) {
	f, p, at, err := openPiece(env.FSFrom(ctx), s, from, opts.allowChanged)
	if err != nil {
		return nil, err
	}
	t := &text{file: f, path: p.path, piece: p, opts: opts, baseLine: -1}
	if err := t.start(ctx, at); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s at byte %d: %w", p.path, at, err), t.close())
	}
	return t, nil
}

// start moves to the offset at: at once in a plain file, by unpacking all that
// comes before in a packed one.
func (t *text) start(ctx context.Context, at int64) error {
	skip := int64(0)
	if t.piece.codec == codecPlain {
		skip, at = at, 0
		t.at = skip
	}
	if skip > t.piece.id.size {
		return fmt.Errorf("the file has only %d bytes", t.piece.id.size)
	}
	var err error
	t.unpack, err = newUnpacker(t.piece.codec, io.NewSectionReader(t.file, skip, t.piece.id.size-skip))
	if err != nil {
		return err
	}
	t.in = t.unpack
	t.buf = make([]byte, min(firstWindow, max(t.piece.id.size, 512)))
	t.linesAt = t.at
	for t.at < at {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.rd == t.wr {
			if err := t.more(); err != nil {
				return err
			}
			if t.eof && t.rd == t.wr {
				return fmt.Errorf("the unpacked file has only %d bytes", t.at)
			}
		}
		n := int(min(int64(t.wr-t.rd), at-t.at))
		t.use(n, int64(bytes.Count(t.buf[t.rd:t.rd+n], newline)))
	}
	if t.at == 0 {
		return t.skipMark()
	}
	return nil
}

var newline = []byte{'\n'}

// skipMark passes over the byte order mark of UTF-8.
func (t *text) skipMark() error {
	for t.wr-t.rd < 3 && !t.eof {
		if err := t.more(); err != nil {
			return err
		}
	}
	head := t.buf[t.rd:t.wr]
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		t.use(3, 0)
		return nil
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return errors.New("the content is UTF-16, not UTF-8, which is not supported")
	}
	return nil
}

// use passes over n bytes of the window with that many line ends.
func (t *text) use(n int, lineEnds int64) {
	t.rd += n
	t.at += int64(n)
	t.lines += lineEnds
}

// more reads more bytes into the window, or sets eof. It makes room by moving
// what is unused to the front, and by growing.
func (t *text) more() error {
	if t.rd > 0 {
		t.wr = copy(t.buf, t.buf[t.rd:t.wr])
		t.rd = 0
	}
	if t.wr == len(t.buf) {
		grown := make([]byte, 2*len(t.buf))
		copy(grown, t.buf[:t.wr])
		t.buf = grown
	}
	n, err := io.ReadAtLeast(t.in, t.buf[t.wr:], 1)
	t.wr += n
	switch {
	case err == io.EOF:
		t.eof = true
		return t.checkEnd()
	case err != nil:
		return fmt.Errorf("read %s near byte %d: %w", t.path, t.at+int64(t.wr), err)
	}
	return nil
}

// checkEnd finds a file that became shorter, or was written to, while it was
// read: its end must be where it was when it was opened.
func (t *text) checkEnd() error {
	end := t.at + int64(t.wr-t.rd)
	if t.piece.codec == codecPlain && end != t.piece.id.size {
		return fmt.Errorf("read %s: the file changed while it was read: it ends at byte %d instead of %d: %w",
			t.path, end, t.piece.id.size, io.ErrUnexpectedEOF)
	}
	return t.checkUnchanged()
}

// checkUnchanged is also called at the end of a range, which may be far from
// the end of the file.
func (t *text) checkUnchanged() error {
	if t.opts.allowChanged {
		return nil
	}
	now, _, err := examine(t.file)
	if err == nil {
		err = now.changedFrom(t.piece.id)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", t.path, err)
	}
	return nil
}

// line is the number, from 1, of the line that begins at the current offset.
// Lines before a range are counted when the first error needs it.
func (t *text) line() int64 {
	if t.baseLine < 0 {
		t.baseLine = 0
		if t.piece.codec == codecPlain {
			t.baseLine = t.countLinesBefore(t.linesAt)
		}
	}
	return t.baseLine + t.lines + 1
}

func (t *text) countLinesBefore(end int64) int64 {
	count := int64(0)
	chunk := make([]byte, 64<<10)
	in := io.NewSectionReader(t.file, 0, end)
	for {
		n, err := in.Read(chunk)
		count += int64(bytes.Count(chunk[:n], newline))
		if err != nil {
			return count // a read error shows when the data itself is read
		}
	}
}

// where names a place for an error: column counts bytes from 1; 0 leaves it out.
func (t *text) where(line int64, column int) string {
	if column == 0 {
		return fmt.Sprintf("%s line %d", t.path, line)
	}
	return fmt.Sprintf("%s line %d column %d", t.path, line, column)
}

func (t *text) position() flow.Position { return t.piece.id.position(t.at) }

func (t *text) close() error {
	if t.file == nil {
		return nil
	}
	var err error
	if t.unpack != nil {
		err = t.unpack.close()
	}
	err = errors.Join(err, t.file.Close())
	t.file = nil
	return err
}

// rawLimit is how much of a bad record goes into its error.
const rawLimit = 4 << 10

// badRecord makes the error of a record from raw, of which it keeps a copy.
func badRecord(raw []byte, err error) *flow.RecordError {
	return &flow.RecordError{Raw: bytes.Clone(raw[:min(len(raw), rawLimit)]), Err: err}
}

func asRecordError(err error) (*flow.RecordError, bool) {
	return errors.AsType[*flow.RecordError](err)
}
