package files

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// jsonCodec is all that this package asks of a JSON library.
type jsonCodec interface {
	// unmarshal decodes one JSON value into v, a pointer. offset is the byte
	// of data at which an error is; -1 for not known.
	unmarshal(data []byte, v any) (offset int, err error)
	// write writes v, a pointer, as one line of JSON without its line end.
	write(to *bytes.Buffer, v any) error
}

// jsonV2 is encoding/json/v2.
type jsonV2 struct{ opts json.Options }

func newJSON(lenient bool) jsonCodec {
	return jsonV2{json.JoinOptions(
		jsontext.AllowDuplicateNames(lenient),
		json.MatchCaseInsensitiveNames(lenient),
	)}
}

func (j jsonV2) unmarshal(data []byte, v any) (int, error) {
	err := json.Unmarshal(data, v, j.opts)
	if err == nil {
		return -1, nil
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return int(syntax.ByteOffset), err
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return int(semantic.ByteOffset), err
	}
	return -1, err
}

func (j jsonV2) write(to *bytes.Buffer, v any) error { return json.MarshalWrite(to, v, j.opts) }

type jsonDecoder[T any] struct{ codec jsonCodec }

func newJSONDecoder[T any](o *options) lineDecoder[T] { return jsonDecoder[T]{newJSON(o.lenient)} }

func (d jsonDecoder[T]) decode(line []byte, out *T) (int, error) {
	offset, err := d.codec.unmarshal(line, out)
	return offset + 1, err
}

func (d jsonDecoder[T]) skipsBlank() bool { return true }
