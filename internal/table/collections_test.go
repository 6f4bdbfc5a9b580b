package table

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// parted is what a list table and a map table have in common.
type parted interface {
	Parts() []Part
	Close()
}

// views freezes, encodes and restores all parts of a table.
type views struct {
	t         *testing.T
	id        uint64
	sinks     []*memorySink
	committed [][]*memorySink
}

func (v *views) freeze(p parted) {
	mode := Delta
	if v.id%5 == 0 {
		mode, v.committed = Full, nil
	}
	v.id++
	v.sinks = nil
	for _, part := range p.Parts() {
		sink := &memorySink{}
		v.sinks = append(v.sinks, sink)
		if err := part.Freeze(v.id, mode, sink); err != nil {
			v.t.Fatal(err)
		}
	}
}

func (v *views) finish(p parted, fresh parted) {
	for _, part := range p.Parts() {
		for done := false; !done; {
			var err error
			if done, err = part.Slice(100); err != nil {
				v.t.Fatal(err)
			}
		}
		part.Commit(v.id)
	}
	v.committed = append(v.committed, v.sinks)
	for _, sinks := range v.committed {
		for i, part := range fresh.Parts() {
			for _, deletes := range []bool{true, false} {
				for _, chunk := range sinks[i].chunks {
					if chunk.Deletes == deletes {
						if err := part.Load(chunk.Data); err != nil {
							v.t.Fatal(err)
						}
					}
				}
			}
		}
	}
}

func checkLists[K, V comparable](t *testing.T, cfg Config[K, V], key func(uint64) K, value func(uint64) V) {
	hash, err := HasherOf[K]()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(fewer(5)) {
		r := rand.New(rand.NewPCG(seed, 5))
		lists, model := NewList(cfg), map[K][]V{}
		v := &views{t: t}
		var frozen map[K][]V
		keys := uint64(3) << (12 - 3*seed)
		for step := range 8000 {
			k := key(r.Uint64N(keys))
			h := hash(&k)
			switch n := r.IntN(100); {
			case n < 80:
				x := value(r.Uint64())
				lists.Append(h, k, x)
				model[k] = append(model[k], x)
			case n < 86:
				lists.Clear(h, k)
				delete(model, k)
			case n < 93:
				kept := slices.Clone(lists.Peek(h, k))
				kept = kept[:r.IntN(len(kept)+1)]
				if n < 88 {
					kept = append(kept, value(1), value(2), value(3))
				}
				lists.Replace(h, k, kept)
				if model[k] = kept; len(kept) == 0 {
					delete(model, k)
				}
			default:
				if got := lists.Peek(h, k); !slices.Equal(got, model[k]) || lists.Size(h, k) != len(got) {
					t.Fatalf("seed %d: Peek(%v) = %v, want %v", seed, k, got, model[k])
				}
			}
			if lists.Len() != len(model) {
				t.Fatalf("seed %d: %d lists, want %d", seed, lists.Len(), len(model))
			}
			switch step % 800 {
			case 400:
				v.freeze(lists)
				frozen = map[K][]V{}
				for k, list := range model {
					frozen[k] = slices.Clone(list)
				}
			case 700:
				restored := NewList(cfg)
				v.finish(lists, restored)
				for k, want := range frozen {
					if got := restored.Peek(hash(&k), k); !slices.Equal(got, want) {
						t.Fatalf("seed %d: restored %v = %v, want %v", seed, k, got, want)
					}
				}
				if restored.Len() != len(frozen) {
					t.Fatalf("seed %d: restored %d lists, want %d", seed, restored.Len(), len(frozen))
				}
				restored.Close()
			}
		}
		if blocks := lists.blocks.Len(); blocks > 0 {
			want := 0
			for _, list := range model {
				want += (max(len(list), headLen) - headLen + blockLen - 1) / blockLen
			}
			if blocks != want {
				t.Fatalf("seed %d: %d blocks, want %d", seed, blocks, want)
			}
		}
		lists.Close()
	}
}

func TestListsAreLists(t *testing.T) {
	number := func(x uint64) uint64 { return x }
	text := func(x uint64) string { return fmt.Sprint("text ", x) }
	t.Run("of numbers", func(t *testing.T) { checkLists(t, Config[uint64, uint64]{Groups: 4}, number, number) })
	t.Run("of numbers under strings", func(t *testing.T) { checkLists(t, Config[string, uint64]{Groups: 4}, text, number) })
	t.Run("of strings", func(t *testing.T) {
		checkLists(t, Config[string, string]{Groups: 4, Value: stringCodec()}, text, text)
	})
}

func checkMaps[K, MK, V comparable](t *testing.T, cfg MapConfig[K, MK, V], key func(uint64) K, mapKey func(uint64) MK, value func(uint64) V) {
	hash, err := HasherOf[K]()
	if err != nil {
		t.Fatal(err)
	}
	all := func(table *MapTable[K, MK, V], k K) map[MK]V {
		got := map[MK]V{}
		for mk, v := range table.All(hash(&k), k) {
			got[mk] = *v
		}
		if n := table.Size(hash(&k), k); n != len(got) {
			t.Fatalf("All has %d entries, Size() = %d", len(got), n)
		}
		return got
	}
	for seed := range uint64(fewer(5)) {
		r := rand.New(rand.NewPCG(seed, 6))
		table, model := NewMap(cfg), map[K]map[MK]V{}
		views := &views{t: t}
		var frozen map[K]map[MK]V
		keys, mapKeys := uint64(3)<<(12-3*seed), uint64(1)<<r.IntN(9)
		for step := range 8000 {
			k, mk := key(r.Uint64N(keys)), mapKey(r.Uint64N(mapKeys))
			h := hash(&k)
			switch n := r.IntN(100); {
			case n < 50:
				v := value(r.Uint64())
				table.Set(h, k, mk, v)
				if model[k] == nil {
					model[k] = map[MK]V{}
				}
				model[k][mk] = v
			case n < 90:
				_, want := model[k][mk]
				if got := table.Delete(h, k, mk); got != want {
					t.Fatalf("seed %d: Delete = %t, want %t", seed, got, want)
				}
				if delete(model[k], mk); len(model[k]) == 0 {
					delete(model, k)
				}
			case n < 91:
				table.Clear(h, k)
				delete(model, k)
			case n < 92:
				if got := all(table, k); !maps.Equal(got, model[k]) {
					t.Fatalf("seed %d: All(%v) = %v, want %v", seed, k, got, model[k])
				}
			default:
				got, ok := table.Get(h, k, mk)
				want, wantOK := model[k][mk]
				if got != want || ok != wantOK {
					t.Fatalf("seed %d: Get(%v, %v) = %v, %t", seed, k, mk, got, ok)
				}
			}
			if table.Len() != len(model) {
				t.Fatalf("seed %d: %d maps, want %d", seed, table.Len(), len(model))
			}
			switch step % 800 {
			case 400:
				views.freeze(table)
				frozen = map[K]map[MK]V{}
				for k, m := range model {
					frozen[k] = maps.Clone(m)
				}
			case 700:
				restored := NewMap(cfg)
				views.finish(table, restored)
				for k, want := range frozen {
					if got := all(restored, k); !maps.Equal(got, want) {
						t.Fatalf("seed %d: restored %v = %v, want %v", seed, k, got, want)
					}
				}
				if restored.Len() != len(frozen) {
					t.Fatalf("seed %d: restored %d maps, want %d", seed, restored.Len(), len(frozen))
				}
				restored.Close()
			}
		}
		table.Close()
	}
}

func TestMapsAreMaps(t *testing.T) {
	number := func(x uint64) uint64 { return x }
	text := func(x uint64) string { return fmt.Sprint("text ", x) }
	t.Run("of numbers", func(t *testing.T) {
		checkMaps(t, MapConfig[uint64, uint64, uint64]{Config: Config[uint64, uint64]{Groups: 4}}, number, number, number)
	})
	t.Run("of numbers under strings", func(t *testing.T) {
		checkMaps(t, MapConfig[string, string, uint64]{Config: Config[string, uint64]{Groups: 4}}, text, text, number)
	})
	t.Run("of strings", func(t *testing.T) {
		checkMaps(t, MapConfig[uint64, string, string]{Config: Config[uint64, string]{Groups: 4, Value: stringCodec()}}, number, text, text)
	})
}
