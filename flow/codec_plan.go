package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// The built-in format. A value is a fixed block, then its parts:
//
//	fixed block: the booleans and numbers of the value, of its structs and of
//	             its arrays, in order of declaration, little-endian, without
//	             padding. A bool is a byte, 0 or 1; an int or uint is 8 bytes.
//	parts:       everything else, in order of declaration.
//	  string     uvarint length, bytes
//	  slice      uvarint 0 for nil, else length+1; the elements
//	  map        uvarint 0 for nil, else length+1; key and value of each entry,
//	             sorted by the bytes of the two
//	  pointer    byte 0 for nil, else 1 and what it points to
//	  time.Time  int64 Unix seconds, uint32 nanoseconds, int32 seconds east of
//	             UTC (-1<<31: UTC itself)
//	  array      of elements that don't fit the fixed block: the elements
//	  others     uint32 length, then the bytes of the type's own encoding
//
// Numbers have fixed widths because that is faster than varints in both
// directions, the more so as neighbours in memory are copied together; lengths
// are varints because strings are mostly short.

// maxDepth bounds how deep pointers, slices and maps may nest: 10,000 elements
// of a linked list.
const maxDepth = 10_000

var (
	errShort = fmt.Errorf("the data ends within a value: %w", io.ErrUnexpectedEOF)
	errDeep  = errors.New("nested deeper than 10,000 (does the value refer to itself?)")
)

// plan says how the values of one type are encoded. It is built once, and not
// changed afterwards.
type plan struct {
	size  uintptr // in memory
	fixed int     // bytes of the fixed block
	moves []move  // between memory and fixed block
	parts []part  // what follows the fixed block
	least int     // the fewest bytes that a value takes
	flat  bool    // encoding and memory are the same bytes
}

// part is a piece of a value that follows its fixed block.
type part struct {
	name   string // of the field, for errors; "" for the value itself
	mem    uintptr
	coding partCoding
}

// partCoding is one way to encode a part. p points at the part in memory,
// which decode finds zeroed; decode returns what follows the part in src.
type partCoding interface {
	append(dst []byte, p unsafe.Pointer, depth int) ([]byte, error)
	decode(src []byte, p unsafe.Pointer, depth int) (rest []byte, err error)
	least() int
}

func (c *plan) append(dst []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	if c.fixed > 0 {
		n := len(dst)
		dst = slices.Grow(dst, c.fixed)[:n+c.fixed]
		for i := range c.moves {
			c.moves[i].store(dst[n:], p)
		}
	}
	for i := range c.parts {
		t := &c.parts[i]
		var err error
		if dst, err = t.coding.append(dst, unsafe.Add(p, t.mem), depth); err != nil {
			return nil, t.named(err)
		}
	}
	return dst, nil
}

func (c *plan) decode(src []byte, p unsafe.Pointer, depth int) ([]byte, error) {
	if len(src) < c.fixed {
		return nil, errShort
	}
	for i := range c.moves {
		if err := c.moves[i].load(src, p); err != nil {
			return nil, err
		}
	}
	src = src[c.fixed:]
	for i := range c.parts {
		t := &c.parts[i]
		var err error
		if src, err = t.coding.decode(src, unsafe.Add(p, t.mem), depth); err != nil {
			return nil, t.named(err)
		}
	}
	return src, nil
}

func (t *part) named(err error) error {
	if t.name == "" || errors.Is(err, errDeep) { // ten thousand names help nobody
		return err
	}
	return fmt.Errorf("field %s: %w", t.name, err)
}

// place makes sub, the plan of a field or element, a piece of c.
func (c *plan) place(sub *plan, mem uintptr, name string) {
	for _, m := range sub.moves {
		m.mem += mem
		m.enc += c.fixed
		c.moves = appendMove(c.moves, m)
	}
	c.fixed += sub.fixed
	for _, t := range sub.parts {
		t.mem += mem
		switch {
		case t.name == "":
			t.name = name
		case name != "":
			t.name = name + "." + t.name
		}
		c.parts = append(c.parts, t)
	}
}

// finish computes what follows from the moves and parts.
func (c *plan) finish() {
	c.least = c.fixed
	for _, t := range c.parts {
		c.least += t.coding.least()
	}
	c.flat = len(c.parts) == 0 && len(c.moves) == 1 && c.moves[0].identical() &&
		uintptr(c.fixed) == c.size
}

// moveKind says how a run of equal scalars passes between memory and block.
type moveKind uint8

const (
	moveCopy moveKind = iota // bytes are the same, but for their order
	moveBool                 // as moveCopy; anything but 0 and 1 is an error
	moveInt                  // int on a 32-bit machine: 4 bytes here, 8 there
	moveUint                 // likewise uint
)

// move carries n bytes of scalars between memory and fixed block.
type move struct {
	mem   uintptr // offset in memory
	enc   int     // offset in the fixed block
	n     int     // bytes in the fixed block
	width int     // of a scalar; of the widest when runs were joined
	kind  moveKind
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// identical says that memory and fixed block hold the same bytes.
func (m *move) identical() bool {
	return m.kind == moveCopy && (littleEndian || m.width == 1)
}

// appendMove appends m, or joins it to its predecessor when both are
// neighbours at both ends.
func appendMove(moves []move, m move) []move {
	if len(moves) > 0 {
		prev := &moves[len(moves)-1]
		same := prev.kind == m.kind && (m.kind == moveBool || prev.identical() && m.identical())
		if same && prev.mem+uintptr(prev.n) == m.mem && prev.enc+prev.n == m.enc {
			prev.n += m.n
			prev.width = max(prev.width, m.width)
			return moves
		}
	}
	return append(moves, m)
}

// store writes what p points to into block.
func (m *move) store(block []byte, p unsafe.Pointer) {
	block, p = block[m.enc:m.enc+m.n], unsafe.Add(p, m.mem)
	switch {
	case m.kind == moveInt:
		for i := range m.n / 8 {
			binary.LittleEndian.PutUint64(block[8*i:], uint64(*(*int)(unsafe.Add(p, bits.UintSize/8*i))))
		}
	case m.kind == moveUint:
		for i := range m.n / 8 {
			binary.LittleEndian.PutUint64(block[8*i:], uint64(*(*uint)(unsafe.Add(p, bits.UintSize/8*i))))
		}
	case !littleEndian && m.width > 1:
		copySwapped(block, unsafe.Slice((*byte)(p), m.n), m.width)
	case m.n == 8:
		*(*[8]byte)(block) = *(*[8]byte)(p)
	default:
		copy(block, unsafe.Slice((*byte)(p), m.n))
	}
}

// load reads block into what p points to.
func (m *move) load(block []byte, p unsafe.Pointer) error {
	block, p = block[m.enc:m.enc+m.n], unsafe.Add(p, m.mem)
	switch {
	case m.kind == moveInt:
		return loadInts(block, p)
	case m.kind == moveUint:
		return loadUints(block, p)
	case m.kind == moveBool:
		for i, b := range block {
			if b > 1 {
				return fmt.Errorf("a bool has the value %d", b)
			}
			*(*bool)(unsafe.Add(p, i)) = b == 1
		}
	case !littleEndian && m.width > 1:
		copySwapped(unsafe.Slice((*byte)(p), m.n), block, m.width)
	case m.n == 8:
		*(*[8]byte)(p) = *(*[8]byte)(block)
	default:
		copy(unsafe.Slice((*byte)(p), m.n), block)
	}
	return nil
}

func loadInts(block []byte, p unsafe.Pointer) error {
	for i := range len(block) / 8 {
		v := int64(binary.LittleEndian.Uint64(block[8*i:]))
		if v < math.MinInt || v > math.MaxInt {
			return fmt.Errorf("%d does not fit an int of this machine", v)
		}
		*(*int)(unsafe.Add(p, bits.UintSize/8*i)) = int(v)
	}
	return nil
}

func loadUints(block []byte, p unsafe.Pointer) error {
	for i := range len(block) / 8 {
		v := binary.LittleEndian.Uint64(block[8*i:])
		if v > math.MaxUint {
			return fmt.Errorf("%d does not fit a uint of this machine", v)
		}
		*(*uint)(unsafe.Add(p, bits.UintSize/8*i)) = uint(v)
	}
	return nil
}

// copySwapped copies scalars of width bytes and reverses the bytes of each.
func copySwapped(dst, src []byte, width int) {
	for at := 0; at < len(src); at += width {
		for i := range width {
			dst[at+i] = src[at+width-1-i]
		}
	}
}
