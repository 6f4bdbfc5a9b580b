package main

import (
	"testing"
	"time"
)

func TestNumbersAreGrouped(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -1000: "-1,000", -999: "-999",
	} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s, wanted %s", n, got, want)
		}
	}
}

func TestBarsAreOnOneScale(t *testing.T) {
	for _, c := range []struct {
		v, most float64
		want    string
	}{
		{8, 8, "████"}, {4, 8, "██"}, {1, 8, "▌"}, {0.1, 8, ""}, {0, 8, ""}, {-3, 8, ""}, {0, 0, ""}, {5, 8, "██▌"},
	} {
		if got := bar(c.v, c.most, 4); got != c.want {
			t.Errorf("%v of %v is %q, wanted %q", c.v, c.most, got, c.want)
		}
	}
}

func TestProgressTellsRateAndTimeLeft(t *testing.T) {
	for _, c := range []struct {
		current, total int64
		since          time.Duration
		want           string
	}{
		{0, 1000, 0, "0 of 1,000 flights, 0/s, ? left"},
		{2500, 10_000, 2 * time.Second, "2,500 of 10,000 flights, 1,250/s, 6s left"},
		{10_000, 10_000, time.Second, "10,000 of 10,000 flights, 10,000/s, 0s left"},
	} {
		if got := progress(c.current, c.total, c.since); got != c.want {
			t.Errorf("got %q, wanted %q", got, c.want)
		}
	}
}

func TestListsOfNamesAreSortedAndShort(t *testing.T) {
	if got := list([]string{"b", "a"}); got != "a, b" {
		t.Errorf("got %q", got)
	}
	if got := list([]string{"k", "j", "i", "h", "g", "f", "e", "d", "c", "b", "a"}); got != "a, b, c, d, e, f, g, h, i, j, …" {
		t.Errorf("got %q", got)
	}
	if got := shortened("Chicago", 4); got != "Chi…" {
		t.Errorf("got %q", got)
	}
}
