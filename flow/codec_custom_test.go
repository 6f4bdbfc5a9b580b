package flow

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// celsiusCodec stores a temperature as text.
type celsiusCodec struct{ id string }

func (c celsiusCodec) ID() string { return c.id }
func (c celsiusCodec) Append(dst []byte, v *celsius) ([]byte, error) {
	return fmt.Appendf(dst, "%g", float64(*v)), nil
}

func (c celsiusCodec) Decode(src []byte, v *celsius) (int, error) {
	_, err := fmt.Sscanf(string(src), "%g", (*float64)(v))
	return len(src), err
}

// greedyCodec says that it took more than it was given.
type greedyCodec struct{ celsiusCodec }

func (c greedyCodec) Decode(src []byte, v *celsius) (int, error) { return len(src) + 1, nil }

func lookupOf[T any](c Codec[T]) func(reflect.Type) (any, bool) {
	return func(t reflect.Type) (any, bool) { return boxCodec(c), t == reflect.TypeFor[T]() }
}

func TestARegisteredCodecGoesFirst(t *testing.T) {
	type weather struct {
		Name string
		Days []celsius
		By   map[string]*celsius
	}
	mine := Codec[celsius](celsiusCodec{"text"})
	direct, err := codecOf[celsius](lookupOf(mine))
	if err != nil || direct.ID() != "text" {
		t.Fatalf("id %v, %v", direct.ID(), err)
	}
	c, err := codecOf[weather](lookupOf(mine))
	if err != nil {
		t.Fatal(err)
	}
	v := weather{"w", []celsius{1.5, -20}, map[string]*celsius{"x": new(celsius(3))}}
	enc, err := c.Append(nil, &v)
	if err != nil || !strings.Contains(string(enc), "-20") {
		t.Fatalf("%q, %v", enc, err)
	}
	var got weather
	if n, err := c.Decode(enc, &got); err != nil || n != len(enc) || !reflect.DeepEqual(got, v) {
		t.Errorf("got %+v, %d of %d, %v", got, n, len(enc), err)
	}
	other, _ := codecOf[weather](lookupOf(Codec[celsius](celsiusCodec{"text2"})))
	if plain := mustCodec[weather](t).ID(); c.ID() == plain || c.ID() == other.ID() {
		t.Errorf("another codec within leaves the id %s", c.ID())
	}
	greedy, _ := codecOf[weather](lookupOf(Codec[celsius](greedyCodec{})))
	if _, err := greedy.Decode(enc, new(weather)); err == nil {
		t.Error("a codec may take more than it was given")
	}
}

func TestTypesThatEncodeThemselvesDo(t *testing.T) {
	u, _ := url.Parse("https://a.b/c?d=e")
	comesBack(t, []netip.Addr{netip.MustParseAddr("10.0.0.1"), {}})
	comesBack(t, map[netip.AddrPort]*url.URL{netip.MustParseAddrPort("[::1]:80"): u})
	if id := mustCodec[netip.Addr](t).ID(); !strings.HasPrefix(id, "(binary net/netip.Addr)#") {
		t.Errorf("id %s", id)
	}
}

// withTime has the methods of time.Time, which know nothing of Count.
type withTime struct {
	time.Time
	Count int
}

type withAddr struct {
	*netip.Prefix
	Port int
}

func TestEmbeddedMethodsDontForgetTheOtherFields(t *testing.T) {
	p := netip.MustParsePrefix("10.0.0.0/8")
	comesBack(t, withTime{time.Unix(1, 0).UTC(), 7})
	comesBack(t, withAddr{&p, 80})
	comesBack(t, withAddr{nil, 80})
}

// failing has methods that fail.
type failing struct{ N int }

var errFailing = errors.New("failing on purpose")

func (f failing) MarshalBinary() ([]byte, error)    { return nil, failIf(f.N == 1) }
func (f *failing) UnmarshalBinary(src []byte) error { return failIf(true) }

func failIf(b bool) error {
	if b {
		return errFailing
	}
	return nil
}

func TestErrorsOfUserCodeComeThroughWithTheirWay(t *testing.T) {
	type outer struct{ Deep struct{ F []failing } }
	c := mustCodec[outer](t)
	var v outer
	v.Deep.F = []failing{{0}, {1}}
	_, err := c.Append(nil, &v)
	if !errors.Is(err, errFailing) || !strings.Contains(err.Error(), "encode flow.outer: field Deep.F: ") {
		t.Errorf("append: %v", err)
	}
	v.Deep.F = v.Deep.F[:1]
	enc, err := c.Append(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Decode(enc, new(outer)); !errors.Is(err, errFailing) || !strings.Contains(err.Error(), "field Deep.F: ") {
		t.Errorf("decode: %v", err)
	}
}

func TestLayoutNamesTheFirstPointer(t *testing.T) {
	type inner struct{ Label string }
	for _, c := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[struct {
			A bool
			B int32
		}](), "inline, 8 B"},
		{reflect.TypeFor[[3]point](), "inline, 24 B"},
		{reflect.TypeFor[[0]string](), "inline, 0 B"},
		{reflect.TypeFor[string](), "kept beside the table: it is a string"},
		{reflect.TypeFor[struct {
			N int
			A [2]inner
		}](), "kept beside the table: field A[].Label is a string"},
		{reflect.TypeFor[linked](), "kept beside the table: field next is a pointer"},
		{reflect.TypeFor[withTime](), "kept beside the table: field Time is a time.Time, which points to its location (flow.Time doesn't)"},
		{reflect.TypeFor[struct{ F func() }](), "kept beside the table: field F is a function"},
	} {
		if got := LayoutOf(c.typ).String(); got != c.want {
			t.Errorf("%v: %q, want %q", c.typ, got, c.want)
		}
	}
}
