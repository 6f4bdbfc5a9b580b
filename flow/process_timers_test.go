package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/flowtest"
	"github.com/tailrace-io/tailrace/state"
)

// order is what a clock does when it gets it: "set 10 x", "clear 10 x", "pset
// 5s x", "pclear 5s x".
type order struct{ Text string }

// clock reports each timer as "key@time tag", and counts those of each key in
// its state. A tag that begins with + sets a timer of one later when it fires,
// with one + less.
type clock struct{ fired state.Value[int64] }

func newClock(s flow.Scope[string]) *clock {
	return &clock{state.ValueOf[int64](s, "fired")}
}

var began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (c *clock) Process(ctx flow.Ctx[string], in *order, out *flow.Out[string]) error {
	f := strings.Fields(in.Text)
	at := flow.MaxTime
	fmt.Sscan(f[1], &at)
	wait, _ := time.ParseDuration(f[1])
	switch f[0] {
	case "set":
		ctx.SetTimer(at, f[2])
	case "clear":
		ctx.ClearTimer(at, f[2])
	case "pset":
		ctx.SetProcessingTimer(began.Add(wait), f[2])
	case "pclear":
		ctx.ClearProcessingTimer(began.Add(wait), f[2])
	}
	return nil
}

func (c *clock) OnTimer(ctx flow.Ctx[string], tag string, out *flow.Out[string]) error {
	*c.fired.Edit()++
	if rest, ok := strings.CutPrefix(tag, "+"); ok {
		ctx.SetTimer(ctx.Timestamp()+1, rest)
	}
	at := fmt.Sprint(int64(ctx.Timestamp()))
	switch ctx.Timestamp() {
	case flow.MaxTime:
		at = "max"
	case flow.MinTime:
		at = "min"
	}
	out.Emit(fmt.Sprintf("%s@%s %s", ctx.Key(), at, tag))
	return nil
}

func (c *clock) OnEndOfData(out *flow.Out[string]) error {
	out.Emit("end")
	return nil
}

// TestTimers: a script is "key: order", "wm time", "+duration" (the clock) and
// "end"; what comes out of each step is compared, with "; " between results.
// Each runs as it is, and with a restart after each step.
func TestTimers(t *testing.T) {
	type row struct{ do, want string }
	for _, c := range []struct {
		claim string
		rows  []row
	}{
		{"timers fire in the order of their times, whatever order they were set in", []row{
			{"a: set 30 x", ""}, {"a: set 10 x", ""}, {"b: set 20 x", ""}, {"a: set 25 x", ""},
			{"wm 25", "a@10 x; b@20 x; a@25 x"}, {"wm 29", ""}, {"wm 30", "a@30 x"}, {"end", "end"}}},
		{"a timer that is set twice fires once", []row{
			{"a: set 10 x", ""}, {"a: set 10 x", ""}, {"wm 10", "a@10 x"}, {"wm 20", ""}}},
		{"tags, keys and times tell timers apart", []row{
			{"a: set 10 x", ""}, {"a: set 10 y", ""}, {"a: set 11 x", ""}, {"wm 10", "a@10 x; a@10 y"}, {"wm 11", "a@11 x"}}},
		{"a timer that is cleared does not fire, and may be set again", []row{
			{"a: set 10 x", ""}, {"b: set 10 x", ""}, {"a: clear 10 x", ""}, {"a: clear 10 never", ""}, {"wm 10", "b@10 x"},
			{"a: set 20 x", ""}, {"a: clear 20 x", ""}, {"a: set 20 x", ""}, {"wm 20", "a@20 x"}}},
		{"a timer that is set behind the watermark fires at its next step, with its own time", []row{
			{"wm 100", ""}, {"a: set 10 x", ""}, {"a: set 100 y", ""}, {"wm 100", ""}, {"wm 101", "a@10 x; a@100 y"}}},
		{"a timer may set timers, which fire in the same step when it has come for them", []row{
			{"a: set 10 ++x", ""}, {"wm 11", "a@10 ++x; a@11 +x"}, {"wm 12", "a@12 x"}}},
		{"at the end of data all timers fire, those at MaxTime last, then OnEndOfData", []row{
			{"a: set max x", ""}, {"b: set 10 +x", ""}, {"wm 5", ""}, {"end", "b@10 +x; b@11 x; a@max x; end"}}},
		{"a processing-time timer fires when the clock is there, with the watermark as its time", []row{
			{"a: pset 10s x", ""}, {"b: pset 5s y", ""}, {"+4999999us", ""}, {"+1us", "b@min y"}, {"wm 77", ""}, {"+1m", "a@77 x"}}},
		{"processing-time timers are told apart, set once and cleared", []row{
			{"a: pset 5s x", ""}, {"a: pset 5s x", ""}, {"a: pset 5s y", ""}, {"b: pset 5s x", ""}, {"b: pclear 5s x", ""},
			{"+5s", "a@min x; a@min y"}, {"+1h", ""}}},
		{"a processing-time timer that is set in the past fires when the clock moves", []row{
			{"+1h", ""}, {"a: pset 5s x", ""}, {"+1us", "a@min x"}}},
		{"a processing-time timer never fires too early, not by a nanosecond", []row{
			{"a: pset 5.0000000001s x", ""}, {"a: pset 5.000000001s x", ""}, {"+5s", "a@min x"}, {"+1us", "a@min x"}}},
		{"processing-time timers are dropped at the end of data", []row{
			{"a: pset 5s x", ""}, {"end", "end"}}},
	} {
		for _, restart := range []bool{false, true} {
			name := c.claim
			if restart {
				name += ", through checkpoints"
			}
			t.Run(name, func(t *testing.T) {
				h := flowtest.NewProcess(t, newClock)
				for _, r := range c.rows {
					play(t, h, r.do)
					if got := strings.Join(h.Results(), "; "); got != r.want {
						t.Fatalf("%s: %q, want %q", r.do, got, r.want)
					}
					if restart && r.do != "end" {
						h.Restart()
					}
				}
			})
		}
	}
}

func play(t *testing.T, h *flowtest.Harness[string, order, string], do string) {
	t.Helper()
	key, text, isOrder := strings.Cut(do, ": ")
	switch {
	case isOrder:
		h.Send(key, 1, order{text})
	case do == "end":
		h.EndOfData()
	case strings.HasPrefix(do, "wm "):
		var at int64
		fmt.Sscan(do[3:], &at)
		h.Watermark(flow.Time(at))
	default:
		d, err := time.ParseDuration(do[1:])
		if err != nil {
			t.Fatal(err)
		}
		h.Advance(d)
	}
}

func TestManyTimersAndTagsFireOnceEach(t *testing.T) {
	h := flowtest.NewProcess(t, newClock)
	var want []string
	for i := range 5000 {
		at := i * 7919 % 5003
		h.Send(fmt.Sprint(i%11), 1, order{fmt.Sprintf("set %d tag%d", at, i)})
		want = append(want, fmt.Sprintf("%d@%d tag%d", i%11, at, i))
	}
	h.Restart()
	h.Watermark(5003)
	got := h.Results()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("%d timers fired, want %d; the first difference is %d: %q", len(got), len(want), i, got[min(i, len(got)-1)])
	}
}
