package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// checkAgainstMap drives a table and a map with the same random calls.
func checkAgainstMap[K comparable, V comparable](t *testing.T, cfg Config[K, V], key func(uint64) K, value func(uint64) V) {
	t.Helper()
	hash, err := HasherOf[K]()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(fewer(4)) {
		r := rand.New(rand.NewPCG(seed, 7))
		table, model := New(cfg), map[K]V{}
		keys := uint64(10) << (9 - 3*seed)
		inserting := 60
		for step := range 40000 {
			k := key(r.Uint64N(keys))
			h := hash(&k)
			if step%8000 == 7999 {
				inserting = 100 - inserting
			}
			switch n := r.IntN(100); {
			case n < 10:
				got, ok := table.Get(h, k)
				want, wantOK := model[k]
				if got != want || ok != wantOK {
					t.Fatalf("seed %d step %d: Get(%v) = %v, %t, want %v, %t", seed, step, k, got, ok, want, wantOK)
				}
			case n < inserting:
				v := value(r.Uint64())
				if before, ok := model[k]; ok != (table.Peek(h, k) != nil) || *table.Edit(h, k) != before {
					t.Fatalf("seed %d step %d: Edit(%v) is not %v", seed, step, k, before)
				}
				table.Set(h, k, v)
				model[k] = v
			default:
				_, want := model[k]
				if got := table.Delete(h, k); got != want {
					t.Fatalf("seed %d step %d: Delete(%v) = %t, want %t", seed, step, k, got, want)
				}
				delete(model, k)
			}
			if table.Len() != len(model) {
				t.Fatalf("seed %d step %d: Len() = %d, want %d", seed, step, table.Len(), len(model))
			}
		}
		checkSame(t, table, model)
		table.Close()
	}
}

func checkSame[K comparable, V comparable](t *testing.T, table *Table[K, V], model map[K]V) {
	t.Helper()
	seen := 0
	for k, v := range table.All() {
		if want, ok := model[k]; !ok || *v != want {
			t.Fatalf("All has %v = %v, want %v, %t", k, *v, want, ok)
		}
		seen++
	}
	if seen != len(model) {
		t.Fatalf("All has %d rows, want %d", seen, len(model))
	}
}

func TestATableIsAMap(t *testing.T) {
	type padded struct {
		A int8
		B int64
	}
	type two struct{ A, B string }
	number := func(x uint64) uint64 { return x }
	text := func(x uint64) string { return fmt.Sprint("key ", x*x*x) }
	t.Run("with integers in one key group", func(t *testing.T) {
		checkAgainstMap(t, Config[uint64, uint64]{}, number, number)
	})
	t.Run("with integers in 128 key groups", func(t *testing.T) {
		checkAgainstMap(t, Config[uint64, int32]{Groups: 128}, number, func(x uint64) int32 { return int32(x) })
	})
	t.Run("with padded structs", func(t *testing.T) {
		checkAgainstMap(t, Config[padded, padded]{Groups: 8}, func(x uint64) padded { return padded{int8(x), int64(x / 3)} },
			func(x uint64) padded { return padded{int8(x >> 8), int64(x)} })
	})
	t.Run("as a set", func(t *testing.T) {
		checkAgainstMap(t, Config[uint16, struct{}]{}, func(x uint64) uint16 { return uint16(x) }, func(uint64) struct{} { return struct{}{} })
	})
	t.Run("with string keys", func(t *testing.T) {
		checkAgainstMap(t, Config[string, uint64]{Groups: 4}, text, number)
	})
	t.Run("with keys of two strings", func(t *testing.T) {
		checkAgainstMap(t, Config[two, uint64]{Groups: 4}, func(x uint64) two { return two{text(x % 7), text(x)} }, number)
	})
	t.Run("with string values", func(t *testing.T) {
		checkAgainstMap(t, Config[string, string]{Groups: 4}, text, text)
	})
	t.Run("with large values", func(t *testing.T) {
		checkAgainstMap(t, Config[uint64, [200]uint64]{}, number, func(x uint64) [200]uint64 { return [200]uint64{3: x} })
	})
	t.Run("with values that make segments short", func(t *testing.T) {
		checkAgainstMap(t, Config[uint64, [100]uint64]{}, number, func(x uint64) [100]uint64 { return [100]uint64{3: x} })
	})
}
