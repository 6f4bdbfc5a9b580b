package flow

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

type celsius float64

type point struct{ X, Y int32 }

type padded struct {
	A bool
	B int64
	C bool
	D uint16
	E [3]bool
	F complex64
}

type linked struct {
	Value int
	next  *linked
}

type tree struct {
	Name string
	kids []tree
	more map[string]*tree
}

type mixed struct {
	ID     int64
	name   string
	Tags   []string
	Raw    []byte
	At     time.Time
	Took   time.Duration
	Temp   celsius
	Where  *point
	Path   []point
	Odd    [2]string
	counts map[string]int
	Nested map[point][]string
	Big    [40]struct {
		B bool
		N int64
	}
	IP netip.Addr
}

func mustCodec[T any](t testing.TB) Codec[T] {
	t.Helper()
	c, err := codecOf[T](nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// comesBack says that v survives the codec of its type, beside other bytes.
func comesBack[T any](t *testing.T, v T) {
	t.Helper()
	c := mustCodec[T](t)
	enc, err := c.Append([]byte("before"), &v)
	if err != nil {
		t.Fatalf("append %+v: %v", v, err)
	}
	enc, ok := bytes.CutPrefix(enc, []byte("before"))
	if !ok {
		t.Fatalf("what was before is gone: %x", enc)
	}
	src := append(bytes.Clone(enc), "after"...)
	var got T
	n, err := c.Decode(src, &got)
	clear(src) // src was lent
	if err != nil || n != len(enc) {
		t.Fatalf("decode %x of %T: took %d of %d: %v", enc, v, n, len(enc), err)
	}
	if !reflect.DeepEqual(got, v) {
		t.Fatalf("got  %#v\nwant %#v", got, v)
	}
	for cut := range enc {
		var part T
		if _, err := c.Decode(enc[:cut:cut], &part); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%T cut to %d of %d bytes: %v, want unexpected EOF", v, cut, len(enc), err)
		}
	}
}

func TestEveryKindOfValueComesBack(t *testing.T) {
	comesBack(t, true)
	comesBack(t, int8(-3))
	comesBack(t, uint16(65535))
	comesBack(t, math.MinInt)
	comesBack(t, uint(math.MaxUint))
	comesBack(t, float32(-1.5))
	comesBack(t, celsius(math.Inf(-1)))
	comesBack(t, complex(1, -2))
	comesBack(t, "")
	comesBack(t, strings.Repeat("long", 100))
	comesBack(t, []byte{0, 255})
	comesBack(t, []int(nil))
	comesBack(t, []int{})
	comesBack(t, []bool{true, false})
	comesBack(t, []uint16{1, 2, 3})
	comesBack(t, []padded{{A: true, B: -1, D: 7, E: [3]bool{1: true}, F: 3i}, {}})
	comesBack(t, [][]string{nil, {}, {"a", ""}})
	comesBack(t, [3]point{{1, 2}})
	comesBack(t, struct{}{})
	comesBack(t, [5]struct{}{})
	comesBack(t, make([]struct{}, 1000))
	comesBack(t, map[string]int(nil))
	comesBack(t, map[string]int{})
	comesBack(t, map[struct{}]struct{}{{}: {}})
	comesBack(t, map[padded]map[int]string{{}: nil, {A: true}: {1: "x", 2: "y"}})
	comesBack(t, (*int)(nil))
	comesBack(t, new(new(7)))
	comesBack(t, time.Minute)
	comesBack(t, Time(5))
	comesBack(t, linked{1, &linked{2, &linked{3, nil}}})
	comesBack(t, tree{"root", []tree{{Name: "a"}}, map[string]*tree{"b": {Name: "c"}, "nil": nil}})
	comesBack(t, KeyValue[point, []string]{point{1, 2}, []string{"x"}})
	comesBack(t, mixed{
		ID: -1, name: "n", Tags: []string{"a", "b"}, Raw: []byte{}, At: time.Unix(1, 2).UTC(),
		Took: 3, Temp: -4, Where: &point{5, 6}, Path: []point{{7, 8}}, Odd: [2]string{"o", "dd"},
		counts: map[string]int{"x": 1}, Nested: map[point][]string{{1, 1}: {"q"}},
		IP: netip.MustParseAddr("fe80::1%eth0"),
	})
}

func TestFloatsKeepTheirBits(t *testing.T) {
	c := mustCodec[[]float64](t)
	for _, bits := range []uint64{0x8000000000000000, 0x7ff8000000000001, 0xfff0000000000bad} {
		v := []float64{math.Float64frombits(bits)}
		enc, _ := c.Append(nil, &v)
		var got []float64
		if _, err := c.Decode(enc, &got); err != nil || math.Float64bits(got[0]) != bits {
			t.Errorf("%x became %x, %v", bits, math.Float64bits(got[0]), err)
		}
	}
}

func TestTimesKeepInstantAndOffset(t *testing.T) {
	type stamp time.Time
	east := time.FixedZone("somewhere", 5*3600+1800)
	for _, v := range []time.Time{
		{}, time.Now(), time.Unix(0, 999_999_999).In(east), time.Date(1, 1, 1, 0, 0, 0, 0, east),
		time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC), time.Unix(math.MaxInt64/2, 0), time.Now().In(time.FixedZone("", 0)),
	} {
		enc, err := mustCodec[time.Time](t).Append(nil, &v)
		if err != nil {
			t.Fatal(err)
		}
		var got stamp // the same coding
		if _, err := mustCodec[stamp](t).Decode(enc, &got); err != nil {
			t.Fatal(err)
		}
		g := time.Time(got)
		_, wantOff := v.Zone()
		_, gotOff := g.Zone()
		if !g.Equal(v) || gotOff != wantOff || (g.Location() == time.UTC) != (v.Location() == time.UTC) {
			t.Errorf("%v became %v", v, g)
		}
		if v.IsZero() && g != v && v.Location() == time.UTC {
			t.Errorf("the zero time became %#v", g)
		}
		if strings.Contains(g.String(), "m=") {
			t.Errorf("%v has a monotonic reading", g)
		}
	}
}

// The format is a promise to every checkpoint written so far.
func TestTheFormatStays(t *testing.T) {
	type rec struct {
		A    bool
		Name string
		B    int16
		C    int
		L    []uint32
		M    map[string]bool
		P    *rec
		T    time.Time
	}
	v := rec{true, "ab", -2, 3, []uint32{1, 258}, map[string]bool{"z": false, "y": true}, &rec{}, time.Unix(1, 2).UTC()}
	enc, err := mustCodec[rec](t).Append(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	const zeroRec = "00" + "0000" + "0000000000000000" + "00" + "00" + "00" + "00" + "0009" + "6e88f1ffffff" + "00000000" + "00000080"
	want := "01" + "feff" + "0300000000000000" + // fixed block
		"026162" + "03" + "01000000" + "02010000" + "03" + "017901" + "017a00" +
		"01" + zeroRec + "0100000000000000" + "02000000" + "00000080"
	if got := hex.EncodeToString(enc); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const id = "struct{A bool; Name string; B int16; C int; L []uint32; M ma...#"
	if got := mustCodec[rec](t).ID(); !strings.HasPrefix(got, id) || len(got) != len(id)+16 {
		t.Errorf("id %s", got)
	}
	if got := mustCodec[int64](t).ID(); got != "int64#c69e31870d7dc247" {
		t.Errorf("id %s", got)
	}
}

func TestEqualMapsHaveEqualBytes(t *testing.T) {
	c := mustCodec[map[float64]string](t)
	nan := math.NaN()
	a := map[float64]string{nan: "1", 1: "one"}
	a[nan] = "2"
	b := map[float64]string{nan: "2", 1: "one"}
	b[nan] = "1"
	for range 20 {
		x, _ := c.Append(nil, &a)
		y, _ := c.Append(nil, &b)
		if !bytes.Equal(x, y) {
			t.Fatalf("%x and %x", x, y)
		}
	}
	enc, _ := c.Append(nil, &a)
	var got map[float64]string
	if _, err := c.Decode(enc, &got); err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTheIDFollowsTheStructure(t *testing.T) {
	type a struct{ X int32 }
	type renamed struct{ X int32 }
	type field struct{ Y int32 }
	type kind struct{ X int64 }
	type more struct {
		X int32
		Y bool
	}
	type deep struct{ A []*a }
	type deeper struct{ A []*kind }
	if x, y := mustCodec[a](t).ID(), mustCodec[renamed](t).ID(); x != y {
		t.Errorf("another type name made %s of %s", y, x)
	}
	ids := map[string]string{}
	for what, id := range map[string]string{
		"as it was": mustCodec[a](t).ID(), "a renamed field": mustCodec[field](t).ID(),
		"a field of another kind": mustCodec[kind](t).ID(), "one more field": mustCodec[more](t).ID(),
		"deep": mustCodec[deep](t).ID(), "a change deep within": mustCodec[deeper](t).ID(),
		"cyclic": mustCodec[linked](t).ID(), "tree": mustCodec[tree](t).ID(),
		"address": mustCodec[netip.Addr](t).ID(), "prefix": mustCodec[netip.Prefix](t).ID(),
		"array": mustCodec[[2]int](t).ID(), "longer array": mustCodec[[3]int](t).ID(),
	} {
		if other, ok := ids[id]; ok {
			t.Errorf("%s and %s have the id %s", what, other, id)
		}
		ids[id] = what
	}
}

func TestWhatCantBeStoredIsNamedWithItsWay(t *testing.T) {
	type cache struct {
		//lint:ignore U1000 only the codec looks at it
		fn func()
	}
	refused := func(_ any, err error) string {
		if err == nil {
			return "accepted"
		}
		return err.Error()
	}
	for _, c := range []struct{ got, want string }{
		{refused(codecOf[struct{ Cache cache }](nil)), "field Cache.fn: functions can't be stored"},
		{refused(codecOf[struct{ A []map[string]*cache }](nil)), "field A[][value].fn: functions can't be stored"},
		{refused(codecOf[map[any]int](nil)), "field [key]: interfaces (interface {}) can't be stored"},
		{refused(codecOf[chan int](nil)), "type chan int: channels can't be stored"},
		{refused(codecOf[struct{ Mu sync.Mutex }](nil)), "field Mu: sync.Mutex: locks"},
		{refused(codecOf[struct{ P unsafe.Pointer }](nil)), "field P: addresses (unsafe.Pointer)"},
		{refused(codecOf[struct{ A *[3]error }](nil)), "field A[]: interfaces (error)"},
		{refused(codecOf[struct{ _ [0]func() }](nil)), "accepted"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestADepthLimitEndsCycles(t *testing.T) {
	ring := &linked{Value: 1}
	ring.next = ring
	c := mustCodec[*linked](t)
	if _, err := c.Append(nil, &ring); !errors.Is(err, errDeep) {
		t.Errorf("a ring: %v", err)
	}
	type nest []nest
	n := nest{nil}
	n[0] = n
	if _, err := mustCodec[nest](t).Append(nil, &n); !errors.Is(err, errDeep) {
		t.Errorf("a slice in itself: %v", err)
	}
	type dict map[int]dict
	d := dict{}
	d[1] = d
	if _, err := mustCodec[dict](t).Append(nil, &d); !errors.Is(err, errDeep) {
		t.Errorf("a map in itself: %v", err)
	}
	var long *linked
	for i := range maxDepth {
		long = &linked{i, long}
	}
	enc, err := c.Append(nil, &long)
	if err != nil {
		t.Fatal("a long list:", err)
	}
	var got *linked
	if _, err := c.Decode(enc, &got); err != nil || got.Value != maxDepth-1 {
		t.Errorf("a long list: %v", err)
	}
	bomb := bytes.Repeat([]byte{2}, 10*maxDepth) // each slice has one element
	var into nest
	if _, err := mustCodec[nest](t).Decode(bomb, &into); !errors.Is(err, errDeep) {
		t.Errorf("a bomb of slices: %v", err)
	}
}
