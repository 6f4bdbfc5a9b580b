package table

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/tailrace-io/tailrace/internal/invariant"
)

// fewer is how many of n seeds to run: a quarter where the costly checks are on.
func fewer(n int) int {
	if invariant.Enabled {
		return max(2, n/4)
	}
	return n
}

// memorySink keeps the chunks of one view.
type memorySink struct{ chunks []Chunk }

func (s *memorySink) Buffer() []byte { return nil }
func (s *memorySink) Emit(c Chunk)   { s.chunks = append(s.chunks, c) }

// check panics if an invariant of the table does not hold.
func (c *core) check() error {
	inUse := c.cur | c.retiring | c.aborted | c.view.retired
	for _, f := range c.open {
		inUse |= f.phase
	}
	total := 0
	for i := range c.dir {
		if c.dir[i].base != c.seg(c.dir[i].seg).base {
			return fmt.Errorf("directory entry %d does not show where segment %d is", i, c.dir[i].seg)
		}
	}
	for id := range c.nsegs {
		s := c.seg(id)
		if s.mem.slab == 0 {
			continue
		}
		live := uint32(0)
		for i := range uint32(1) << s.log {
			g := *tagAt(s.base, i)
			if g == 0 {
				continue
			}
			live++
			if g&occupied == 0 {
				return fmt.Errorf("segment %d slot %d: tag %08b", id, i, g)
			}
			if g&phases&^s.dirty != 0 {
				return fmt.Errorf("segment %d: tag %08b, dirty %08b", id, g, s.dirty)
			}
			if g&phases&^inUse != 0 {
				return fmt.Errorf("segment %d: tag %08b has a free phase, %08b are in use", id, g, inUse)
			}
			h := c.rows.hashOf(s, c.row(s.base, i))
			if got := c.dir[c.index(h)].seg; got != id {
				return fmt.Errorf("segment %d has a row of segment %d", id, got)
			}
		}
		if live != s.live || live > s.max {
			return fmt.Errorf("segment %d has %d rows, says %d, has room for %d", id, live, s.live, s.max)
		}
		total += int(live)
	}
	if total != c.live {
		return fmt.Errorf("%d rows, says %d", total, c.live)
	}
	return nil
}

// checkpoint is what a test knows of one view.
type checkpoint[K comparable, V comparable] struct {
	id      uint64
	want    map[K]V // the table at the freeze
	chain   []*memorySink
	encoded bool
}

// history drives a table, its model and its checkpoints.
type history[K comparable, V comparable] struct {
	t         *testing.T
	r         *rand.Rand
	cfg       Config[K, V]
	hash      func(*K) uint64
	table     *Table[K, V]
	model     map[K]V
	open      []*checkpoint[K, V]
	committed *checkpoint[K, V]
	nextID    uint64
	verified  int
}

func (h *history[K, V]) freeze() {
	mode := Delta
	if h.r.IntN(4) == 0 {
		mode = Full
	}
	sink := &memorySink{}
	h.nextID++
	switch err := h.table.Freeze(h.nextID, mode, sink); {
	case errors.Is(err, ErrBusy), errors.Is(err, ErrPhases):
		return
	case err != nil:
		h.t.Fatal(err)
	}
	c := &checkpoint[K, V]{id: h.nextID, want: maps.Clone(h.model), chain: []*memorySink{sink}}
	if mode == Delta && h.committed != nil {
		c.chain = append(append([]*memorySink(nil), h.committed.chain...), sink)
	}
	h.open = append(h.open, c)
}

func (h *history[K, V]) slice() {
	done, err := h.table.Slice(1 + h.r.IntN(2000))
	if err != nil {
		h.t.Fatal(err)
	}
	if !done || len(h.open) == 0 {
		return
	}
	if c := h.open[len(h.open)-1]; !c.encoded {
		c.encoded = true
		h.verify(c)
	}
}

func (h *history[K, V]) commit() {
	var encoded []int
	for i, c := range h.open {
		if c.encoded {
			encoded = append(encoded, i)
		}
	}
	if len(encoded) == 0 {
		return
	}
	i := encoded[h.r.IntN(len(encoded))]
	h.committed = h.open[i]
	h.table.Commit(h.committed.id)
	h.open = append([]*checkpoint[K, V](nil), h.open[i+1:]...)
}

func (h *history[K, V]) abort() {
	if len(h.open) == 0 {
		return
	}
	i := h.r.IntN(len(h.open))
	h.table.Abort(h.open[i].id)
	h.open = append(append([]*checkpoint[K, V](nil), h.open[:i]...), h.open[i+1:]...)
}

// restore loads a chain into a new table.
func (h *history[K, V]) restore(c *checkpoint[K, V]) *Table[K, V] {
	h.t.Helper()
	table := New(h.cfg)
	for _, sink := range c.chain {
		for _, deletes := range []bool{true, false} {
			for _, chunk := range sink.chunks {
				if chunk.Deletes == deletes {
					if err := table.Load(chunk.Data); err != nil {
						h.t.Fatal(err)
					}
				}
			}
		}
	}
	return table
}

func (h *history[K, V]) verify(c *checkpoint[K, V]) {
	h.t.Helper()
	table := h.restore(c)
	defer table.Close()
	checkSame(h.t, table, c.want)
	if err := h.table.check(); err != nil {
		h.t.Fatal(err)
	}
	h.verified++
}

// checkFreezing runs random histories.
func checkFreezing[K comparable, V comparable](t *testing.T, seeds int, cfg Config[K, V], key func(uint64) K, value func(uint64) V) {
	t.Helper()
	hash, err := HasherOf[K]()
	if err != nil {
		t.Fatal(err)
	}
	verified := 0
	seeds = fewer(seeds)
	for seed := range uint64(seeds) {
		h := &history[K, V]{t: t, r: rand.New(rand.NewPCG(seed, 11)), cfg: cfg, hash: hash, table: New(cfg), model: map[K]V{}}
		r := h.r
		keys := uint64(20) << r.IntN(11)
		inserting, hot := 60, keys
		for step := range 15000 {
			if step%3000 == 0 {
				inserting = 20 + r.IntN(75)
				hot = 1 + r.Uint64N(keys)
			}
			k := key(r.Uint64N(hot))
			kh := hash(&k)
			switch n := r.IntN(1000); {
			case n < inserting*9:
				v := value(r.Uint64())
				h.table.Set(kh, k, v)
				h.model[k] = v
			case n < 960:
				h.table.Delete(kh, k)
				delete(h.model, k)
			case n < 962 && r.IntN(20) == 0:
				h.table.Clear()
				clear(h.model)
			case n < 970:
				h.freeze()
			case n < 993:
				h.slice()
			case n < 997:
				h.commit()
			case n < 998:
				h.abort()
			case n < 999 && h.committed != nil && r.IntN(40) == 0:
				h.table.Close()
				h.table, h.model, h.open = h.restore(h.committed), maps.Clone(h.committed.want), nil
			}
		}
		checkSame(t, h.table, h.model)
		if err := h.table.check(); err != nil {
			t.Fatal(err)
		}
		verified += h.verified
		h.table.Close()
	}
	if verified < seeds*5 {
		t.Fatalf("only %d views were verified", verified)
	}
}

func stringCodec() Codec[string] { return keyCodec(Codec[string]{}) }

func TestAViewIsTheTableAtItsFreeze(t *testing.T) {
	number := func(x uint64) uint64 { return x }
	text := func(x uint64) string { return fmt.Sprint("key ", x*x*x) }
	t.Run("with integers in one key group", func(t *testing.T) {
		checkFreezing(t, 40, Config[uint64, uint64]{}, number, number)
	})
	t.Run("with integers in 8 key groups", func(t *testing.T) {
		checkFreezing(t, 20, Config[uint64, uint64]{Groups: 8}, number, number)
	})
	t.Run("with string keys", func(t *testing.T) {
		checkFreezing(t, 20, Config[string, uint64]{Groups: 2}, text, number)
	})
	t.Run("with string keys and values", func(t *testing.T) {
		checkFreezing(t, 20, Config[string, string]{Groups: 2, Value: stringCodec()}, text, text)
	})
	t.Run("with segments of few rows", func(t *testing.T) {
		checkFreezing(t, 5, Config[uint64, [60]uint64]{}, number, func(x uint64) [60]uint64 { return [60]uint64{1: x} })
	})
}
