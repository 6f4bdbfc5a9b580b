package files

import (
	"fmt"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// filler stores the values of pages in one field of records.
type filler interface {
	// load takes the values of a page, of which that many are not null. They
	// are lent until the next load.
	load(page parquet.Page, present int) error
	// fill stores the next n values, none of which is null, in records that are
	// stride bytes apart.
	fill(base unsafe.Pointer, stride uintptr, n int)
	// fillNullable stores a value in each record whose level is present, and
	// null in the others.
	fillNullable(base unsafe.Pointer, stride uintptr, levels []byte, present byte)
	// skip passes over the next n values that are not null.
	skip(n int)
	// width is the number of bytes of a record that fill sets.
	width() uintptr
}

// converter appends to dst Go values made of Parquet's.
type converter[G any] func(dst []G, v encoding.Values) ([]G, error)

// pageFiller is the filler of a field whose values are of type G. Values are
// converted a page at a time, those of a dictionary once.
type pageFiller[G any] struct {
	column column
	// view shows values that are what is wanted already, without a copy; where it
	// is nil, convert makes them.
	view    func(encoding.Values) []G
	convert converter[G]

	values  []G     // of the page that are left; or
	indexes []int32 // of the page that are left, into dict
	dict    []G

	dictOf  parquet.Dictionary // of which dict is
	scratch []G
}

func (f *pageFiller[G]) load(page parquet.Page, present int) error {
	f.values, f.indexes = nil, nil
	data := page.Data()
	if d := page.Dictionary(); d != nil {
		if err := f.loadDict(d); err != nil {
			return err
		}
		f.indexes = data.Int32()
		if len(f.indexes) != present {
			return fmt.Errorf("a page has %d values instead of %d", len(f.indexes), present)
		}
		return nil
	}
	values, err := f.valuesOf(f.scratch[:0], data)
	if err != nil {
		return err
	}
	if f.view == nil {
		f.scratch = values
	}
	if len(values) < present {
		return fmt.Errorf("a page has %d values instead of %d", len(values), present)
	}
	f.values = values
	return nil
}

func (f *pageFiller[G]) valuesOf(dst []G, v encoding.Values) ([]G, error) {
	if f.view != nil {
		return f.view(v), nil
	}
	return f.convert(dst, v)
}

// loadDict converts a dictionary, which outlives the pages of its column.
func (f *pageFiller[G]) loadDict(d parquet.Dictionary) error {
	if f.dictOf == d {
		return nil
	}
	dict, err := f.valuesOf(nil, d.Page().Data())
	if err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	f.dict, f.dictOf = dict, d
	return nil
}

func (f *pageFiller[G]) fill(base unsafe.Pointer, stride uintptr, n int) {
	switch {
	case f.column.null != nullZero:
		for i := range n {
			*(*G)(f.column.target(unsafe.Add(base, uintptr(i)*stride))) = f.next()
		}
	case f.indexes != nil:
		base = unsafe.Add(base, f.column.offset)
		dict := f.dict
		for i, index := range f.indexes[:n] {
			*(*G)(unsafe.Add(base, uintptr(i)*stride)) = dict[index]
		}
		f.indexes = f.indexes[n:]
	default:
		base = unsafe.Add(base, f.column.offset)
		for i, v := range f.values[:n] {
			*(*G)(unsafe.Add(base, uintptr(i)*stride)) = v
		}
		f.values = f.values[n:]
	}
}

func (f *pageFiller[G]) fillNullable(base unsafe.Pointer, stride uintptr, levels []byte, present byte) {
	for i, level := range levels {
		rec := unsafe.Add(base, uintptr(i)*stride)
		if level == present {
			*(*G)(f.column.target(rec)) = f.next()
		} else {
			f.setNull(rec)
		}
	}
}

func (f *pageFiller[G]) skip(n int) {
	if f.indexes != nil {
		f.indexes = f.indexes[n:]
	} else {
		f.values = f.values[n:]
	}
}

func (f *pageFiller[G]) next() (v G) {
	if f.indexes != nil {
		v = f.dict[f.indexes[0]]
		f.indexes = f.indexes[1:]
		return v
	}
	v = f.values[0]
	f.values = f.values[1:]
	return v
}

func (f *pageFiller[G]) setNull(rec unsafe.Pointer) {
	var zero G
	p := unsafe.Add(rec, f.column.offset)
	switch f.column.null {
	case nullPointer:
		*(*unsafe.Pointer)(p) = nil
		return
	case nullFlag:
		*(*bool)(unsafe.Add(rec, f.column.valid)) = false
	}
	*(*G)(p) = zero
}

func (f *pageFiller[G]) width() uintptr {
	switch f.column.null {
	case nullPointer:
		return unsafe.Sizeof(uintptr(0))
	case nullFlag:
		return f.column.typ.Size() + 1
	}
	return f.column.typ.Size()
}
