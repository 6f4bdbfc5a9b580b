package table

import (
	"slices"
	"testing"
)

func TestABatchOfKeysHashesLikeEachOfThem(t *testing.T) {
	type pair struct {
		a int32
		s string
	}
	type id uint64
	sameHashes(t, []uint64{0, 1, 1 << 63, 12345})
	sameHashes(t, []id{0, 7})
	sameHashes(t, []int{-1, 0, 5})
	sameHashes(t, []int32{-1, 0, 5})
	sameHashes(t, []uint8{0, 255})
	sameHashes(t, []string{"", "a", "a longer string than a word or two"})
	sameHashes(t, []pair{{1, "x"}, {-1, ""}})
	sameHashes(t, []struct{}{{}, {}})
	sameHashes(t, []float64{0, -1.5})
	sameHashes(t, []uint64(nil))
	if _, err := BatchHasherOf[any](); err == nil {
		t.Error("any has a hash")
	}
}

func sameHashes[K comparable](t *testing.T, keys []K) {
	t.Helper()
	one, err := HasherOf[K]()
	if err != nil {
		t.Fatal(err)
	}
	many, err := BatchHasherOf[K]()
	if err != nil {
		t.Fatal(err)
	}
	want, got := make([]uint64, len(keys)), make([]uint64, len(keys)+1)
	for i := range keys {
		want[i] = one(&keys[i])
	}
	many(keys, got)
	if !slices.Equal(got[:len(keys)], want) || got[len(keys)] != 0 {
		t.Errorf("%T: %v, want %v", keys, got, want)
	}
}
