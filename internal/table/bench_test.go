package table

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

var benchSizes = []int{1e4, 1e6, 1e7}

// randomKeys returns count indexes below size.
func randomIndexes(size int) []uint32 {
	r := rand.New(rand.NewPCG(1, 2))
	indexes := make([]uint32, 1<<20)
	for i := range indexes {
		indexes[i] = uint32(r.IntN(size))
	}
	return indexes
}

// scrambled is a random-looking key, different from its hash.
func scrambled(i uint64) uint64 { return (i + 1) * 0xd1342543de82ef95 }

func BenchmarkCount(b *testing.B) {
	for _, size := range benchSizes {
		keys := make([]uint64, 1<<20)
		for i, j := range randomIndexes(size) {
			keys[i] = scrambled(uint64(j))
		}
		b.Run(fmt.Sprintf("table/%d", size), func(b *testing.B) {
			t := New(Config[uint64, int64]{Groups: 128})
			defer t.Close()
			hash, _ := HasherOf[uint64]()
			for i := range size {
				k := scrambled(uint64(i))
				t.Set(HashUint64(k), k, 0)
			}
			b.ResetTimer()
			for i := range b.N {
				k := &keys[i&(1<<20-1)]
				*t.Edit(hash(k), *k)++
			}
			b.StopTimer()
			b.ReportMetric(float64(t.Bytes())/float64(size), "B/key")
			checkCount(b, t)
		})
		b.Run(fmt.Sprintf("gomap/%d", size), func(b *testing.B) {
			m := make(map[uint64]int64)
			for i := range size {
				m[scrambled(uint64(i))] = 0
			}
			b.ResetTimer()
			for i := range b.N {
				m[keys[i&(1<<20-1)]]++
			}
		})
	}
}

func checkCount[K comparable](b *testing.B, t *Table[K, int64]) {
	sum := int64(0)
	for _, v := range t.All() {
		sum += *v
	}
	if sum != int64(b.N) {
		b.Fatalf("counted %d of %d", sum, b.N)
	}
}

func BenchmarkCountStrings(b *testing.B) {
	for _, size := range benchSizes[:2] {
		words := make([]string, size)
		for i := range words {
			words[i] = "word-" + strconv.FormatUint(scrambled(uint64(i))>>20, 36)
		}
		keys := make([]string, 1<<20)
		for i, j := range randomIndexes(size) {
			keys[i] = strings.Clone(words[j]) // as a record would bring it
		}
		b.Run(fmt.Sprintf("table/%d", size), func(b *testing.B) {
			t := New(Config[string, int64]{Groups: 128})
			defer t.Close()
			for _, w := range words {
				t.Set(HashString(w), w, 0)
			}
			b.ResetTimer()
			for i := range b.N {
				k := &keys[i&(1<<20-1)]
				*t.Edit(HashString(*k), *k)++
			}
			b.StopTimer()
			b.ReportMetric(float64(t.Bytes())/float64(size), "B/key")
			checkCount(b, t)
		})
		b.Run(fmt.Sprintf("gomap/%d", size), func(b *testing.B) {
			m := make(map[string]int64)
			for _, w := range words {
				m[w] = 0
			}
			b.ResetTimer()
			for i := range b.N {
				m[keys[i&(1<<20-1)]]++
			}
		})
	}
}
