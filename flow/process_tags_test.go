package flow

import (
	"fmt"
	"testing"
)

func TestTagsThatNoTimerHasGiveTheirNumberBack(t *testing.T) {
	k := newTimers[int]()
	k.event.Set(1<<40, 5, 5, k.tags.id("kept", k))
	for i := range 100 * manyTags {
		tag := fmt.Sprint("tag ", i)
		id := k.tags.id(tag, k)
		if k.tags.names[id] != tag {
			t.Fatalf("%q is %q", tag, k.tags.names[id])
		}
		k.event.Set(int64(i), 7, 7, id)
		if _, err := k.event.Fire(int64(i), 10, func(at int64, _ uint64, _ int, tag uint32) error {
			if want := fmt.Sprint("tag ", at); k.tags.names[tag] != want {
				t.Fatalf("%q fired at the time of %q", k.tags.names[tag], want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(k.tags.names); n > 2*manyTags {
		t.Errorf("%d tags for one timer", n)
	}
	if id := k.tags.id("kept", k); k.tags.names[id] != "kept" {
		t.Errorf("the tag of a timer that is set is %q", k.tags.names[id])
	}
	fired := ""
	if _, err := k.event.Fire(1<<41, 10, func(_ int64, _ uint64, _ int, tag uint32) error {
		fired = k.tags.names[tag]
		return nil
	}); err != nil || fired != "kept" {
		t.Errorf("fired %q, %v", fired, err)
	}
}

func TestTheEmptyTagIsATag(t *testing.T) {
	k := newTimers[int]()
	if _, ok := k.tags.known(""); ok {
		t.Error("known before it was used")
	}
	a, b := k.tags.id("", k), k.tags.id("b", k)
	if got, ok := k.tags.known(""); !ok || got != a || a == b {
		t.Errorf("numbers %d and %d, known as %d, %t", a, b, got, ok)
	}
}
