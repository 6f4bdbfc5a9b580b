package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codec is how the content of a file is packed.
type codec uint8

const (
	codecPlain codec = iota
	codecGzip
	codecZstd
)

func (c codec) String() string { return [...]string{"plain", "gzip", "zstd"}[c] }

// magics are how packed files begin.
var magics = []struct {
	magic string
	name  string
	codec codec
	known bool
}{
	{"\x1f\x8b\x08", "gzip", codecGzip, true},
	{"\x28\xb5\x2f\xfd", "zstd", codecZstd, true},
	{"\xfd7zXZ\x00", "xz", 0, false},
	{"PK\x03\x04", "zip", 0, false},
	{"\x04\x22\x4d\x18", "lz4", 0, false},
	{"\x1f\x9d", "compress", 0, false},
	{"PAR1", "Parquet, not text", 0, false},
	{"\xff\xfe", "UTF-16, not UTF-8", 0, false},
	{"\xfe\xff", "UTF-16, not UTF-8", 0, false},
}

// detect tells by its begin how a text file is packed. name serves one case: a
// file cut within its magic, which else would pass for a short text.
func detect(name string, head []byte) (codec, error) {
	if isSkippable(head) {
		return codecZstd, nil
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			if !m.known {
				return 0, fmt.Errorf("the content is %s, which is not supported", m.name)
			}
			return m.codec, nil
		}
	}
	if len(head) >= 10 && string(head[:3]) == "BZh" && string(head[4:10]) == "1AY&SY" {
		return 0, errors.New("the content is bzip2, which is not supported")
	}
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, ".gz") && strings.HasPrefix(magics[0].magic, string(head)) ||
		(strings.HasSuffix(lower, ".zst") || strings.HasSuffix(lower, ".zstd")) && strings.HasPrefix(magics[1].magic, string(head)) {
		return 0, fmt.Errorf("the file is cut off at byte %d: %w", len(head), io.ErrUnexpectedEOF)
	}
	return codecPlain, nil
}

// isSkippable says whether a file begins with one of zstd's skippable frames,
// as those of pzstd do.
func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}

// unpacker undoes a codec on the goroutine that reads.
type unpacker struct {
	io.Reader
	close func() error
	in    *countingReader
}

// newUnpacker reads from r, which stays the caller's.
func newUnpacker(c codec, r io.Reader) (*unpacker, error) {
	in := &countingReader{r: r}
	switch c {
	case codecGzip:
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("gzip at byte %d: %w", in.n, cutOff(err))
		}
		return &unpacker{gzipReader{z, in}, z.Close, in}, nil
	case codecZstd:
		// One decoder at a time runs without goroutines of its own.
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("zstd at byte %d: %w", in.n, cutOff(err))
		}
		return &unpacker{zstdReader{z, in}, func() error { z.Close(); return nil }, in}, nil
	}
	return &unpacker{in, func() error { return nil }, in}, nil
}

type gzipReader struct {
	z  *gzip.Reader
	in *countingReader
}

func (g gzipReader) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("gzip near byte %d: %w", g.in.n, cutOff(err))
	}
	return n, err
}

type zstdReader struct {
	z  *zstd.Decoder
	in *countingReader
}

func (z zstdReader) Read(p []byte) (int, error) {
	n, err := z.z.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("zstd near byte %d: %w", z.in.n, cutOff(err))
	}
	return n, err
}

// cutOff says in words what an end of file within packed data means. An io.EOF
// must not pass for the end of the data.
func cutOff(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut off: %w", io.ErrUnexpectedEOF)
	}
	return err
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
