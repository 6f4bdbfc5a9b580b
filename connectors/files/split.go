package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// headSize is how much of a file's begin is looked at, to tell its compression
// and to recognise it.
const headSize = 4 << 10

// identity tells whether a file is the one that was seen before.
type identity struct {
	size  int64
	mtime int64  // nanoseconds since the epoch
	head  uint64 // XXH3 of the first headSize bytes
}

// piece is the part of a file that one split reads.
type piece struct {
	path  string // with slashes
	id    identity
	codec codec
	begin int64 // of the bytes of a text file, or of the row groups of a Parquet file
	end   int64
	whole bool // all of the file
}

// examine reads the begin of a file.
func examine(f env.File) (id identity, head []byte, err error) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, nil, err
	}
	if info.IsDir() {
		return identity{}, nil, errors.New("is a directory")
	}
	if info.Size() == 0 && info.Mode().IsRegular() {
		// Files that the system makes up as they are read say so.
		if n, _ := f.ReadAt(make([]byte, 1), 0); n > 0 {
			return identity{}, nil, errors.New("it says that it is empty and is not, like the files below /proc: copy it to a file first")
		}
	}
	head = make([]byte, min(headSize, info.Size()))
	if n, err := f.ReadAt(head, 0); n < len(head) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return identity{}, nil, err
	}
	return identity{info.Size(), info.ModTime().UnixNano(), xxh3.Hash(head)}, head, nil
}

// changedFrom says how the file id differs from what was seen before, or nil.
func (id identity) changedFrom(seen identity) error {
	switch {
	case id.size != seen.size:
		return fmt.Errorf("the file changed: it had %d bytes and now has %d (AllowChanged reads it all the same)", seen.size, id.size)
	case id.head != seen.head:
		return errors.New("the file changed: its first bytes are others (AllowChanged reads it all the same)")
	case id.mtime != seen.mtime:
		return errors.New("the file changed: its modification time is another (AllowChanged reads it all the same)")
	}
	return nil
}

// split names the piece by path and range; what else Open needs is the payload.
func (p piece) split() flow.Split {
	name := p.path
	if !p.whole {
		name += ":" + strconv.FormatInt(p.begin, 10) + "-" + strconv.FormatInt(p.end, 10)
	}
	whole := byte(0)
	if p.whole {
		whole = 1
	}
	b := []byte{payloadVersion, byte(p.codec), whole}
	b = appendIdentity(b, p.id)
	b = binary.AppendUvarint(b, uint64(p.begin))
	b = binary.AppendUvarint(b, uint64(p.end))
	return flow.Split{ID: name, Payload: append(b, p.path...)}
}

const payloadVersion, positionVersion = 1, 1

func parsePiece(s flow.Split) (piece, error) {
	b := s.Payload
	if len(b) < 3 || b[0] != payloadVersion || b[1] > byte(codecZstd) {
		return piece{}, fmt.Errorf("open split %q: its payload is none of this package", s.ID)
	}
	p := piece{codec: codec(b[1]), whole: b[2] == 1}
	var err error
	if p.id, b, err = takeIdentity(b[3:]); err != nil {
		return piece{}, fmt.Errorf("open split %q: %w", s.ID, err)
	}
	begin, n := binary.Uvarint(b)
	end, m := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || m <= 0 {
		return piece{}, fmt.Errorf("open split %q: its payload is cut", s.ID)
	}
	p.begin, p.end, p.path = int64(begin), int64(end), string(b[n+m:])
	return p, nil
}

// position is the place at (a byte or row) in the file id.
func (id identity) position(at int64) flow.Position {
	b := make([]byte, 0, 32)
	return binary.AppendUvarint(appendIdentity(append(b, positionVersion), id), uint64(at))
}

func parsePosition(p flow.Position) (seen identity, at int64, err error) {
	if len(p) == 0 || p[0] != positionVersion {
		return identity{}, 0, fmt.Errorf("position %x is none of this package", []byte(p))
	}
	seen, rest, err := takeIdentity(p[1:])
	if err != nil {
		return identity{}, 0, err
	}
	u, n := binary.Uvarint(rest)
	if n <= 0 || n != len(rest) {
		return identity{}, 0, fmt.Errorf("position %x is cut", []byte(p))
	}
	return seen, int64(u), nil
}

func appendIdentity(b []byte, id identity) []byte {
	b = binary.AppendUvarint(b, uint64(id.size))
	b = binary.AppendVarint(b, id.mtime)
	return binary.LittleEndian.AppendUint64(b, id.head)
}

func takeIdentity(b []byte) (id identity, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	mtime, m := binary.Varint(b[max(n, 0):])
	if n <= 0 || m <= 0 || len(b) < n+m+8 {
		return identity{}, nil, errors.New("the identity of the file is cut")
	}
	b = b[n+m:]
	return identity{int64(size), mtime, binary.LittleEndian.Uint64(b)}, b[8:], nil
}

// openRegular opens a file that can be read at any place, or the null device,
// which is empty. A pipe, a socket or another device is refused before it is
// opened: it has no size and no second reading, and to open a pipe is to wait
// for a writer.
func openRegular(fsys env.FS, path string) (env.File, error) {
	name := filepath.FromSlash(path)
	info, err := fsys.Stat(name)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() && name != os.DevNull {
		return nil, fmt.Errorf("open %s: it is no regular file (%v): write what comes from a pipe or a device to a file first", path, mode.Type())
	}
	return fsys.Open(name)
}

// openPiece opens the file of a split for reading after the position from, and
// checks that it is the file that was seen. at is where to go on: p.begin on a
// first read.
func openPiece(fsys env.FS, s flow.Split, from flow.Position, allowChanged bool) (f env.File, p piece, at int64, err error) {
	if p, err = parsePiece(s); err != nil {
		return nil, p, 0, err
	}
	at = p.begin
	seen := p.id
	if from != nil {
		if seen, at, err = parsePosition(from); err != nil {
			return nil, p, 0, fmt.Errorf("open split %q: %w", s.ID, err)
		}
	}
	if f, err = openRegular(fsys, p.path); err != nil {
		return nil, p, 0, err
	}
	id, _, err := examine(f)
	if err == nil && !allowChanged {
		err = id.changedFrom(seen)
	}
	if err != nil {
		return nil, p, 0, errors.Join(fmt.Errorf("open %s: %w", p.path, err), f.Close())
	}
	p.id = id
	return f, p, at, nil
}
