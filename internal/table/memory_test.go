package table

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
)

func TestOperationsOnRowsThatAreThereAllocateNothing(t *testing.T) {
	numbers := New(Config[uint64, int64]{Groups: 16})
	defer numbers.Close()
	words := New(Config[string, int64]{Groups: 16})
	defer words.Close()
	pairs := New(Config[[2]string, int64]{Groups: 16})
	defer pairs.Close()
	hashPair, err := HasherOf[[2]string]()
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = "key " + strconv.Itoa(i)
	}
	i := uint64(0)
	churn := func() {
		i++
		k := 1 + i%999
		*numbers.Edit(HashUint64(k), k)++
		numbers.Delete(HashUint64(k/2), k/2)
		w := keys[k]
		*words.Edit(HashString(w), w)++
		words.Delete(HashString(keys[k/2]), keys[k/2])
		if _, ok := words.Get(HashString(w), w); !ok {
			t.Fatal("a key is not there")
		}
		p := &[2]string{w, "x"}
		*pairs.Edit(hashPair(p), *p)++
	}
	for range 20000 {
		churn()
	}
	if n := testing.AllocsPerRun(5000, churn); n > 1 { // the one is the pair that is hashed
		t.Errorf("%v allocations a round", n)
	}
	if n := testing.AllocsPerRun(5000, func() {
		i++
		*numbers.Edit(HashUint64(i%500), i%500)++
	}); n != 0 {
		t.Errorf("%v allocations an edit", n)
	}
}

func TestATableOverItsLimitPanicsWithAMemoryError(t *testing.T) {
	pool := NewPool(1<<20, nil)
	table := New(Config[uint64, uint64]{Slabs: pool})
	defer table.Close()
	err := func() (err error) {
		defer func() {
			err, _ = recover().(error)
		}()
		for i := uint64(0); ; i++ {
			table.Set(HashUint64(i), i, i)
		}
	}()
	if full := new(MemoryError); !errors.As(err, &full) {
		t.Fatalf("panic with %v", err)
	}
	if held := pool.Held(); held > 1<<20 || held < 1<<19 {
		t.Errorf("the pool holds %d bytes", held)
	}
	if n := table.Len(); n < 10000 {
		t.Errorf("only %d rows fit", n)
	}
	if err := table.check(); err != nil {
		t.Error(err)
	}
}

func TestMemoryIsGivenBack(t *testing.T) {
	pool := NewPool(0, nil)
	table := New(Config[uint64, uint64]{Slabs: pool, Groups: 8})
	for i := range uint64(300000) {
		table.Set(HashUint64(i), i, i)
	}
	full := table.Bytes()
	for i := range uint64(300000) {
		table.Delete(HashUint64(i), i)
	}
	if left := table.Bytes(); left > full/8 {
		t.Errorf("after all rows were deleted %d bytes of %d are held", left, full)
	}
	if err := table.check(); err != nil {
		t.Error(err)
	}
	for i := range uint64(100000) {
		table.Set(HashUint64(i), i, i)
	}
	table.Clear()
	if table.Len() != 0 || table.Peek(HashUint64(1), 1) != nil {
		t.Error("a cleared table has rows")
	}
	table.Set(HashUint64(1), 1, 1)
	table.Close()
	pool.Drain()
	if held := pool.Held(); held != 0 {
		t.Errorf("after Close the pool holds %d bytes", held)
	}
}

func TestSmallTablesAreSmall(t *testing.T) {
	empty := New(Config[uint64, int64]{Groups: 128})
	defer empty.Close()
	if n := empty.Bytes(); n > 32<<10 {
		t.Errorf("an empty table holds %d bytes", n)
	}
	some := New(Config[uint64, int64]{Groups: 128})
	defer some.Close()
	for i := range uint64(10000) {
		some.Set(HashUint64(i), i, 1)
	}
	if n := some.Bytes(); n > 600_000 {
		t.Errorf("1e4 rows of 16 bytes hold %d bytes", n)
	}
}

func TestALostTableGivesItsMemoryBack(t *testing.T) {
	pool := NewPool(0, nil)
	func() {
		table := New(Config[uint64, uint64]{Slabs: pool})
		for i := range uint64(100000) {
			table.Set(HashUint64(i), i, i)
		}
	}()
	for i := 0; pool.Held() > stock*fullSlab; i++ {
		if i == 1000 {
			t.Fatalf("%d bytes are still held", pool.Held())
		}
		runtime.GC()
		runtime.Gosched()
	}
}

func TestThePoolKeepsSlabsReady(t *testing.T) {
	woken := 0
	pool := NewPool(3*fullSlab, func() { woken++ })
	for pool.Stock() {
	}
	if held := pool.Held(); held != stock*fullSlab {
		t.Fatalf("%d bytes in reserve", held)
	}
	var slabs []Slab
	for range 3 {
		s, err := pool.Get(fullSlab)
		if err != nil {
			t.Fatal(err)
		}
		slabs = append(slabs, s)
	}
	if woken == 0 {
		t.Error("nobody was told that the reserve is low")
	}
	if !slabs[0].ready || !slabs[1].ready || canMap && slabs[2].ready {
		t.Error("the slabs in reserve are the ones that are populated")
	}
	if _, err := pool.Get(1); err == nil {
		t.Error("the pool gives more than its limit")
	}
	if pool.Stock() {
		t.Error("the reserve goes over the limit")
	}
	for _, s := range slabs {
		pool.Put(s)
	}
	if _, err := pool.Get(2 * fullSlab); err != nil {
		t.Errorf("the reserve is not given up for a larger slab: %v", err)
	}
}

func TestTheHeapNeverLendsMemoryTwice(t *testing.T) {
	for seed := range uint64(fewer(20)) {
		r := rand.New(rand.NewPCG(seed, 9))
		h := &heap{src: NewPool(0, nil), unit: 72 + 8*r.IntN(30)}
		type lent struct {
			b    block
			fill byte
		}
		var out []lent
		bytes := func(l lent) []byte { return slabBytes(h.addr(l.b), h.bytes(l.b)) }
		for range 3000 {
			if r.IntN(100) < 45 && len(out) > 0 {
				i := r.IntN(len(out))
				for _, b := range bytes(out[i]) {
					if b != out[i].fill {
						t.Fatalf("seed %d: a block was written by another", seed)
					}
				}
				h.release(out[i].b)
				out[i] = out[len(out)-1]
				out = out[:len(out)-1]
				continue
			}
			l := lent{h.alloc(uint8(r.IntN(8))), byte(r.Uint32())}
			for i := range bytes(l) {
				bytes(l)[i] = l.fill
			}
			out = append(out, l)
		}
		for _, l := range out {
			h.release(l.b)
		}
		if used := len(h.slabs) - len(h.empty); used != 1 {
			t.Errorf("seed %d: %d slabs are kept when nothing is in use", seed, used)
		}
		h.close()
	}
}
