package files

import (
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
	buf   []byte
}

func (e *jsonEncoder[T]) write(batch []T) error {
	e.buf = e.buf[:0]
	for i := range batch {
		var err error
		if e.buf, err = e.codec.appendValue(e.buf, &batch[i]); err != nil {
			return err
		}
		e.buf = append(e.buf, '\n')
	}
	_, err := e.w.Write(e.buf)
	return err
}

func (e *jsonEncoder[T]) finish() error { return nil }
