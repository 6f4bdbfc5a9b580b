package flow_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// splits is a Timestamps kernel with what the engine does around it.
type splits struct {
	*rig
	flow.Watermarking
	t       *testing.T
	got     taken[int]
	pending bool
	last    flow.Time
}

func newSplits(t *testing.T, wm flow.Watermarks) *splits {
	g := flow.New("job")
	end(flow.Timestamps(ints(g, "in"), "op", func(n *int) flow.Time { return flow.Time(*n) }, wm))
	s := &splits{t: t, rig: newRig(t, g, 4), last: flow.MinTime}
	s.Watermarking = s.kernel.(flow.Watermarking)
	s.kernel.Connect(0, &s.got)
	return s
}

func (s *splits) read(split int, times ...int) {
	s.t.Helper()
	b := stamped(times)
	b.Head.Split = split
	if err := s.kernel.OnBatch(0, b); err != nil {
		s.t.Fatal(err)
	}
}

// at checks the watermark, and that it has not gone back.
func (s *splits) at(want flow.Time) {
	s.t.Helper()
	wm, idle, _ := s.NextWatermark(s.now, s.pending)
	if idle {
		s.t.Errorf("idle, want a watermark of %v", want)
	}
	if wm != want {
		s.t.Errorf("watermark %d, want %d", wm, want)
	}
	if wm < s.last {
		s.t.Errorf("the watermark went back from %d to %d", s.last, wm)
	}
	s.last = wm
}

// idle checks that nothing holds event time back here.
func (s *splits) idle() {
	s.t.Helper()
	if _, idle, _ := s.NextWatermark(s.now, s.pending); !idle {
		s.t.Error("not idle")
	}
}

func TestWatermarks(t *testing.T) {
	cases := map[string]struct {
		wm  flow.Watermarks
		run func(s *splits)
	}{
		"a watermark is below the newest record, of which more may come": {flow.Ascending(), func(s *splits) {
			s.SplitBegins(0)
			s.at(flow.MinTime)
			s.read(0, 10, 20)
			s.at(19)
		}},
		"the slowest split counts": {flow.Ascending(), func(s *splits) {
			s.SplitBegins(0)
			s.SplitBegins(1)
			s.read(0, 100)
			s.at(flow.MinTime) // split 1 has begun and said nothing
			s.read(1, 50)
			s.at(49)
			s.read(1, 200)
			s.at(99)
		}},
		"disorder is within a split": {flow.BoundedDisorder(5 * time.Microsecond), func(s *splits) {
			s.SplitBegins(0)
			s.read(0, 100, 95, 97)
			s.at(94)
			s.read(0, 96)
			s.at(94)
			s.read(0, 110)
			s.at(104)
		}},
		"disorder of less than a microsecond": {flow.BoundedDisorder(time.Nanosecond), func(s *splits) {
			s.SplitBegins(0)
			s.read(0, 100, 99) // 100.0 and 99.999999
			s.at(98)
		}},
		"a split not yet begun holds back": {flow.Ascending(), func(s *splits) {
			s.pending = true
			s.SplitBegins(0)
			s.read(0, 100)
			s.at(flow.MinTime)
			s.SplitEnds(0)
			s.at(flow.MinTime)
			s.SplitBegins(1)
			s.pending = false
			s.read(1, 50)
			s.at(49)
		}},
		"a split that ended counts no more": {flow.Ascending(), func(s *splits) {
			s.SplitBegins(0)
			s.SplitBegins(1)
			s.read(0, 100)
			s.read(1, 50)
			s.at(49)
			s.SplitEnds(1)
			s.at(99)
			s.SplitEnds(0)
			s.idle()
		}},
		"a split found late does not turn time back": {flow.Ascending(), func(s *splits) {
			s.SplitBegins(0)
			s.read(0, 100)
			s.at(99)
			s.SplitBegins(1)
			s.at(99)
			s.read(1, 10)
			s.at(99)
			s.read(1, 500)
			s.at(99)
			s.read(0, 600)
			s.at(499)
		}},
		"a quiet split falls idle, and is back with its next record": {flow.Ascending().Idle(10 * time.Second), func(s *splits) {
			s.SplitBegins(0)
			s.SplitBegins(1)
			s.read(0, 100)
			s.at(flow.MinTime)
			s.now = s.now.Add(9 * time.Second)
			s.read(0, 200)
			s.at(flow.MinTime)
			s.now = s.now.Add(time.Second) // ten since split 1 began
			s.at(199)
			s.read(1, 50) // late, and time does not turn back
			s.at(199)
			s.read(1, 150)
			s.read(0, 300)
			s.at(199)
			s.read(1, 250)
			s.at(249)
			s.now = s.now.Add(10 * time.Second)
			s.idle()
			s.read(0, 400)
			s.at(399)
		}},
		"the earliest time there is": {flow.BoundedDisorder(time.Hour), func(s *splits) {
			s.SplitBegins(0)
			s.read(0, math.MinInt64)
			s.at(flow.MinTime)
			s.read(0, math.MinInt64+5)
			s.at(flow.MinTime)
		}},
		"a record at the end of time is not the end of data": {flow.Ascending(), func(s *splits) {
			s.SplitBegins(0)
			s.read(0, math.MaxInt64)
			s.at(flow.MaxTime - 1)
			s.SplitEnds(0)
			s.idle()
		}},
		"a record at the end of time, with disorder": {flow.BoundedDisorder(time.Microsecond), func(s *splits) {
			s.SplitBegins(0)
			s.read(0, math.MaxInt64)
			s.at(flow.MaxTime - 2)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { c.run(newSplits(t, c.wm)) })
	}
}

func TestIdlenessSaysWhenToLookAgain(t *testing.T) {
	s := newSplits(t, flow.Ascending().Idle(10*time.Second))
	begin := s.now
	s.SplitBegins(0)
	s.now = s.now.Add(3 * time.Second)
	s.SplitBegins(1)
	if _, _, until := s.NextWatermark(s.now, false); !until.Equal(begin.Add(10 * time.Second)) {
		t.Errorf("until %v, want that of split 0, %v", until, begin.Add(10*time.Second))
	}
	s.read(0, 1)
	if _, _, until := s.NextWatermark(s.now, false); !until.Equal(begin.Add(13 * time.Second)) {
		t.Errorf("until %v, want %v", until, begin.Add(13*time.Second))
	}
	s.now = begin.Add(13 * time.Second)
	if _, idle, until := s.NextWatermark(s.now, false); !idle || !until.IsZero() {
		t.Errorf("idle %v, until %v, want to be woken by a record only", idle, until)
	}
}

func TestTimestampsStampsAllAndLeavesTheBatchAsItWas(t *testing.T) {
	s := newSplits(t, flow.Ascending())
	s.SplitBegins(3)
	b := stamped([]int{5, 4, 6})
	b.Head.Split = 3
	if err := s.kernel.OnBatch(0, b); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.got.times, []flow.Time{5, 4, 6}) || !slices.Equal(s.got.recs, []int{5, 4, 6}) {
		t.Errorf("got %v at %v", s.got.recs, s.got.times)
	}
	if len(b.Head.Times) != 0 || s.got.first != &b.Recs[0] {
		t.Error("the batch was changed or copied")
	}
	s.got.fail = errors.New("no")
	if err := s.kernel.OnBatch(0, b); err != s.got.fail {
		t.Errorf("error %v", err)
	}
}
