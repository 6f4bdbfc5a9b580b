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

func TestADeltaHasOnlyWhatChanged(t *testing.T) {
	table := filled(Config[uint64, uint64]{Groups: 4}, 10000)
	defer table.Close()
	count := func(chunks []Chunk) (rows, keys int) {
		for _, c := range chunks {
			if c.Deletes {
				keys += c.Count
			} else {
				rows += c.Count
			}
		}
		return rows, keys
	}
	expect := func(claim string, chunks []Chunk, rows, keys int) {
		t.Helper()
		if r, k := count(chunks); r != rows || k != keys {
			t.Errorf("%s: %d rows and %d deleted keys, want %d and %d", claim, r, k, rows, keys)
		}
	}
	expect("the first delta has all", snapshot(t, table, 1, Delta), 10000, 0)
	table.Commit(1)
	expect("nothing was written", snapshot(t, table, 2, Delta), 0, 0)
	table.Commit(2)
	write := func(from, to uint64) {
		for i := from; i < to; i++ {
			table.Set(HashUint64(i), i, 1)
		}
	}
	write(0, 100)
	table.Peek(HashUint64(500), 500)
	expect("reads do not count", snapshot(t, table, 3, Delta), 100, 0)
	write(50, 150)
	expect("what is not committed is in the next delta too", snapshot(t, table, 4, Delta), 150, 0)
	table.Commit(4)
	write(200, 210)
	snapshot(t, table, 5, Delta)
	table.Abort(5)
	write(205, 220)
	expect("what was aborted is in the next delta", snapshot(t, table, 6, Delta), 20, 0)
	table.Commit(6)
	table.Delete(HashUint64(1), 1)
	table.Set(HashUint64(99999), 99999, 1)
	table.Delete(HashUint64(99999), 99999)
	expect("a key that came and went leaves nothing", snapshot(t, table, 7, Delta), 0, 1)
	table.Commit(7)
	table.Set(HashUint64(99999), 99999, 1)
	snapshot(t, table, 8, Delta)
	table.Delete(HashUint64(99999), 99999)
	expect("a key of a frozen view that went is deleted", snapshot(t, table, 9, Delta), 0, 1)
	table.Commit(9)
	expect("a base has all", snapshot(t, table, 10, Full), 9999, 0)

	restored := New(Config[uint64, uint64]{Groups: 4})
	defer restored.Close()
	load(t, restored, snapshot(t, table, 11, Full))
	expect("what was loaded is not new", snapshot(t, restored, 12, Delta), 0, 0)
	restored.Delete(HashUint64(7), 7)
	expect("what was loaded is deleted with a mark", snapshot(t, restored, 13, Delta), 0, 1)
}

func TestPhasesRunOutAndAreReclaimed(t *testing.T) {
	table := filled(Config[uint64, uint64]{}, 1000)
	defer table.Close()
	refused := 0
	for id := uint64(1); id <= 40; id++ {
		table.Set(HashUint64(id), id, 7)
		err := table.Freeze(id, Delta, &memorySink{})
		if errors.Is(err, ErrPhases) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
		if id%12 < 9 {
			table.Abort(id)
		}
		if _, err := table.Slice(1 << 20); err != nil {
			t.Fatal(err)
		}
		table.Abort(id)
		if err := table.check(); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 || refused > 10 {
		t.Errorf("%d freezes of 40 were refused", refused)
	}
	rows := 0
	for _, c := range snapshot(t, table, 100, Delta) {
		rows += c.Count
	}
	if rows != 1000 {
		t.Errorf("the delta after all aborts has %d rows, want all 1000", rows)
	}
	if err := table.Freeze(101, Delta, &memorySink{}); err != nil {
		t.Fatal(err)
	}
	if err := table.Freeze(102, Delta, &memorySink{}); !errors.Is(err, ErrBusy) {
		t.Errorf("a freeze during a pass: %v", err)
	}
}

func TestACodecThatFailsFailsTheViewAndNotTheTable(t *testing.T) {
	wrong := errors.New("wrong")
	failing := true
	table := New(Config[string, string]{Value: Codec[string]{
		Append: func(dst []byte, v *string) ([]byte, error) {
			if failing {
				return dst, wrong
			}
			return stringCodec().Append(dst, v)
		},
		Decode: stringCodec().Decode,
	}})
	defer table.Close()
	table.Set(HashString("a"), "a", "b")
	if err := table.Freeze(1, Delta, &memorySink{}); err != nil {
		t.Fatal(err)
	}
	table.Set(HashString("a"), "a", "c") // encodes the page, and cannot say that it failed
	if done, err := table.Slice(1000); !done || !errors.Is(err, wrong) {
		t.Fatalf("Slice() = %t, %v", done, err)
	}
	table.Abort(1)
	failing = false
	restored := New(Config[string, string]{Value: stringCodec()})
	defer restored.Close()
	load(t, restored, snapshot(t, table, 2, Delta))
	if v, ok := restored.Get(HashString("a"), "a"); v != "c" || !ok {
		t.Errorf("restored %q, %t", v, ok)
	}
	bare := New(Config[string, []int]{})
	defer bare.Close()
	bare.Set(HashString("a"), "a", []int{1})
	if err := bare.Freeze(1, Full, &memorySink{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Slice(1000); err == nil {
		t.Error("a type without a codec was encoded")
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
