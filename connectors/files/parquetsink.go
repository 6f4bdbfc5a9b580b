package files

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/tailrace-io/tailrace/flow"
)

// rowGroupRows is how many rows a row group has, which is what one task reads of
// a file.
const rowGroupRows = 256 << 10

// ToParquet is a sink that writes Parquet parts, whose columns are the fields of
// T as the package says; Parquet reads them back. Times are timestamps in
// microseconds, UTC; durations are numbers of nanoseconds. Strings are kept in
// dictionaries as long as those are small. A part grows by row groups of 262,144
// rows, which are in memory until they are full.
func ToParquet[T any](dir string, opts ...Option) flow.Sink[T] {
	s := newSink[T](toParquet, dir, ".parquet", opts)
	columns, err := columnsOf(reflect.TypeFor[T](), "parquet")
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("write Parquet to %q: %w", dir, err))
		return s
	}
	schema := parquet.NewSchema("record", newParquetGroup(columns))
	var pages compress.Codec = &parquet.Snappy
	switch s.opts.compression {
	case Gzip:
		pages = &parquet.Gzip
	case Zstd:
		pages = &parquet.Zstd
	}
	s.encode = func(w io.Writer) (encoder[T], error) {
		e := &parquetEncoder[T]{columns: columns}
		return e, guardWrite(func() error {
			e.w = parquet.NewGenericWriter[any](w, schema, parquet.Compression(pages),
				parquet.MaxRowsPerRowGroup(rowGroupRows), parquet.DictionaryMaxBytes(1<<20))
			return nil
		})
	}
	return s
}

// guardWrite makes an error of a panic of the library.
func guardWrite(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("encode Parquet: %v", r)
		}
	}()
	return f()
}

// parquetGroup is a group whose columns keep their order; the library's sorts
// them by name.
type parquetGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g *parquetGroup) Fields() []parquet.Field { return g.fields }

type parquetField struct {
	parquet.Node
	name string
}

func (f *parquetField) Name() string { return f.name }

// Value is for rows that the library takes apart itself, which it isn't given.
func (f *parquetField) Value(base reflect.Value) reflect.Value { return base.FieldByName(f.name) }

func newParquetGroup(columns []column) parquet.Node {
	g := &parquetGroup{Group: parquet.Group{}}
	for i := range columns {
		c := &columns[i]
		node := parquetNode(c.kind)
		if c.null != nullZero {
			node = parquet.Optional(node)
		} else {
			node = parquet.Required(node)
		}
		g.Group[c.name] = node
		g.fields = append(g.fields, &parquetField{node, c.name})
	}
	return g
}

func parquetNode(k kind) parquet.Node {
	switch k {
	case kindBool:
		return parquet.Leaf(parquet.BooleanType)
	case kindInt8:
		return parquet.Int(8)
	case kindInt16:
		return parquet.Int(16)
	case kindInt32:
		return parquet.Int(32)
	case kindInt64, kindDuration:
		return parquet.Int(64)
	case kindUint8:
		return parquet.Uint(8)
	case kindUint16:
		return parquet.Uint(16)
	case kindUint32:
		return parquet.Uint(32)
	case kindUint64:
		return parquet.Uint(64)
	case kindFloat32:
		return parquet.Leaf(parquet.FloatType)
	case kindFloat64:
		return parquet.Leaf(parquet.DoubleType)
	case kindString:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case kindBytes:
		return parquet.Leaf(parquet.ByteArrayType)
	case kindTime, kindFlowTime:
		return parquet.Timestamp(parquet.Microsecond)
	}
	panic(fmt.Sprintf("files: kind %d is no Parquet column", k))
}

type parquetEncoder[T any] struct {
	w       *parquet.GenericWriter[any]
	columns []column
	rows    []parquet.Row
	values  []parquet.Value // of rows
}

func (e *parquetEncoder[T]) write(batch []T) error {
	width := len(e.columns)
	if need := len(batch) * width; cap(e.values) < need {
		e.values = make([]parquet.Value, need)
		e.rows = make([]parquet.Row, len(batch))
	}
	rows := e.rows[:len(batch)]
	for i := range batch {
		row := e.values[i*width : (i+1)*width : (i+1)*width]
		for j := range e.columns {
			row[j] = parquetValue(&e.columns[j], unsafe.Pointer(&batch[i]), j)
		}
		rows[i] = row
	}
	err := guardWrite(func() error {
		_, err := e.w.WriteRows(rows)
		return err
	})
	clear(e.values) // lent strings
	return err
}

// parquetValue is the value of c in the record rec; bytes refer to the record.
func parquetValue(c *column, rec unsafe.Pointer, index int) parquet.Value {
	p := c.value(rec)
	if p == nil {
		return parquet.NullValue().Level(0, 0, index)
	}
	level := 0
	if c.null != nullZero {
		level = 1
	}
	return parquetScalar(c.kind, p).Level(0, level, index)
}

func parquetScalar(k kind, p unsafe.Pointer) parquet.Value {
	switch k {
	case kindBool:
		return parquet.BooleanValue(*(*bool)(p))
	case kindInt8:
		return parquet.Int32Value(int32(*(*int8)(p)))
	case kindInt16:
		return parquet.Int32Value(int32(*(*int16)(p)))
	case kindInt32, kindUint32:
		return parquet.Int32Value(*(*int32)(p))
	case kindUint8:
		return parquet.Int32Value(int32(*(*uint8)(p)))
	case kindUint16:
		return parquet.Int32Value(int32(*(*uint16)(p)))
	case kindInt64, kindUint64, kindDuration, kindFlowTime:
		return parquet.Int64Value(*(*int64)(p))
	case kindFloat32:
		return parquet.FloatValue(*(*float32)(p))
	case kindFloat64:
		return parquet.DoubleValue(*(*float64)(p))
	case kindString:
		s := *(*string)(p)
		return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s)))
	case kindBytes:
		return parquet.ByteArrayValue(*(*[]byte)(p))
	case kindTime:
		return parquet.Int64Value((*(*time.Time)(p)).UnixMicro())
	}
	panic(fmt.Sprintf("files: kind %d is no Parquet value", k))
}

func (e *parquetEncoder[T]) finish() error { return guardWrite(e.w.Close) }
