package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// snapshot encodes a view of a table.
func snapshot[K comparable, V any](t testing.TB, table *Table[K, V], id uint64, mode Mode) []Chunk {
	t.Helper()
	sink := &memorySink{}
	if err := table.Freeze(id, mode, sink); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		var err error
		if done, err = table.Slice(1000); err != nil {
			t.Fatal(err)
		}
	}
	return sink.chunks
}

func load[K comparable, V any](t testing.TB, table *Table[K, V], chunks []Chunk) {
	t.Helper()
	for _, deletes := range []bool{true, false} {
		for _, c := range chunks {
			if c.Deletes == deletes {
				if err := table.Load(c.Data); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func filled(cfg Config[uint64, uint64], n uint64) *Table[uint64, uint64] {
	t := New(cfg)
	for i := range n {
		if h := HashUint64(i); KeyGroup(h, t.groups) >= t.lo && KeyGroup(h, t.groups) < t.hi {
			t.Set(h, i, i)
		}
	}
	return t
}

func TestATableIsRescaled(t *testing.T) {
	const groups, n = 16, 20000
	for _, tasks := range [][2]int{{1, 3}, {3, 1}, {2, 5}, {16, 7}} {
		var full, delta [][]Chunk
		for task := range tasks[0] {
			lo, hi := GroupsOf(task, groups, tasks[0])
			table := filled(Config[uint64, uint64]{Groups: groups, Lo: lo, Hi: hi}, n)
			full = append(full, snapshot(t, table, 1, Full))
			table.Commit(1)
			if task == 0 {
				table.Clear()
			}
			for i := range uint64(n) {
				if h := HashUint64(i); TaskOf(KeyGroup(h, groups), groups, tasks[0]) == task && i%3 == 0 {
					table.Delete(h, i)
				} else if i%3 == 1 && TaskOf(KeyGroup(h, groups), groups, tasks[0]) == task {
					table.Set(h, i, 2*i)
				}
			}
			delta = append(delta, snapshot(t, table, 2, Delta))
			table.Close()
		}
		for task := range tasks[1] {
			lo, hi := GroupsOf(task, groups, tasks[1])
			table := New(Config[uint64, uint64]{Groups: groups, Lo: lo, Hi: hi})
			for _, layer := range [][][]Chunk{full, delta} {
				for _, chunks := range layer {
					load(t, table, chunks)
				}
			}
			want := 0
			for i := range uint64(n) {
				h := HashUint64(i)
				g := KeyGroup(h, groups)
				if g < lo || g >= hi {
					continue
				}
				value, there := i, i%3 != 0
				if i%3 == 1 {
					value = 2 * i
				}
				if i%3 == 2 && TaskOf(g, groups, tasks[0]) == 0 {
					there = false // cleared
				}
				if there {
					want++
				}
				if got, ok := table.Get(h, i); ok != there || ok && got != value {
					t.Fatalf("%v: key %d is %d, %t; want %d, %t", tasks, i, got, ok, value, there)
				}
			}
			if table.Len() != want {
				t.Fatalf("%v: task %d has %d rows, want %d", tasks, task, table.Len(), want)
			}
			if err := table.check(); err != nil {
				t.Fatal(err)
			}
			table.Close()
		}
	}
}

func TestANaNIsAKey(t *testing.T) {
	nan := math.NaN()
	other := math.Float64frombits(math.Float64bits(nan) ^ 1)
	type named struct {
		Name string
		F    float64
	}
	table := New(Config[float64, int]{})
	defer table.Close()
	hash, err := HasherOf[float64]()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		*table.Edit(hash(&nan), nan)++
		*table.Edit(hash(&other), other)++
	}
	if v, _ := table.Get(hash(&nan), nan); v != 3 || table.Len() != 2 {
		t.Errorf("%d, %d rows", v, table.Len())
	}
	if !table.Delete(hash(&nan), nan) || table.Delete(hash(&nan), nan) {
		t.Error("a NaN is deleted once")
	}
	structs := New(Config[named, int]{})
	defer structs.Close()
	hashNamed, err := HasherOf[named]()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		k := named{"a", nan}
		*structs.Edit(hashNamed(&k), k)++
	}
	if structs.Len() != 1 {
		t.Errorf("a NaN in a struct makes %d rows", structs.Len())
	}
}

func TestHashesThatCollideMakeALongSegment(t *testing.T) {
	// A hash that is always the same: no directory is deep enough.
	table := New(Config[uint64, uint64]{Groups: 4, hash: func(*uint64) uint64 { return 1<<62 + 5 }})
	defer table.Close()
	const h = 1<<62 + 5
	for i := range uint64(3000) {
		table.Set(h, i, i)
	}
	if n := len(table.dir); n > 64 {
		t.Errorf("the directory has %d entries", n)
	}
	chunks := snapshot(t, table, 1, Delta)
	for i := range uint64(3000) {
		if i%2 == 0 {
			table.Delete(h, i)
		}
	}
	for i := range uint64(3000) {
		if v, ok := table.Get(h, i); ok != (i%2 == 1) || ok && v != i {
			t.Fatalf("key %d is %d, %t", i, v, ok)
		}
	}
	if len(chunks) != 1 || chunks[0].Count != 3000 {
		t.Errorf("%d chunks", len(chunks))
	}
}

func TestAReservedTableDoesNotGrow(t *testing.T) {
	for _, groups := range []int{1, 16} {
		for _, n := range []uint64{10, 300, 2000, 50000} {
			full := filled(Config[uint64, uint64]{Groups: groups}, n)
			table := New(Config[uint64, uint64]{Groups: groups, Lo: groups / 4, Hi: groups})
			table.Reserve(int(n) * (groups - groups/4) / groups)
			segments := table.nsegs
			load(t, table, snapshot(t, full, 1, Full))
			if n > 2000 && table.nsegs != segments {
				t.Errorf("%d groups, %d rows: %d segments became %d", groups, n, segments, table.nsegs)
			}
			for i := range n {
				h := HashUint64(i)
				if KeyGroup(h, groups) < groups/4 {
					continue
				}
				if v, ok := table.Get(h, i); !ok || v != i {
					t.Fatalf("%d groups, %d rows: key %d is %d, %t", groups, n, i, v, ok)
				}
			}
			if err := table.check(); err != nil {
				t.Fatal(err)
			}
			full.Close()
			table.Close()
		}
	}
}

func TestScanGoesOnWhereItStopped(t *testing.T) {
	table := filled(Config[uint64, uint64]{Groups: 8}, 5000)
	defer table.Close()
	for _, budget := range []int{1, 7, 1000, 1 << 20} {
		var c Cursor
		var seen []uint64
		group := 0
		for more := true; more; {
			n := 0
			more = table.Scan(&c, budget, func(k uint64, v *uint64) bool {
				if g := KeyGroup(HashUint64(k), 8); g < group {
					t.Fatalf("key group %d after %d", g, group)
				} else {
					group = g
				}
				seen = append(seen, k)
				n++
				return n < 500
			})
			if n > budget || n > 500 {
				t.Fatalf("%d rows with a budget of %d", n, budget)
			}
		}
		slices.Sort(seen)
		if len(slices.Compact(seen)) != 5000 {
			t.Errorf("budget %d: %d rows, some twice", budget, len(seen))
		}
	}
}

func TestChunksOfOthersAreRefused(t *testing.T) {
	table := filled(Config[uint64, uint64]{Groups: 8}, 10)
	defer table.Close()
	chunk := snapshot(t, table, 1, Full)[0].Data
	signed := New(Config[uint64, int64]{Groups: 8})
	defer signed.Close()
	grouped := New(Config[uint64, uint64]{Groups: 2})
	defer grouped.Close()
	for claim, err := range map[string]error{
		"other types":      signed.Load(chunk),
		"other key groups": grouped.Load(chunk),
		"cut":              table.Load(chunk[:len(chunk)-1]),
		"no header":        table.Load(chunk[:5]),
		"another version":  table.Load(append([]byte{9}, chunk[1:]...)),
	} {
		if !errors.Is(err, ErrChunk) {
			t.Errorf("%s: %v", claim, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	numbers := filled(Config[uint64, uint64]{Groups: 2}, 20)
	for _, c := range snapshot(f, numbers, 1, Full) {
		f.Add(c.Data)
	}
	words := New(Config[[2]string, uint64]{Groups: 2})
	texts := New(Config[string, string]{Groups: 2, Value: stringCodec()})
	hashPair, err := HasherOf[[2]string]()
	if err != nil {
		f.Fatal(err)
	}
	for i := range 20 {
		k := [2]string{fmt.Sprint(i), "x"}
		words.Set(hashPair(&k), k, uint64(i))
		texts.Set(HashString(k[0]), k[0], k[0])
	}
	for _, c := range append(snapshot(f, words, 1, Full), snapshot(f, texts, 1, Full)...) {
		f.Add(c.Data)
	}
	numbers.Commit(1)
	numbers.Delete(HashUint64(3), 3)
	numbers.Clear()
	for _, c := range snapshot(f, numbers, 2, Delta) {
		f.Add(c.Data)
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		a := New(Config[uint64, uint64]{Groups: 2})
		defer a.Close()
		b := New(Config[[2]string, uint64]{Groups: 2})
		defer b.Close()
		c := New(Config[string, string]{Groups: 2, Value: stringCodec()})
		defer c.Close()
		refused := 0
		for _, part := range []Part{a, b, c} {
			if part.Load(chunk) != nil {
				refused++
			}
		}
		if refused < 2 {
			t.Error("two kinds of tables took one chunk")
		}
		for _, check := range []func() error{a.check, b.check, c.check} {
			if err := check(); err != nil {
				t.Error(err)
			}
		}
	})
}
