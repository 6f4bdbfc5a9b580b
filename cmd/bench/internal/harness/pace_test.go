package harness

import "testing"

func TestScheduleIsOpenLoop(t *testing.T) {
	// 1,000 records a second in bursts of 10: a burst each 10 ms.
	due := Pace{PerSecond: 1000, Burst: 10, Warmup: 10}.Schedule()
	const ms = 1_000_000
	for _, c := range []struct {
		claim   string
		now     int64
		most    int
		wantN   int
		wantDue int64
	}{
		{"the clock starts with the first call; warm-up has no time", 5 * ms, 100, 10, 0},
		{"nothing before the next burst", 14 * ms, 100, 0, 15 * ms},
		{"a burst in parts keeps its time", 16 * ms, 4, 4, 15 * ms},
		{"never more than what is left of a burst", 16 * ms, 100, 6, 15 * ms},
		{"who comes late gets the time when it was due", 50 * ms, 100, 10, 25 * ms},
		{"and then all that was missed, at once", 50 * ms, 100, 10, 35 * ms},
	} {
		n, at := due.Next(c.now, c.most)
		if n != c.wantN || at != c.wantDue {
			t.Errorf("%s: got %d records due at %d, want %d at %d", c.claim, n, at, c.wantN, c.wantDue)
		}
	}
}

func TestLatencyMergesLanes(t *testing.T) {
	l := NewLatency(2)
	l.Record(0, 1000, 99)
	l.Record(1, 1_000_000, 1)
	l.Record(1, -5, 900) // a clock that seems to go back
	q := l.Quantiles()
	if q.Count != 1000 || q.P50 != 1 || q.P99 < 990 || q.P99 > 1010 || q.Max < 990_000 {
		t.Errorf("got %+v", q)
	}
}
