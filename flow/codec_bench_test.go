package flow

import (
	"encoding/binary"
	"strings"
	"testing"
	"unsafe"
)

// bid is the record that the encodings were first compared with.
type bid struct {
	Auction, Bidder, Price int64
	At                     Time
	Channel, URL, Extra    string
}

type flat40 struct {
	A, B, C, D int64
	E          int32
	F          float32
}

type padded40 struct {
	A bool
	B int64
	C int16
	D int64
	E uint8
}

func aBid() bid {
	return bid{1, 2, 3, 4, "channel-1", strings.Repeat("u", 65), strings.Repeat("x", 40)}
}

func benchCodec[T any](b *testing.B, v T, equal func(a, b *T) bool) {
	c := mustCodec[T](b)
	enc, err := c.Append(nil, &v)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		buf := make([]byte, 0, 2*len(enc))
		for b.Loop() {
			buf, _ = c.Append(buf[:0], &v)
		}
		b.ReportMetric(float64(len(buf)), "B/value")
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		var got T
		for b.Loop() {
			got = *new(T)
			if _, err := c.Decode(enc, &got); err != nil {
				b.Fatal(err)
			}
		}
		if !equal(&got, &v) {
			b.Fatalf("got %+v, want %+v", got, v)
		}
	})
}

func same[T comparable](a, b *T) bool { return *a == *b }

func BenchmarkCodec(b *testing.B) {
	b.Run("int64", func(b *testing.B) { benchCodec(b, int64(7), same[int64]) })
	b.Run("string20", func(b *testing.B) { benchCodec(b, strings.Repeat("k", 20), same[string]) })
	b.Run("flat40", func(b *testing.B) { benchCodec(b, flat40{A: 1, F: 2}, same[flat40]) })
	b.Run("padded40", func(b *testing.B) { benchCodec(b, padded40{A: true, B: 1, E: 3}, same[padded40]) })
	b.Run("bid", func(b *testing.B) { benchCodec(b, aBid(), same[bid]) })
	b.Run("slice100", func(b *testing.B) {
		benchCodec(b, make([]flat40, 100), func(a, b *[]flat40) bool { return len(*a) == len(*b) })
	})
	b.Run("map100", func(b *testing.B) {
		m := map[int64]int64{}
		for i := range int64(100) {
			m[i] = i
		}
		benchCodec(b, m, func(a, b *map[int64]int64) bool { return len(*a) == len(*b) && (*a)[7] == 7 })
	})
	b.Run("bid-by-hand", benchBidByHand)
}

// benchBidByHand is what a person would write for bid.
func benchBidByHand(b *testing.B) {
	v := aBid()
	var buf []byte
	appendBid := func(dst []byte, v *bid) []byte {
		for _, n := range [4]int64{v.Auction, v.Bidder, v.Price, int64(v.At)} {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
		}
		for _, s := range [3]string{v.Channel, v.URL, v.Extra} {
			dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
		}
		return dst
	}
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			buf = appendBid(buf[:0], &v)
		}
	})
	b.Run("decode", func(b *testing.B) {
		var got bid
		for b.Loop() {
			for i, p := range [4]*int64{&got.Auction, &got.Bidder, &got.Price, (*int64)(unsafe.Pointer(&got.At))} {
				*p = int64(binary.LittleEndian.Uint64(buf[8*i:]))
			}
			rest := buf[32:]
			for _, p := range [3]*string{&got.Channel, &got.URL, &got.Extra} {
				n, w := binary.Uvarint(rest)
				*p = string(rest[w : w+int(n)])
				rest = rest[w+int(n):]
			}
		}
		if got != v {
			b.Fatal(got)
		}
	})
}
