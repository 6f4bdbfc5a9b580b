package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tailrace-io/tailrace/internal/env"
)

// part is a file on its way to its name: open under a temporary one, then
// staged (complete and durable), then committed (renamed). It is used by one
// goroutine.
type part struct {
	fsys      env.FS
	dir       string
	temporary string
	name      string
	begun     time.Time

	file   env.File // nil once staged
	counts *countingWriter
	buf    *bufio.Writer
	pack   io.WriteCloser // onto buf
}

// open lays the packing onto the file of a part.
func (p *part) open(c Compression) error {
	p.counts = &countingWriter{w: p.file}
	p.buf = bufio.NewWriterSize(p.counts, 256<<10)
	switch c {
	case Gzip:
		p.pack = gzip.NewWriter(p.buf)
	case Zstd:
		// One encoder at a time runs without goroutines of its own.
		z, err := zstd.NewWriter(p.buf, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		p.pack = z
	default:
		p.pack = nopCloser{p.buf}
	}
	return nil
}

// Write adds bytes to the part, before they are packed.
func (p *part) Write(b []byte) (int, error) { return p.pack.Write(b) }

// size is about how many bytes the file has.
func (p *part) size() int64 { return p.counts.n + int64(p.buf.Buffered()) }

// stage completes the file and makes its content durable. A file whose sync
// failed is lost: the system may have dropped its pages.
func (p *part) stage() error {
	err := p.pack.Close()
	if err == nil {
		err = p.buf.Flush()
	}
	if err == nil {
		err = p.file.Sync()
	}
	if err != nil {
		return p.failure(err)
	}
	err = p.file.Close()
	p.file = nil
	if err != nil {
		return p.failure(err)
	}
	return nil
}

// commit gives a staged part its name and makes that durable.
func (p *part) commit() error {
	if _, err := p.fsys.Stat(p.name); err == nil {
		return fmt.Errorf("complete %s: %w", p.name, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("complete %s: %w", p.name, err)
	}
	if err := p.fsys.Rename(p.temporary, p.name); err != nil {
		return fmt.Errorf("complete %s: %w", p.name, err)
	}
	if err := p.fsys.SyncDir(p.dir); err != nil {
		return fmt.Errorf("complete %s: sync its directory: %w", p.name, err)
	}
	return nil
}

// discard removes what there is of a part under its temporary name.
func (p *part) discard() error {
	var err error
	if p.file != nil {
		err = p.file.Close()
		p.file = nil
	}
	removed := p.fsys.Remove(p.temporary)
	if errors.Is(removed, fs.ErrNotExist) {
		removed = nil // renamed, though what came after failed
	}
	return errors.Join(err, removed)
}

func (p *part) failure(err error) error {
	return fmt.Errorf("write %s (to be %s) at byte %d: %w", p.temporary, filepath.Base(p.name), p.counts.n, err)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		err = pathErr.Err // the caller names the file
	}
	return n, err
}

func (c Compression) extension() string {
	switch c {
	case Gzip:
		return ".gz"
	case Zstd:
		return ".zst"
	}
	return ""
}
