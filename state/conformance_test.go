package state_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/flowtest"
	"github.com/tailrace-io/tailrace/state"
)

const ttl = time.Minute

// point is a value without pointers, tale one with.
type point struct{ X, Y int32 }
type tale struct {
	Title string
	Words []string
}

// keeper is a processor with a state of every kind. What it does with a record
// is in the record's step.
type keeper struct {
	stage   *stage
	point   state.Value[point]
	tale    state.Value[tale]
	list    state.List[string]
	table   state.Map[string, int64]
	many    state.Map[int, tale]
	sum     state.Aggregate[int64, string]
	op      state.List[string]
	union   state.List[int]
	expVal  state.Value[point]
	expTale state.Value[tale]
	expList state.List[string]
	expMap  state.Map[string, int64]
	expSum  state.Aggregate[int64, string]
}

type record struct{}

func newKeeper(s flow.Scope[string]) *keeper {
	sum := flow.Aggregator[int64, int64, string]{
		New:    func() int64 { return 100 },
		Add:    func(acc, in *int64) { *acc += *in },
		Result: func(acc *int64) string { return fmt.Sprint(*acc) },
	}
	return &keeper{
		point: state.ValueOf[point](s, "point"), tale: state.ValueOf[tale](s, "tale"),
		list: state.ListOf[string](s, "list"), table: state.MapOf[string, int64](s, "table"),
		many: state.MapOf[int, tale](s, "many"), sum: state.AggregateOf(s, "sum", sum),
		op: state.OperatorListOf[string](s, "op"), union: state.UnionListOf[int](s, "union"),
		expVal:  state.ValueOf[point](s, "exp value", state.TTL(ttl)),
		expTale: state.ValueOf[tale](s, "exp tale", state.TTL(ttl)),
		expList: state.ListOf[string](s, "exp list", state.TTL(ttl)),
		expMap:  state.MapOf[string, int64](s, "exp map", state.TTL(ttl)),
		expSum:  state.AggregateOf(s, "exp sum", sum, state.TTL(ttl)),
	}
}

func (k *keeper) Process(_ flow.Ctx[string], _ *record, _ *flow.Out[string]) error {
	k.stage.step(k)
	return nil
}

// stage runs the steps of a claim.
type stage struct {
	*testing.T
	h       *flowtest.Harness[string, record, string]
	step    func(*keeper)
	restart bool // the task after each step
}

func newStage(t *testing.T, restart bool) *stage {
	s := &stage{T: t, restart: restart}
	s.h = flowtest.NewProcess(t, func(sc flow.Scope[string]) *keeper {
		k := newKeeper(sc)
		k.stage = s
		return k
	})
	return s
}

// with calls f with key in hand, and restarts the task if the stage does.
func (s *stage) with(key string, f func(k *keeper)) {
	s.Helper()
	done := false
	s.step = func(k *keeper) { f(k); done = true }
	s.h.Send(key, 1, record{})
	if !done {
		s.Fatal("the step was not done")
	}
	if s.restart {
		s.h.Restart()
	}
}

func equal[T comparable](s *stage, what string, got, want T) {
	s.Helper()
	if got != want {
		s.Errorf("%s: %v, want %v", what, got, want)
	}
}

func collect[K comparable](seq func(func(K, *int64) bool)) string {
	var b strings.Builder
	for k, v := range seq {
		fmt.Fprintf(&b, "%v=%d ", k, *v)
	}
	return strings.TrimSpace(b.String())
}

type claim struct {
	name string
	run  func(s *stage)
}

// TestStateConforms runs each claim as it is, and with a restart of the task,
// through the bytes of a checkpoint, after each step.
func TestStateConforms(t *testing.T) {
	for _, c := range slices.Concat(valueClaims, listClaims, mapClaims, otherClaims, ttlClaims) {
		t.Run(c.name, func(t *testing.T) { c.run(newStage(t, false)) })
		t.Run(c.name+", through checkpoints", func(t *testing.T) { c.run(newStage(t, true)) })
	}
}

var valueClaims = []claim{
	{"a value that was never set is absent", func(s *stage) {
		s.with("a", func(k *keeper) {
			v, ok := k.point.Get()
			equal(s, "Get", fmt.Sprint(v, ok), "{0 0} false")
			equal(s, "Peek", k.point.Peek(), nil)
			equal(s, "Peek of a tale", k.tale.Peek(), nil)
		})
	}},
	{"reading does not make a value", func(s *stage) {
		s.with("a", func(k *keeper) { k.point.Peek(); k.point.Get() })
		s.with("a", func(k *keeper) { equal(s, "Peek", k.point.Peek(), nil) })
	}},
	{"Set is seen by Get, Peek and Edit", func(s *stage) {
		s.with("a", func(k *keeper) { k.point.Set(point{1, 2}) })
		s.with("a", func(k *keeper) {
			v, ok := k.point.Get()
			equal(s, "Get", fmt.Sprint(v, ok), "{1 2} true")
			equal(s, "Peek", *k.point.Peek(), point{1, 2})
			equal(s, "Edit", *k.point.Edit(), point{1, 2})
		})
	}},
	{"Edit gives a zero value for an absent one, and keeps what is written", func(s *stage) {
		s.with("a", func(k *keeper) {
			p := k.point.Edit()
			equal(s, "before", *p, point{})
			p.X = 7
		})
		s.with("a", func(k *keeper) { equal(s, "after", *k.point.Peek(), point{X: 7}) })
	}},
	{"keys have values of their own", func(s *stage) {
		for i := range 200 {
			s.with(fmt.Sprint("key ", i), func(k *keeper) { k.point.Set(point{X: int32(i)}) })
		}
		for i := range 200 {
			s.with(fmt.Sprint("key ", i), func(k *keeper) { equal(s, "value", k.point.Peek().X, int32(i)) })
		}
	}},
	{"Clear makes a value absent, of its key alone", func(s *stage) {
		s.with("a", func(k *keeper) { k.point.Set(point{1, 1}) })
		s.with("b", func(k *keeper) { k.point.Set(point{2, 2}) })
		s.with("a", func(k *keeper) { k.point.Clear() })
		s.with("a", func(k *keeper) { equal(s, "a", k.point.Peek(), nil) })
		s.with("b", func(k *keeper) { equal(s, "b", *k.point.Peek(), point{2, 2}) })
	}},
	{"what Get gives is a copy", func(s *stage) {
		s.with("a", func(k *keeper) {
			k.point.Set(point{1, 1})
			v, _ := k.point.Get()
			v.X = 9
			equal(s, "value", k.point.Peek().X, 1)
		})
	}},
	{"a value with pointers keeps all it points to", func(s *stage) {
		s.with("a", func(k *keeper) { k.tale.Set(tale{"one", []string{"two", "three"}}) })
		s.with("a", func(k *keeper) { e := k.tale.Edit(); e.Words = append(e.Words, "four") })
		s.with("a", func(k *keeper) { equal(s, "tale", fmt.Sprint(*k.tale.Peek()), "{one [two three four]}") })
		s.with("b", func(k *keeper) { equal(s, "other key", k.tale.Peek(), nil) })
	}},
}

var listClaims = []claim{
	{"a list that was never appended to is nil", func(s *stage) {
		s.with("a", func(k *keeper) { equal(s, "is nil", k.list.Peek() == nil, true) })
	}},
	{"Append keeps the order", func(s *stage) {
		for i := range 20 {
			s.with("a", func(k *keeper) { k.list.Append(fmt.Sprint(i)) })
			s.with("b", func(k *keeper) { equal(s, "other key", len(k.list.Peek()), 0) })
		}
		s.with("a", func(k *keeper) {
			equal(s, "list", strings.Join(k.list.Peek(), " "), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19")
		})
	}},
	{"Replace takes a part of the list itself", func(s *stage) {
		s.with("a", func(k *keeper) { k.list.Replace([]string{"1", "2", "3"}) })
		s.with("a", func(k *keeper) { k.list.Replace(k.list.Peek()[1:]) })
		s.with("a", func(k *keeper) { equal(s, "list", strings.Join(k.list.Peek(), " "), "2 3") })
	}},
	{"Replace by nothing and Clear make a list nil", func(s *stage) {
		s.with("a", func(k *keeper) { k.list.Append("x") })
		s.with("a", func(k *keeper) { k.list.Replace(nil) })
		s.with("a", func(k *keeper) { equal(s, "after Replace", k.list.Peek() == nil, true) })
		s.with("a", func(k *keeper) { k.list.Append("y") })
		s.with("a", func(k *keeper) { k.list.Clear() })
		s.with("a", func(k *keeper) { equal(s, "after Clear", k.list.Peek() == nil, true) })
	}},
	{"appending to what Peek gave does not change the list", func(s *stage) {
		s.with("a", func(k *keeper) {
			for i := range 5 {
				k.list.Append(fmt.Sprint(i))
			}
			mine := append(k.list.Peek(), "mine")
			k.list.Append("5")
			equal(s, "what was appended", mine[5], "mine")
			equal(s, "list", strings.Join(k.list.Peek(), ""), "012345")
		})
	}},
}

var mapClaims = []claim{
	{"an entry that was never set is absent", func(s *stage) {
		s.with("a", func(k *keeper) {
			v, ok := k.table.Get("x")
			equal(s, "Get", fmt.Sprint(v, ok), "0 false")
			equal(s, "Peek", k.table.Peek("x"), nil)
			equal(s, "Len", k.table.Len(), 0)
			equal(s, "All", collect(k.table.All()), "")
			k.table.Delete("x")
		})
	}},
	{"All keeps the order of insertion, for small and large maps", func(s *stage) {
		for _, n := range []int{3, 8, 9, 40} {
			var want []string
			s.with(fmt.Sprint(n), func(k *keeper) {
				for i := range n {
					k.table.Set(fmt.Sprint(i*7%n), int64(i)) // n is no multiple of 7
				}
			})
			for i := range n {
				want = append(want, fmt.Sprintf("%d=%d", i*7%n, i))
			}
			s.with(fmt.Sprint(n), func(k *keeper) {
				equal(s, "All", collect(k.table.All()), strings.Join(want, " "))
				equal(s, "Len", k.table.Len(), n)
			})
		}
	}},
	{"Set again keeps the place, Delete and Set moves to the end", func(s *stage) {
		s.with("a", func(k *keeper) { k.table.Set("x", 1); k.table.Set("y", 2); k.table.Set("z", 3) })
		s.with("a", func(k *keeper) { k.table.Set("x", 4) })
		s.with("a", func(k *keeper) { equal(s, "All", collect(k.table.All()), "x=4 y=2 z=3") })
		s.with("a", func(k *keeper) { k.table.Delete("x") })
		s.with("a", func(k *keeper) { k.table.Set("x", 5) })
		s.with("a", func(k *keeper) { equal(s, "All", collect(k.table.All()), "y=2 z=3 x=5") })
	}},
	{"Edit gives a zero value for an absent one, and keeps what is written", func(s *stage) {
		s.with("a", func(k *keeper) { *k.table.Edit("x") += 3 })
		s.with("a", func(k *keeper) { *k.table.Edit("x") += 4 })
		s.with("a", func(k *keeper) { equal(s, "x", *k.table.Peek("x"), 7) })
		s.with("b", func(k *keeper) { equal(s, "other key", k.table.Len(), 0) })
	}},
	{"a map behaves like Go's, under many changes", func(s *stage) {
		model := map[int]string{}
		for i := range 300 {
			n := i * i % 37
			s.with("a", func(k *keeper) {
				if i%3 == 2 {
					k.many.Delete(n)
					delete(model, n)
				} else {
					k.many.Set(n, tale{Title: fmt.Sprint(i)})
					model[n] = fmt.Sprint(i)
				}
				got := map[int]string{}
				for mk, v := range k.many.All() {
					got[mk] = v.Title
				}
				if !maps.Equal(got, model) || k.many.Len() != len(model) {
					s.Fatalf("step %d: %v, want %v", i, got, model)
				}
			})
		}
	}},
	{"entries may be deleted and set while All goes over them", func(s *stage) {
		s.with("a", func(k *keeper) {
			for i := range 30 {
				k.table.Set(fmt.Sprint(i), int64(i))
			}
			seen := 0
			for mk, v := range k.table.All() {
				seen++
				if *v%2 == 0 {
					k.table.Delete(mk)
				} else {
					k.table.Set(mk, 1000)
				}
			}
			equal(s, "seen", seen, 30)
			equal(s, "Len", k.table.Len(), 15)
			for mk := range k.table.All() {
				k.table.Delete(mk)
			}
			equal(s, "Len after all were deleted", k.table.Len(), 0)
		})
		s.with("a", func(k *keeper) { equal(s, "All", collect(k.table.All()), "") })
	}},
	{"what is there is seen once, whatever is deleted and set while All goes over it", func(s *stage) {
		s.with("a", func(k *keeper) {
			for i := range 32 {
				k.table.Set(fmt.Sprint(i), int64(i))
			}
			var seen []int64
			for mk, v := range k.table.All() {
				n := *v // v is gone with the next call
				if n >= 100 {
					break // those set in the loop
				}
				seen = append(seen, n)
				if n < 30 {
					k.table.Delete(mk)
				}
				if n == 25 {
					for i := range 100 {
						k.table.Set(fmt.Sprint("new ", i), int64(100+i))
					}
				}
			}
			equal(s, "seen", len(seen), 32)
			equal(s, "in order", slices.IsSorted(seen), true)
			equal(s, "Len", k.table.Len(), 102)
		})
	}},
	{"Clear removes all entries of its key alone", func(s *stage) {
		s.with("a", func(k *keeper) { k.table.Set("x", 1) })
		s.with("b", func(k *keeper) { k.table.Set("x", 2) })
		s.with("a", func(k *keeper) { k.table.Clear() })
		s.with("a", func(k *keeper) { equal(s, "a", k.table.Len(), 0) })
		s.with("b", func(k *keeper) { equal(s, "b", *k.table.Peek("x"), 2) })
	}},
}

var otherClaims = []claim{
	{"an aggregate begins with New and folds", func(s *stage) {
		s.with("a", func(k *keeper) {
			r, ok := k.sum.Result()
			equal(s, "nothing added", fmt.Sprintln(r, ok), " false\n")
		})
		for i := range int64(3) {
			s.with("a", func(k *keeper) { k.sum.Add(&i) })
		}
		s.with("a", func(k *keeper) {
			r, ok := k.sum.Result()
			equal(s, "result", fmt.Sprintln(r, ok), "103 true\n")
		})
		s.with("a", func(k *keeper) { k.sum.Clear() })
		s.with("a", func(k *keeper) { one := int64(1); k.sum.Add(&one) })
		s.with("a", func(k *keeper) { r, _ := k.sum.Result(); equal(s, "after Clear", r, "101") })
	}},
	{"lists of the task are the same for all keys", func(s *stage) {
		s.with("a", func(k *keeper) { k.op.Append("1"); k.union.Append(1) })
		s.with("b", func(k *keeper) { k.op.Append("2"); k.union.Append(2) })
		s.with("c", func(k *keeper) {
			equal(s, "operator list", strings.Join(k.op.Peek(), " "), "1 2")
			equal(s, "union list", fmt.Sprint(k.union.Peek()), "[1 2]")
		})
		s.with("c", func(k *keeper) { k.op.Replace([]string{"3"}); k.union.Clear() })
		s.with("a", func(k *keeper) {
			equal(s, "operator list", strings.Join(k.op.Peek(), " "), "3")
			equal(s, "union list is nil", k.union.Peek() == nil, true)
		})
	}},
}
