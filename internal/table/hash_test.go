package table

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

func hashOne[K comparable](t *testing.T, k K) uint64 {
	t.Helper()
	hash, err := HasherOf[K]()
	if err != nil {
		t.Fatal(err)
	}
	return hash(&k)
}

type (
	plainKey  struct{ A, B uint32 }
	paddedKey struct {
		A uint8
		B uint32
	}
	mixedKey struct {
		Name string
		N    int32
		F    float64
	}
	nestedKey struct {
		P [2]plainKey
		S [2]string
	}
	blankKey struct {
		A uint32
		_ uint32
	}
)

// The hashes are part of the format of stored state: these must never change.
func TestHashesNeverChange(t *testing.T) {
	got := []uint64{
		hashOne(t, uint64(0)), hashOne(t, uint64(1)), hashOne(t, int64(-1)), hashOne(t, true),
		hashOne(t, "tailrace"), hashOne(t, ""), hashOne(t, 1.5), hashOne(t, complex(1, 2)),
		hashOne(t, [4]byte{1, 2, 3, 4}), hashOne(t, plainKey{1, 2}), hashOne(t, paddedKey{1, 2}),
		hashOne(t, [2]string{"a", "b"}), hashOne(t, struct{ A, B string }{"a", "b"}),
		hashOne(t, mixedKey{"a", 1, 2}), hashOne(t, nestedKey{S: [2]string{"x", ""}}), hashOne(t, struct{}{}),
	}
	want := []uint64{
		0xe220a8397b1dcdaf, 0x910a2dec89025cc1, 0xe4d971771b652c20, 0x910a2dec89025cc1,
		0xa4cae4cb9cf477d9, 0x2d06800538d394c2, 0xd6dab18e1392608a, 0xcb4d36b54f19d13c,
		0x988b7b9033ac4622, 0x389e2c8892d5450, 0x80b0559fe8860523,
		0x5c663c15bd9078e1, 0x5c663c15bd9078e1,
		0x7299446d95dc211b, 0xb7bb7af083f7d922, 0x2d358dccaa6c78a5,
	}
	for i := range got {
		if i >= len(want) || got[i] != want[i] {
			t.Errorf("hash %d is %#x", i, got[i])
		}
	}
}

func TestEqualKeysHaveEqualHashes(t *testing.T) {
	a := blankKey{A: 1}
	*(*uint32)(unsafe.Add(unsafe.Pointer(&a), 4)) = 7
	p := paddedKey{1, 2}
	*(*byte)(unsafe.Add(unsafe.Pointer(&p), 1)) = 7
	for _, c := range []struct {
		claim string
		a, b  uint64
	}{
		{"integers of one value and any type", hashOne(t, int8(-3)), hashOne(t, int64(-3))},
		{"int and uint64", hashOne(t, 5), hashOne(t, uint64(5))},
		{"-0 and +0", hashOne(t, math.Copysign(0, -1)), hashOne(t, 0.0)},
		{"-0 and +0 of 32 bits", hashOne(t, float32(math.Copysign(0, -1))), hashOne(t, float32(0))},
		{"structs whose blank fields differ", hashOne(t, a), hashOne(t, blankKey{A: 1})},
		{"structs whose padding differs", hashOne(t, p), hashOne(t, paddedKey{1, 2})},
	} {
		if c.a != c.b {
			t.Errorf("%s: %#x and %#x", c.claim, c.a, c.b)
		}
	}
	if hashOne(t, math.NaN()) == hashOne(t, math.Float64frombits(math.Float64bits(math.NaN())^1)) {
		t.Error("NaNs of different bits have one hash")
	}
	if hashOne(t, [2]string{"a", "b"}) == hashOne(t, [2]string{"b", "a"}) {
		t.Error("the order of the elements does not count")
	}
}

func TestTheFastWayAndTheSlowWayOfPlainTypesAgree(t *testing.T) {
	k := struct {
		A int64
		B [2]uint16
		C int32
		D int
		E [2]bool
		F [6]int8
	}{-1, [2]uint16{1, 2}, -3, 4, [2]bool{true, false}, [6]int8{-1, 2, -3, 4, -5, 6}}
	was := memoryIsCanonical
	defer func() { memoryIsCanonical = was }()
	fast := hashOne(t, k)
	memoryIsCanonical = false
	if slow := hashOne(t, k); slow != fast {
		t.Errorf("%#x and %#x", fast, slow)
	}
}

func TestTypesThatCannotBeHashedAreNamed(t *testing.T) {
	type inner struct{ P *int }
	for name, err := range map[string]error{
		"table.inner.P": second(HasherOf[inner]()),
		"interface":     second(HasherOf[any]()),
		"chan":          second(HasherOf[[3]chan int]()),
		"[].P":          second(HasherOf[[2]inner]()),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not name %s", err, name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Every bit of the hash must look random for the keys that people have.
func TestHashBitsAreBalancedAndIndependent(t *testing.T) {
	const n = 1 << 14
	sets := map[string]func(i uint64) uint64{
		"small integers":     HashUint64,
		"multiples of 4096":  func(i uint64) uint64 { return HashUint64(i << 12) },
		"high halves":        func(i uint64) uint64 { return HashUint64(i << 32) },
		"pairs of integers":  func(i uint64) uint64 { return hashOnePlain(plainKey{uint32(i), 7}) },
		"numbers as strings": func(i uint64) uint64 { return HashString(string([]byte{byte(i), byte(i >> 8)})) },
		"two strings":        func(i uint64) uint64 { return foldTwo(HashString("a"), HashUint64(i)) },
		"parts of one key":   func(i uint64) uint64 { return partHash(12345, i, 1) },
	}
	for name, hash := range sets {
		var ones [64]int
		var flips [64]int
		for i := range uint64(n) {
			h, next := hash(i), hash(i^1)
			for b := range 64 {
				ones[b] += int(h >> b & 1)
				flips[b] += int((h ^ next) >> b & 1)
			}
		}
		for b := range 64 {
			if d := ones[b] - n/2; d*d > n*9 { // six standard deviations
				t.Errorf("%s: bit %d is set in %d of %d", name, b, ones[b], n)
			}
			if d := flips[b] - n/2; d*d > n*18 { // each pair counts twice
				t.Errorf("%s: bit %d changes in %d of %d", name, b, flips[b], n)
			}
		}
	}
}

func hashOnePlain(k plainKey) uint64 {
	hash, err := HasherOf[plainKey]()
	if err != nil {
		panic(err)
	}
	return hash(&k)
}

func TestHashUint64IsABijection(t *testing.T) {
	undo := func(x uint64) uint64 {
		inverse := func(m uint64) uint64 { // Newton
			r := m
			for range 6 {
				r *= 2 - m*r
			}
			return r
		}
		x ^= x>>31 ^ x>>62
		x *= inverse(0x94d049bb133111eb)
		x ^= x>>27 ^ x>>54
		x *= inverse(0xbf58476d1ce4e5b9)
		x ^= x>>30 ^ x>>60
		return x - 0x9e3779b97f4a7c15
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		if x := r.Uint64(); undo(HashUint64(x)) != x {
			t.Fatalf("%#x", x)
		}
	}
}

func TestKeyGroupsTasksAndRangesAgree(t *testing.T) {
	for groups := 1; groups <= MaxGroups; groups *= 4 {
		for _, parallelism := range []int{1, 2, 3, 5, 7, 8, 127, 128, 1000, groups} {
			if parallelism > groups {
				continue
			}
			next := 0
			for task := range parallelism {
				lo, hi := GroupsOf(task, groups, parallelism)
				if lo != next || hi <= lo {
					t.Fatalf("%d groups, task %d of %d: [%d, %d) after %d", groups, task, parallelism, lo, hi, next)
				}
				for g := lo; g < hi; g++ {
					if got := TaskOf(g, groups, parallelism); got != task {
						t.Fatalf("%d groups, group %d belongs to task %d and %d of %d", groups, g, got, task, parallelism)
					}
				}
				next = hi
			}
			if next != groups {
				t.Fatalf("%d groups: %d tasks own %d", groups, parallelism, next)
			}
		}
		if g := KeyGroup(math.MaxUint64, groups); g != groups-1 {
			t.Fatalf("the last hash is in group %d of %d", g, groups)
		}
		if g := KeyGroup(1<<63, groups); g != groups/2 {
			t.Fatalf("the middle hash is in group %d of %d", g, groups)
		}
	}
}

func TestHashingAllocatesNothing(t *testing.T) {
	k := &struct{ A, B string }{"some", "strings"}
	hash, err := HasherOf[struct{ A, B string }]()
	if err != nil {
		t.Fatal(err)
	}
	sink := uint64(0)
	if n := testing.AllocsPerRun(100, func() { sink += hash(k) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHash(b *testing.B) {
	benchHash(b, "uint64", uint64(12345))
	benchHash(b, "int32", int32(12345))
	benchHash(b, "string of 12", "word-1234567")
	benchHash(b, "[16]byte", [16]byte{1, 2, 3})
	benchHash(b, "two uint32", plainKey{1, 2})
	benchHash(b, "two strings", struct{ A, B string }{"tenant-17", "user-123456"})
	benchHash(b, "padded", paddedKey{1, 2})
}

func benchHash[K comparable](b *testing.B, name string, k K) {
	hash, err := HasherOf[K]()
	if err != nil {
		b.Fatal(err)
	}
	keys := make([]K, 256)
	for i := range keys {
		keys[i] = k
	}
	b.Run(name, func(b *testing.B) {
		sum := uint64(0)
		for i := range b.N {
			sum += hash(&keys[i&255])
		}
		if sum == 1 {
			b.Fatal("a sum that cannot be")
		}
	})
}
