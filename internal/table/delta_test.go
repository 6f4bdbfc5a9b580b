package table

import (
	"errors"
	"testing"
)

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
