package files

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/tailrace-io/tailrace/flow"
)

// ToCSV is a sink that writes CSV parts, each with a header, whose columns are
// the fields of T as the package says; CSV reads them back. Fields are quoted
// where they must be. In text, CR LF comes back as LF.
func ToCSV[T any](dir string, opts ...Option) flow.Sink[T] {
	s := newSink[T](toCSV, dir, ".csv", opts)
	columns, err := columnsOf(reflect.TypeFor[T](), "csv")
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("write CSV to %q: %w", dir, err))
	}
	s.encode = func(w io.Writer) (encoder[T], error) {
		e := &csvEncoder[T]{w: w, columns: columns, opts: &s.opts}
		if !s.opts.noHeader {
			e.header()
		}
		return e, nil
	}
	return s
}

// csvFlush is how many bytes of records gather before they are written.
const csvFlush = 64 << 10

type csvEncoder[T any] struct {
	w       io.Writer
	columns []column
	opts    *options
	buf     []byte
	scratch []byte // of one field
}

func (e *csvEncoder[T]) header() {
	for i, c := range e.columns {
		e.separate(i)
		e.text(c.name, false)
	}
	e.buf = append(e.buf, '\n')
}

func (e *csvEncoder[T]) separate(i int) {
	if i > 0 {
		e.buf = append(e.buf, e.opts.delimiter)
	}
}

func (e *csvEncoder[T]) write(batch []T) error {
	for i := range batch {
		if err := e.record(unsafe.Pointer(&batch[i])); err != nil {
			return err
		}
		if len(e.buf) >= csvFlush {
			if err := e.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *csvEncoder[T]) finish() error {
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

func (e *csvEncoder[T]) record(rec unsafe.Pointer) error {
	begin := len(e.buf)
	for i := range e.columns {
		c := &e.columns[i]
		e.separate(i)
		p := c.value(rec)
		if p == nil {
			e.null()
		} else if err := e.value(c, p); err != nil {
			return fmt.Errorf("column %q: %w", c.name, err)
		}
	}
	if len(e.buf) == begin {
		e.buf = append(e.buf, `""`...) // an empty line is no record
	}
	e.buf = append(e.buf, '\n')
	return nil
}

func (e *csvEncoder[T]) null() {
	if len(e.opts.nulls) > 0 {
		e.buf = append(e.buf, e.opts.nulls[0]...)
	}
}

// value appends the value of c at p. Only text can need quotes, or a layout.
func (e *csvEncoder[T]) value(c *column, p unsafe.Pointer) error {
	switch c.kind {
	case kindString:
		e.text(*(*string)(p), c.null != nullZero)
	case kindBytes:
		e.text(unsafeString(*(*[]byte)(p)), c.null != nullZero)
	case kindBool:
		e.buf = strconv.AppendBool(e.buf, *(*bool)(p))
	case kindFloat64:
		e.buf = appendFloat(e.buf, *(*float64)(p), 64)
	case kindFloat32:
		e.buf = appendFloat(e.buf, float64(*(*float32)(p)), 32)
	case kindTime:
		e.time(*(*time.Time)(p))
	case kindFlowTime:
		e.flowTime(*(*flow.Time)(p))
	case kindDuration:
		e.buf = append(e.buf, (*(*time.Duration)(p)).String()...)
	case kindText:
		b, err := reflect.NewAt(c.typ, p).Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return err
		}
		e.text(string(b), c.null != nullZero)
	default:
		e.buf = appendInteger(e.buf, c.kind, p)
	}
	return nil
}

func appendInteger(dst []byte, k kind, p unsafe.Pointer) []byte {
	switch k {
	case kindInt8:
		return strconv.AppendInt(dst, int64(*(*int8)(p)), 10)
	case kindInt16:
		return strconv.AppendInt(dst, int64(*(*int16)(p)), 10)
	case kindInt32:
		return strconv.AppendInt(dst, int64(*(*int32)(p)), 10)
	case kindInt64:
		return strconv.AppendInt(dst, *(*int64)(p), 10)
	case kindUint8:
		return strconv.AppendUint(dst, uint64(*(*uint8)(p)), 10)
	case kindUint16:
		return strconv.AppendUint(dst, uint64(*(*uint16)(p)), 10)
	case kindUint32:
		return strconv.AppendUint(dst, uint64(*(*uint32)(p)), 10)
	case kindUint64:
		return strconv.AppendUint(dst, *(*uint64)(p), 10)
	}
	panic(fmt.Sprintf("files: kind %d is no integer", k))
}

// appendFloat writes the shortest form that reads back as f, without an exponent
// where that is no longer than 21 digits, as JavaScript does.
func appendFloat(dst []byte, f float64, bits int) []byte {
	form := byte('f')
	if abs := max(f, -f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, bits)
}

// flowTime writes a time as one of package time, or, where that has no form
// for it, as its number or end.
func (e *csvEncoder[T]) flowTime(t flow.Time) {
	if t == flow.MinTime || t == flow.MaxTime {
		e.buf = append(e.buf, t.String()...)
		return
	}
	u := t.AsTime()
	if u.Year() < 0 || u.Year() > 9999 {
		e.buf = strconv.AppendInt(e.buf, int64(t), 10)
		return
	}
	e.time(u)
}

func (e *csvEncoder[T]) time(t time.Time) {
	e.scratch = t.AppendFormat(e.scratch[:0], e.opts.layouts[0])
	e.text(unsafeString(e.scratch), false)
}

// text appends a field of text, in quotes if it would be read as something else
// without them: also as null, if the column can be null.
func (e *csvEncoder[T]) text(s string, nullable bool) {
	if !e.needsQuotes(s) && !(s == "" && nullable) && !slices.Contains(e.opts.nulls, s) {
		e.buf = append(e.buf, s...)
		return
	}
	e.buf = append(e.buf, '"')
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			break
		}
		e.buf = append(e.buf, s[:i+1]...)
		e.buf = append(e.buf, '"')
		s = s[i+1:]
	}
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, '"')
}

// needsQuotes is the rule of encoding/csv.
func (e *csvEncoder[T]) needsQuotes(s string) bool {
	if s == "" {
		return false
	}
	if s == `\.` {
		return true
	}
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\n' || c == '\r' || c == e.opts.delimiter {
			return true
		}
	}
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(first)
}
