package files

import (
	"bytes"
	"io"

	"github.com/tailrace-io/tailrace/flow"
)

// ToJSONLines is a sink that writes one JSON value a line, as encoding/json/v2
// makes it of a T; JSONLines reads them back.
func ToJSONLines[T any](dir string, opts ...Option) flow.Sink[T] {
	s := newSink[T](toJSONLines, dir, ".jsonl", opts)
	s.encode = func(w io.Writer) (encoder[T], error) {
		return &jsonEncoder[T]{w: w, codec: newJSON(false)}, nil
	}
	return s
}

type jsonEncoder[T any] struct {
	w     io.Writer
	codec jsonCodec
	buf   bytes.Buffer
}

func (e *jsonEncoder[T]) write(batch []T) error {
	e.buf.Reset()
	for i := range batch {
		if err := e.codec.write(&e.buf, &batch[i]); err != nil {
			return err
		}
		e.buf.WriteByte('\n')
	}
	_, err := e.w.Write(e.buf.Bytes())
	return err
}

func (e *jsonEncoder[T]) finish() error { return nil }
