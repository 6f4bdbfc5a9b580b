package state_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// ttlClaims take the clock in steps: a TTL is one minute.
var ttlClaims = []claim{
	{"a value is gone one TTL after its last write", func(s *stage) {
		s.with("a", func(k *keeper) { k.expVal.Set(point{1, 1}); k.expTale.Set(tale{Title: "t"}) })
		s.h.Advance(ttl - time.Microsecond)
		s.with("a", func(k *keeper) {
			equal(s, "just before", *k.expVal.Peek(), point{1, 1})
			equal(s, "just before, a tale", k.expTale.Peek().Title, "t")
		})
		s.h.Advance(time.Microsecond)
		s.with("a", func(k *keeper) {
			equal(s, "after", k.expVal.Peek(), nil)
			_, ok := k.expTale.Get()
			equal(s, "after, a tale", ok, false)
		})
	}},
	{"writing prolongs the life of a value, reading does not", func(s *stage) {
		s.with("w", func(k *keeper) { k.expVal.Set(point{}) })
		s.with("r", func(k *keeper) { k.expVal.Set(point{}) })
		s.h.Advance(ttl / 2)
		s.with("w", func(k *keeper) { k.expVal.Edit() })
		s.with("r", func(k *keeper) { k.expVal.Peek(); k.expVal.Get() })
		s.h.Advance(ttl / 2)
		s.with("w", func(k *keeper) { equal(s, "written is there", k.expVal.Peek() != nil, true) })
		s.with("r", func(k *keeper) { equal(s, "read is there", k.expVal.Peek() != nil, false) })
	}},
	{"Edit of a value that has expired gives a zero one", func(s *stage) {
		s.with("a", func(k *keeper) { k.expVal.Set(point{1, 1}) })
		s.h.Advance(ttl)
		s.with("a", func(k *keeper) { equal(s, "value", *k.expVal.Edit(), point{}) })
	}},
	{"what has expired is gone even where the sweep has not been", func(s *stage) {
		one := int64(1)
		for i := range 60 { // a step sweeps over a few rows of each state
			s.with(fmt.Sprint(i), func(k *keeper) {
				k.expVal.Set(point{1, 1})
				k.expTale.Set(tale{Title: "t"})
				k.expList.Append("x")
				k.expMap.Set("x", 1)
				k.expMap.Set("y", 1)
				k.expSum.Add(&one)
			})
		}
		s.h.Advance(ttl)
		for i := range 60 {
			s.with(fmt.Sprint(59-i), func(k *keeper) {
				equal(s, "Edit of a value", *k.expVal.Edit(), point{})
				equal(s, "Peek of a tale", k.expTale.Peek(), nil)
				equal(s, "Edit of a tale", k.expTale.Edit().Title, "")
				equal(s, "Peek of an entry", k.expMap.Peek("y"), nil)
				equal(s, "All", collect(k.expMap.All()), "")
				equal(s, "Edit of an entry", *k.expMap.Edit("x"), 0)
				equal(s, "Len", k.expMap.Len(), 1)
				equal(s, "list", len(k.expList.Peek()), 0)
				_, ok := k.expSum.Result()
				equal(s, "aggregate", ok, false)
			})
		}
	}},
	{"an aggregate that has expired begins anew", func(s *stage) {
		one := int64(1)
		s.with("a", func(k *keeper) { k.expSum.Add(&one) })
		s.h.Advance(ttl)
		s.with("a", func(k *keeper) { _, ok := k.expSum.Result(); equal(s, "ok", ok, false) })
		s.with("a", func(k *keeper) { k.expSum.Add(&one); r, _ := k.expSum.Result(); equal(s, "result", r, "101") })
	}},
	{"the elements of a list expire one by one", func(s *stage) {
		for i := range 6 {
			s.with("a", func(k *keeper) { k.expList.Append(fmt.Sprint(i)) })
			s.h.Advance(ttl / 4)
		}
		s.with("a", func(k *keeper) { equal(s, "list", strings.Join(k.expList.Peek(), ""), "345") })
		s.with("a", func(k *keeper) { k.expList.Replace(k.expList.Peek()) })
		s.h.Advance(ttl / 2)
		s.with("a", func(k *keeper) { equal(s, "after Replace", strings.Join(k.expList.Peek(), ""), "345") })
		s.h.Advance(ttl / 2)
		s.with("a", func(k *keeper) { equal(s, "is nil", k.expList.Peek() == nil, true) })
	}},
	{"the entries of a map expire one by one", func(s *stage) {
		for i := range 6 {
			s.with("a", func(k *keeper) { k.expMap.Set(fmt.Sprint(i), int64(i)) })
			s.h.Advance(ttl / 4)
		}
		s.with("a", func(k *keeper) {
			equal(s, "All", collect(k.expMap.All()), "3=3 4=4 5=5")
			equal(s, "Len", k.expMap.Len(), 3)
			equal(s, "Peek", k.expMap.Peek("2"), nil)
			equal(s, "Edit", *k.expMap.Edit("2"), 0)
		})
	}},
}

func TestWhatHasExpiredMakesRoomForOthers(t *testing.T) {
	s := newStage(t, false)
	wave := func(n int) int64 {
		for i := range 3000 {
			s.with(fmt.Sprint("wave ", n, " key ", i), func(k *keeper) {
				k.expVal.Set(point{})
				k.expTale.Set(tale{Title: "long"})
				k.expList.Append("element")
				k.expMap.Set("x", 1)
				k.expMap.Set("y", 1)
			})
		}
		s.h.Advance(ttl)
		return s.h.StateBytes()
	}
	wave(0)
	early := wave(1)
	for n := 2; n < 8; n++ {
		wave(n)
	}
	if late := wave(8); late > early*5/4 {
		t.Errorf("%d bytes of state, %d some waves of keys ago: what has expired is still there", late, early)
	}
}
