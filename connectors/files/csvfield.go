package files

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/tailrace-io/tailrace/flow"
)

// fieldDecoder turns the text of CSV fields into values. It is used by one
// reader.
type fieldDecoder struct {
	strings arena
	nulls   []string
	layouts []string
	lenient bool
}

func newFieldDecoder(o *options) fieldDecoder {
	return fieldDecoder{nulls: o.nulls, layouts: o.layouts, lenient: o.lenient}
}

var errEmpty = errors.New("the field is empty (Nulls(\"\") reads that as zero, a pointer as null)")

// decode stores text, which is lent, in the column c of the zeroed record rec.
func (d *fieldDecoder) decode(c *column, rec unsafe.Pointer, text []byte, quoted bool) error {
	if d.isNull(c, text, quoted) {
		return nil // as zeroed
	}
	if len(text) == 0 && !c.isText() {
		return errEmpty
	}
	return d.parse(c, c.target(rec), text)
}

func (c *column) isText() bool {
	return c.kind == kindString || c.kind == kindBytes || c.kind == kindText
}

// isNull says whether a field means null. In quotes it is text where it can be.
func (d *fieldDecoder) isNull(c *column, text []byte, quoted bool) bool {
	if quoted && c.isText() {
		return false
	}
	if d.nulls == nil {
		return len(text) == 0 && c.null != nullZero
	}
	return slices.Contains(d.nulls, unsafeString(text))
}

// unsafeString is b as a string, for calls that don't keep it.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// parse stores the value of text at p.
func (d *fieldDecoder) parse(c *column, p unsafe.Pointer, text []byte) (err error) {
	switch c.kind {
	case kindString:
		if d.lenient {
			text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
		}
		*(*string)(p) = d.strings.copy(text)
	case kindBytes:
		*(*[]byte)(p) = bytes.Clone(text)
	case kindInt64:
		*(*int64)(p), err = parseInt(text, 64)
	case kindInt32:
		err = storeInt((*int32)(p), text, 32)
	case kindInt16:
		err = storeInt((*int16)(p), text, 16)
	case kindInt8:
		err = storeInt((*int8)(p), text, 8)
	case kindUint64:
		err = storeUint((*uint64)(p), text, 64)
	case kindUint32:
		err = storeUint((*uint32)(p), text, 32)
	case kindUint16:
		err = storeUint((*uint16)(p), text, 16)
	case kindUint8:
		err = storeUint((*uint8)(p), text, 8)
	case kindFloat64:
		*(*float64)(p), err = strconv.ParseFloat(unsafeString(text), 64)
	case kindFloat32:
		var f float64
		f, err = strconv.ParseFloat(unsafeString(text), 32)
		*(*float32)(p) = float32(f)
	case kindBool:
		*(*bool)(p), err = strconv.ParseBool(unsafeString(text))
	case kindTime:
		*(*time.Time)(p), err = d.parseTime(text)
	case kindFlowTime:
		*(*flow.Time)(p), err = d.parseFlowTime(text)
	case kindDuration:
		*(*time.Duration)(p), err = time.ParseDuration(unsafeString(text))
	case kindText:
		err = reflect.NewAt(c.typ, p).Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
	}
	if err != nil {
		return fmt.Errorf("%q is no %v: %w", clip(text), c.typ, withoutText(err))
	}
	return nil
}

// clip shortens a field for an error, which must not refer to the buffer.
func clip(text []byte) string { return string(text[:min(len(text), 100)]) }

// withoutText drops the input from an error of strconv, which names it again.
func withoutText(err error) error {
	if num, ok := errors.AsType[*strconv.NumError](err); ok {
		return num.Err
	}
	return errors.New(err.Error())
}

func storeInt[I int8 | int16 | int32](p *I, text []byte, bits int) error {
	v, err := parseInt(text, bits)
	*p = I(v)
	return err
}

func storeUint[U uint8 | uint16 | uint32 | uint64](p *U, text []byte, bits int) error {
	v, err := strconv.ParseUint(unsafeString(text), 10, bits)
	*p = U(v)
	return err
}

// parseInt is strconv.ParseInt with a short way for up to 18 digits.
func parseInt(text []byte, bits int) (int64, error) {
	digits, negative := text, false
	if len(text) > 0 && text[0] == '-' {
		digits, negative = text[1:], true
	}
	if len(digits) == 0 || len(digits) > 18 {
		return strconv.ParseInt(unsafeString(text), 10, bits)
	}
	v := int64(0)
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return strconv.ParseInt(unsafeString(text), 10, bits)
		}
		v = v*10 + int64(c)
	}
	if negative {
		v = -v
	}
	if shift := 64 - bits; v<<shift>>shift != v {
		return strconv.ParseInt(unsafeString(text), 10, bits)
	}
	return v, nil
}

// isInteger says whether text is digits only, after an optional sign.
func isInteger(text []byte) bool {
	if text[0] == '-' {
		text = text[1:]
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// parseTime tries the layouts in their order, so that what a text means doesn't
// depend on those before it.
func (d *fieldDecoder) parseTime(text []byte) (t time.Time, err error) {
	for _, layout := range d.layouts {
		if t, err = time.Parse(layout, unsafeString(text)); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("it has none of the layouts %q", d.layouts)
}

// parseFlowTime also takes microseconds since the epoch and the ends of time.
func (d *fieldDecoder) parseFlowTime(text []byte) (flow.Time, error) {
	switch string(text) {
	case "-inf":
		return flow.MinTime, nil
	case "+inf":
		return flow.MaxTime, nil
	}
	if isInteger(text) {
		us, err := parseInt(text, 64)
		return flow.Time(us), err
	}
	t, err := d.parseTime(text)
	return flow.TimeOf(t), err
}
