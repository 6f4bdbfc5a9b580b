package table

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// HashUint64 is the hash of every integer key (sign-extended to 64 bits) and
// of bools: the output function of SplitMix64 (Steele, Lea, Flood 2014). It is
// a bijection, and every output bit depends on every input bit.
func HashUint64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// HashString is the hash of a string key: XXH3, 64 bits, seed 0.
func HashString(s string) uint64 { return xxh3.HashString(s) }

// HasherOf returns the hash function of K. The hash is part of the format of
// stored state: the same on every machine and in every process.
//
//   - integers and bools: [HashUint64] of the sign-extended value;
//   - floats: HashUint64 of the IEEE bits, -0 counting as +0;
//   - strings: [HashString];
//   - arrays and structs that hold only integers and bools and have no padding
//     in the 64-bit layout: XXH3 over their little-endian encoding, int, uint
//     and uintptr as 8 bytes;
//   - other arrays and structs: a fold over the hashes of their elements;
//   - types of size zero: a constant.
//
// A NaN hashes by its bits, and a [Table] takes two NaNs with the same bits
// for the same key, which == does not. A type with interfaces, pointers,
// channels or functions in it is an error that names the part.
//
// The argument of the returned function escapes: pass a pointer into a batch,
// not to a local variable.
func HasherOf[K comparable]() (func(*K) uint64, error) {
	t := reflect.TypeFor[K]()
	if t.Size() == 8 {
		switch t.Kind() {
		case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr:
			return func(k *K) uint64 { return HashUint64(*(*uint64)(unsafe.Pointer(k))) }, nil
		}
	}
	switch t.Kind() {
	case reflect.Int32:
		return func(k *K) uint64 { return HashUint64(uint64(*(*int32)(unsafe.Pointer(k)))) }, nil
	case reflect.Uint32:
		return func(k *K) uint64 { return HashUint64(uint64(*(*uint32)(unsafe.Pointer(k)))) }, nil
	case reflect.String:
		return func(k *K) uint64 { return xxh3.HashString(*(*string)(unsafe.Pointer(k))) }, nil
	}
	f, err := hashOfType(t, t.String())
	if err != nil {
		return nil, err
	}
	return func(k *K) uint64 { return f(unsafe.Pointer(k)) }, nil
}

// hashFunc hashes the value that p points to.
type hashFunc func(p unsafe.Pointer) uint64

const (
	emptyHash = 0x2d358dccaa6c78a5 // of every value of size zero
	foldSeed  = 0x8bb84b93962eacc9
	foldMul   = 0x4b33a62ed433d4a3
)

// fold adds the hash of the next element to h. Folding is not commutative.
func fold(h, next uint64) uint64 {
	hi, lo := bits.Mul64(bits.RotateLeft64(h, 23)^next, foldMul)
	return hi ^ lo
}

func hashOfType(t reflect.Type, path string) (hashFunc, error) {
	switch t.Kind() {
	case reflect.Float32:
		return func(p unsafe.Pointer) uint64 { return HashUint64(float32Bits(*(*float32)(p))) }, nil
	case reflect.Float64:
		return func(p unsafe.Pointer) uint64 { return HashUint64(float64Bits(*(*float64)(p))) }, nil
	case reflect.Complex64:
		return func(p unsafe.Pointer) uint64 {
			c := *(*[2]float32)(p)
			return foldTwo(HashUint64(float32Bits(c[0])), HashUint64(float32Bits(c[1])))
		}, nil
	case reflect.Complex128:
		return func(p unsafe.Pointer) uint64 {
			c := *(*[2]float64)(p)
			return foldTwo(HashUint64(float64Bits(c[0])), HashUint64(float64Bits(c[1])))
		}, nil
	case reflect.String:
		return func(p unsafe.Pointer) uint64 { return xxh3.HashString(*(*string)(p)) }, nil
	case reflect.Array, reflect.Struct:
		return hashOfComposite(t, path)
	}
	if read := readerOf(t); read != nil {
		return func(p unsafe.Pointer) uint64 { return HashUint64(read(p)) }, nil
	}
	return nil, fmt.Errorf("hash %s: a key cannot have a %s in it", path, t.Kind())
}

func hashOfComposite(t reflect.Type, path string) (hashFunc, error) {
	if size, _, plain := canonical(t); plain {
		switch {
		case size == 0:
			return func(unsafe.Pointer) uint64 { return emptyHash }, nil
		case memoryIsCanonical && size == int(t.Size()):
			return func(p unsafe.Pointer) uint64 { return xxh3.Hash(unsafe.Slice((*byte)(p), size)) }, nil
		}
		return func(p unsafe.Pointer) uint64 { return xxh3.Hash(appendCanonical(make([]byte, 0, size), t, p)) }, nil
	}
	if t.Kind() == reflect.Array {
		elem, err := hashOfType(t.Elem(), path+"[]")
		if err != nil {
			return nil, err
		}
		n, size := t.Len(), t.Elem().Size()
		return func(p unsafe.Pointer) uint64 {
			h := uint64(foldSeed)
			for i := range n {
				h = fold(h, elem(unsafe.Add(p, uintptr(i)*size)))
			}
			return HashUint64(h)
		}, nil
	}
	return hashOfStruct(t, path)
}

// hashOfStruct folds over the fields. Blank fields count for nothing, as in ==.
func hashOfStruct(t reflect.Type, path string) (hashFunc, error) {
	type part struct {
		at   uintptr
		hash hashFunc
	}
	var parts []part
	for f := range t.Fields() {
		h, err := hashOfType(f.Type, path+"."+f.Name)
		if err != nil {
			return nil, err
		}
		if f.Name != "_" {
			parts = append(parts, part{f.Offset, h})
		}
	}
	if t.NumField() == 2 && t.Field(0).Type.Kind() == reflect.String && t.Field(1).Type.Kind() == reflect.String && len(parts) == 2 {
		return func(p unsafe.Pointer) uint64 {
			s := (*[2]string)(p)
			return foldTwo(xxh3.HashString(s[0]), xxh3.HashString(s[1]))
		}, nil
	}
	return func(p unsafe.Pointer) uint64 {
		h := uint64(foldSeed)
		for i := range parts {
			h = fold(h, parts[i].hash(unsafe.Add(p, parts[i].at)))
		}
		return HashUint64(h)
	}, nil
}

func foldTwo(a, b uint64) uint64 { return HashUint64(fold(fold(foldSeed, a), b)) }

func float32Bits(f float32) uint64 {
	if f == 0 {
		return 0
	}
	return uint64(math.Float32bits(f))
}

func float64Bits(f float64) uint64 {
	if f == 0 {
		return 0
	}
	return math.Float64bits(f)
}

// memoryIsCanonical says that plain values look in memory as they are encoded.
var memoryIsCanonical = binary.NativeEndian.Uint16([]byte{1, 0}) == 1 && unsafe.Sizeof(int(0)) == 8

// readerOf returns how to read an integer or bool as 64 bits, nil for others.
func readerOf(t reflect.Type) func(unsafe.Pointer) uint64 {
	switch t.Kind() {
	case reflect.Bool, reflect.Uint8:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*uint8)(p)) }
	case reflect.Int8:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*int8)(p)) }
	case reflect.Int16:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*int16)(p)) }
	case reflect.Uint16:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*uint16)(p)) }
	case reflect.Int32:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*int32)(p)) }
	case reflect.Uint32:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*uint32)(p)) }
	case reflect.Int64:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*int64)(p)) }
	case reflect.Uint64:
		return func(p unsafe.Pointer) uint64 { return *(*uint64)(p) }
	case reflect.Int:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*int)(p)) }
	case reflect.Uint, reflect.Uintptr:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*uint)(p)) }
	}
	return nil
}

// canonical returns the size and alignment of t in the 64-bit layout, and
// whether it is plain there: integers and bools only, no padding, no blank
// fields.
func canonical(t reflect.Type) (size, align int, plain bool) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return 1, 1, true
	case reflect.Int16, reflect.Uint16:
		return 2, 2, true
	case reflect.Int32, reflect.Uint32:
		return 4, 4, true
	case reflect.Int64, reflect.Uint64, reflect.Int, reflect.Uint, reflect.Uintptr:
		return 8, 8, true
	case reflect.Array:
		size, align, plain = canonical(t.Elem())
		return size * t.Len(), align, plain
	case reflect.Struct:
		align = 1
		for f := range t.Fields() {
			s, a, p := canonical(f.Type)
			if !p || f.Name == "_" || size%a != 0 {
				return 0, 0, false
			}
			size, align = size+s, max(align, a)
		}
		return size, align, size%align == 0
	}
	return 0, 0, false
}

// appendCanonical appends the little-endian encoding of a plain value.
func appendCanonical(dst []byte, t reflect.Type, p unsafe.Pointer) []byte {
	switch t.Kind() {
	case reflect.Array:
		for i := range t.Len() {
			dst = appendCanonical(dst, t.Elem(), unsafe.Add(p, uintptr(i)*t.Elem().Size()))
		}
		return dst
	case reflect.Struct:
		for f := range t.Fields() {
			dst = appendCanonical(dst, f.Type, unsafe.Add(p, f.Offset))
		}
		return dst
	}
	size, _, _ := canonical(t)
	x := readerOf(t)(p)
	for range size {
		dst = append(dst, byte(x))
		x >>= 8
	}
	return dst
}
