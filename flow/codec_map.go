package flow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// mapCoding encodes maps. It goes through reflection, entry by entry: state
// with many entries belongs in a state.Map.
type mapCoding struct {
	typ        reflect.Type
	key, value *plan
}

func (m *mapCoding) least() int { return 1 }

// mostMapHint bounds what is reserved for a map before its entries are read.
const mostMapHint = 1024

func (m *mapCoding) append(dst []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	v := reflect.NewAt(m.typ, p).Elem()
	if v.IsNil() {
		return append(dst, 0), nil
	}
	if depth >= maxDepth {
		return nil, errDeep
	}
	dst = binary.AppendUvarint(dst, uint64(v.Len())+1)
	if v.Len() == 0 {
		return dst, nil
	}
	var (
		entries = make([]mapEntry, 0, v.Len())
		key     = reflect.New(m.typ.Key())
		value   = reflect.New(m.typ.Elem())
		buf     []byte
		err     error
	)
	for it := v.MapRange(); it.Next(); {
		key.Elem().SetIterKey(it)
		value.Elem().SetIterValue(it)
		e := mapEntry{from: len(buf)}
		if buf, err = m.key.append(buf, key.UnsafePointer(), depth+1); err != nil {
			return nil, err
		}
		e.mid = len(buf)
		if buf, err = m.value.append(buf, value.UnsafePointer(), depth+1); err != nil {
			return nil, err
		}
		e.to = len(buf)
		e.prefix = prefixOf(buf[e.from:e.mid])
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b mapEntry) int { return a.compare(&b, buf) })
	for _, e := range entries {
		dst = append(dst, buf[e.from:e.to]...)
	}
	return dst, nil
}

// mapEntry is where an entry lies in a buffer: key, then value.
type mapEntry struct {
	prefix        uint64 // the begin of the key, which mostly decides
	from, mid, to int
}

// prefixOf compares as the first eight bytes of key do, shorter keys first.
func prefixOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var first [8]byte
	copy(first[:], key)
	return binary.BigEndian.Uint64(first[:])
}

// compare orders entries by key, and those with the same, which is a NaN, by
// value.
func (a *mapEntry) compare(b *mapEntry, buf []byte) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	if c := bytes.Compare(buf[a.from:a.mid], buf[b.from:b.mid]); c != 0 {
		return c
	}
	return bytes.Compare(buf[a.mid:a.to], buf[b.mid:b.to])
}

func (m *mapCoding) decode(src []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	least := m.key.least + m.value.least
	n, isNil, rest, err := count(src, least)
	switch {
	case err != nil || isNil:
		return rest, err
	case least == 0 && n > 1:
		return nil, fmt.Errorf("a map has %d entries, though only one is possible", n)
	case depth >= maxDepth:
		return nil, errDeep
	}
	var (
		made  = reflect.MakeMapWithSize(m.typ, min(n, mostMapHint))
		key   = reflect.New(m.typ.Key())
		value = reflect.New(m.typ.Elem())
	)
	for range n {
		key.Elem().SetZero()
		value.Elem().SetZero()
		if rest, err = m.key.decode(rest, key.UnsafePointer(), depth+1); err != nil {
			return nil, err
		}
		if rest, err = m.value.decode(rest, value.UnsafePointer(), depth+1); err != nil {
			return nil, err
		}
		made.SetMapIndex(key.Elem(), value.Elem())
	}
	if made.Len() != n {
		return nil, errors.New("a map has the same key twice")
	}
	reflect.NewAt(m.typ, p).Elem().Set(made)
	return rest, nil
}
