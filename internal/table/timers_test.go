package table

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

type firing struct {
	at   int64
	hash uint64
	key  uint64
	tag  uint32
}

func compareFirings(a, b firing) int {
	x := Timer[uint64]{At: a.at, Hash: a.hash, Tag: a.tag}
	return x.compare(&Timer[uint64]{At: b.at, Hash: b.hash, Tag: b.tag})
}

func TestTimersFireLikeASortedSet(t *testing.T) {
	for seed := range uint64(fewer(12)) {
		r := rand.New(rand.NewPCG(seed, 3))
		timers, model := NewTimers[uint64](), map[firing]bool{}
		keys, times := uint64(1)<<r.IntN(14), int64(1)<<r.IntN(20)
		now := int64(0)
		random := func() firing {
			k := r.Uint64N(keys)
			f := firing{now + r.Int64N(times), HashUint64(k), k, uint32(r.IntN(3))}
			if r.IntN(50) == 0 {
				f.at = math.MaxInt64
			}
			return f
		}
		set := func(f firing) {
			timers.Set(f.at, f.hash, f.key, f.tag)
			model[f] = true
		}
		fire := func(upTo int64) {
			for more := true; more; {
				var err error
				calls, last := 0, firing{}
				early := map[firing]bool{} // set during a firing, to fire before it
				more, err = timers.Fire(upTo, 1+r.IntN(100), func(at int64, h, k uint64, tag uint32) error {
					got := firing{at, h, k, tag}
					if !model[got] {
						t.Fatalf("seed %d: %v fired, and is not set", seed, got)
					}
					if calls == 0 && r.IntN(8) == 0 {
						for f := range model {
							if compareFirings(f, got) < 0 {
								t.Fatalf("seed %d: %v fired before %v", seed, got, f)
							}
						}
					}
					if calls > 0 && compareFirings(got, last) < 0 && !early[got] {
						t.Fatalf("seed %d: %v fired after %v", seed, got, last)
					}
					last = got
					calls++
					delete(model, got)
					if r.IntN(4) == 0 {
						f := random()
						set(f)
						early[f] = compareFirings(f, got) < 0
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for f := range model {
				if f.at <= upTo {
					t.Fatalf("seed %d: %v did not fire", seed, f)
				}
			}
		}
		for range 20000 {
			switch n := r.IntN(100); {
			case n < 60:
				set(random())
			case n < 99 && n >= 70:
				f := random()
				timers.Clear(f.at, f.hash, f.key, f.tag)
				delete(model, f)
			case n == 99 && r.IntN(10) == 0:
				now += r.Int64N(times/4 + 1)
				fire(now)
			}
			if timers.Len() < len(model) {
				t.Fatalf("seed %d: Len() = %d with %d timers", seed, timers.Len(), len(model))
			}
		}
		var want, got []firing
		for f := range model {
			want = append(want, f)
		}
		slices.SortFunc(want, compareFirings)
		for w := range timers.All() {
			got = append(got, firing{w.At, w.Hash, w.Key, w.Tag})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: All has %d timers, want %d", seed, len(got), len(want))
		}
	}
}

func TestTimersThatAreSetAgainAndAgainTakeNoRoom(t *testing.T) {
	timers := NewTimers[uint64]()
	const keys = 3000
	for round := range int64(200) {
		for k := range uint64(keys) {
			timers.Set(60, HashUint64(k), k, 0)          // one for all records
			timers.Clear(round+100, HashUint64(k), k, 1) // one that is put off
			timers.Set(round+101, HashUint64(k), k, 1)
		}
	}
	if n := timers.Len(); n < 2*keys || n > 8*keys {
		t.Errorf("%d timers take the room of %d", 2*keys, n)
	}
	fired := 0
	for more := true; more; {
		var err error
		if more, err = timers.Fire(1000, 100, func(int64, uint64, uint64, uint32) error { fired++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if fired != 2*keys || timers.Len() != 0 {
		t.Errorf("%d timers fired, %d are left", fired, timers.Len())
	}
}

func TestTimersAreClearedWhileOthersFire(t *testing.T) {
	timers := NewTimers[int64]()
	const n = 1100
	for at := range int64(n) {
		timers.Set(at, HashUint64(uint64(at)), at, 0)
	}
	if len(timers.leaves) != 2 {
		t.Fatalf("%d leaves", len(timers.leaves))
	}
	last := timers.leaves[1].from // the first leaf has all before it
	var fired []int64
	cleared := 0
	if _, err := timers.Fire(last.At-1, 1<<20, func(at int64, _ uint64, _ int64, _ uint32) error {
		if fired = append(fired, at); at == 0 { // what is due is out of its leaf, which is empty
			for at := last.At; len(timers.leaves) == 2; at++ { // until they are joined
				timers.Clear(at, HashUint64(uint64(at)), at, 0)
				cleared++
			}
			if len(timers.leaves) != 1 {
				t.Errorf("%d leaves, want them joined", len(timers.leaves))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := timers.Fire(n, 1<<20, func(at int64, _ uint64, _ int64, _ uint32) error {
		fired = append(fired, at)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(fired) != n-cleared || !slices.IsSorted(fired) {
		t.Errorf("%d timers of %d fired, and %d were cleared", len(fired), n, cleared)
	}
}

func TestDivideNeverPartsWhatIsEqual(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 4))
		rows := make([]Timer[uint64], 2+r.IntN(60))
		kinds := 1 + r.Int64N(20)
		for i := range rows {
			rows[i].At = r.Int64N(kinds)
		}
		mid := divide(rows)
		if mid == 0 {
			if !slices.ContainsFunc(rows, func(w Timer[uint64]) bool { return w.At != rows[0].At }) {
				continue
			}
			t.Fatalf("seed %d: different timers are not divided", seed)
		}
		for _, a := range rows[:mid] {
			for _, b := range rows[mid:] {
				if a.At >= b.At {
					t.Fatalf("seed %d: %d is before %d", seed, a.At, b.At)
				}
			}
		}
	}
}

func TestATimerSetInThePastFiresNext(t *testing.T) {
	timers := NewTimers[string]()
	timers.Set(10, 1, "a", 0)
	timers.Set(20, 2, "b", 0)
	var got []string
	more, err := timers.Fire(20, 100, func(at int64, h uint64, k string, tag uint32) error {
		got = append(got, k)
		if k == "a" {
			timers.Set(5, 9, "late", 0)
			timers.Set(20, 3, "c", 0)
			timers.Set(21, 3, "future", 0)
			timers.Clear(20, 2, "b", 0)
		}
		return nil
	})
	if more || err != nil || !slices.Equal(got, []string{"a", "late", "c"}) {
		t.Fatalf("fired %v, more %t, %v", got, more, err)
	}
	if at, ok := timers.Next(); at != 21 || !ok {
		t.Fatalf("Next() = %d, %t", at, ok)
	}
}

func TestTwoKeysWithOneHashHaveTwoTimers(t *testing.T) {
	timers := NewTimers[string]()
	for _, k := range []string{"a", "b", "a"} {
		timers.Set(1, 7, k, 0)
	}
	timers.Set(1, 7, "c", 0)
	timers.Clear(1, 7, "c", 0)
	var got []string
	_, err := timers.Fire(1, 100, func(_ int64, _ uint64, k string, _ uint32) error {
		got = append(got, k)
		return nil
	})
	if err != nil || len(got) != 2 || got[0] == got[1] {
		t.Fatalf("fired %v, %v", got, err)
	}
}

func TestAnErrorEndsTheFiring(t *testing.T) {
	timers := NewTimers[int]()
	timers.Set(1, 1, 1, 0)
	timers.Set(2, 2, 2, 0)
	wrong := errors.New("wrong")
	more, err := timers.Fire(5, 100, func(int64, uint64, int, uint32) error { return wrong })
	if !more || !errors.Is(err, wrong) {
		t.Fatalf("Fire() = %t, %v", more, err)
	}
	if timers.Len() != 1 {
		t.Fatalf("Len() = %d, want the one that did not fire", timers.Len())
	}
}
