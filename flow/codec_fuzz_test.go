package flow

import (
	"bytes"
	"runtime"
	"testing"
	"time"
)

// everything has each kind of part, and types within themselves.
type everything struct {
	B    bool
	N    [3]int16
	F    float64
	S    string
	Raw  []byte
	Nums []uint32
	Recs []padded
	Strs [][]string
	Odd  [2]map[bool]string
	Ptr  *everything
	Kids []everything
	Map  map[string]everything
	None []struct{}
	Only map[struct{}]struct{}
	At   time.Time
	Big  [20]struct {
		B bool
		N int64
	}
	Temp celsius
}

func sample() everything {
	return everything{
		B: true, N: [3]int16{1, 2}, S: "s", Raw: []byte{1}, Nums: []uint32{1, 2}, Recs: []padded{{A: true}},
		Strs: [][]string{{"a"}, nil}, Odd: [2]map[bool]string{{true: "x"}}, Ptr: &everything{S: "deep"},
		Kids: []everything{{}}, Map: map[string]everything{"k": {}}, None: make([]struct{}, 3),
		Only: map[struct{}]struct{}{{}: {}}, At: time.Unix(1, 2).UTC(), Temp: 36.6,
	}
}

// Whatever the bytes are: decoding neither panics nor hangs nor allocates much
// more than they are long, and what it accepts has one encoding.
func FuzzDecode(f *testing.F) {
	c, err := codecOf[everything](lookupOf(Codec[celsius](celsiusCodec{"text"})))
	if err != nil {
		f.Fatal(err)
	}
	v := sample()
	enc, err := c.Append(nil, &v)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(enc)
	f.Add(enc[:len(enc)/2])
	f.Add(bytes.Repeat([]byte{0xff}, 300))
	f.Fuzz(func(t *testing.T, src []byte) {
		var got everything
		n, err := c.Decode(src, &got)
		if err != nil {
			return
		}
		if n > len(src) {
			t.Fatalf("took %d of %d bytes", n, len(src))
		}
		again, err := c.Append(nil, &got)
		if err != nil {
			t.Fatalf("what was decoded can't be encoded: %v", err)
		}
		var back everything
		if m, err := c.Decode(again, &back); err != nil || m != len(again) {
			t.Fatalf("what was encoded can't be decoded: %d of %d, %v", m, len(again), err)
		}
		last, err := c.Append(nil, &back)
		if err != nil || !bytes.Equal(again, last) {
			t.Fatalf("two encodings of one value: %x and %x, %v", again, last, err)
		}
	})
}

func decodes[T any](src []byte) func(t *testing.T) error {
	return func(t *testing.T) error {
		_, err := mustCodec[T](t).Decode(src, new(T))
		return err
	}
}

func TestLengthsAreComparedWithWhatIsThere(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	large := []byte{0x80, 0x80, 0x80, 0x80, 0x04} // 1<<30
	for name, decode := range map[string]func(t *testing.T) error{
		"a huge string":           decodes[string](huge),
		"a huge slice":            decodes[[]int64](huge),
		"a huge slice of maps":    decodes[[]map[int]int](huge),
		"a huge map":              decodes[map[int]int](huge),
		"a large string":          decodes[string](large),
		"a large slice":           decodes[[][8]int64](append(large, make([]byte, 64)...)),
		"a large slice of slices": decodes[[][]int](large),
		"a map of nothing":        decodes[map[struct{}]struct{}](huge),
		"an endless length":       decodes[string](bytes.Repeat([]byte{0x80}, 20)),
		"a bool of 2":             decodes[bool]([]byte{2}),
		"a pointer of 2":          decodes[*int]([]byte{2}),
		"a key twice":             decodes[map[uint8]struct{}]([]byte{3, 7, 7}),
		"a second of 2^32 ns":     decodes[time.Time](bytes.Repeat([]byte{0xff}, 16)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := decode(t)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s made it allocate %d bytes", name, got)
		}
	}
	var many []struct{}
	if _, err := mustCodec[[]struct{}](t).Decode(large, &many); err != nil || len(many) != 1<<30-1 {
		t.Errorf("elements that take nothing: %d, %v", len(many), err)
	}
}

func TestBigEndianMachinesSwap(t *testing.T) {
	got := make([]byte, 8)
	copySwapped(got, []byte{1, 2, 3, 4, 5, 6, 7, 8}, 4)
	if !bytes.Equal(got, []byte{4, 3, 2, 1, 8, 7, 6, 5}) {
		t.Errorf("% d", got)
	}
}
