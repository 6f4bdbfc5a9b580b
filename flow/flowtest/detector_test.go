package flowtest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/flowtest"
	"github.com/tailrace-io/tailrace/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type Payment struct {
	CardNo string
	At     flow.Time
	Cents  int64
}

type Alert struct {
	CardNo, Why string
	Cents       int64
}

type profile struct{ Count, Cents int64 }

type detector struct{ card state.Value[profile] }

func newDetector(s flow.Scope[string]) *detector {
	return &detector{state.ValueOf[profile](s, "card")}
}

func (d *detector) Process(ctx flow.Ctx[string], in *Payment, out *flow.Out[Alert]) error {
	c := d.card.Edit()
	if c.Count == 0 {
		ctx.SetTimer(ctx.Timestamp().Add(time.Hour), "forget")
	} else if in.Cents > 10*c.Cents/c.Count {
		out.Emit(Alert{ctx.Key(), "unusual amount", in.Cents})
	}
	c.Count, c.Cents = c.Count+1, c.Cents+in.Cents
	return nil
}

func (d *detector) OnTimer(flow.Ctx[string], string, *flow.Out[Alert]) error {
	d.card.Clear()
	return nil
}

func TestAlertsOnAnUnusualAmount(t *testing.T) {
	h := flowtest.NewProcess(t, newDetector)
	h.Send("card-1", flow.Time(1), Payment{Cents: 100})
	h.Restart()
	h.Send("card-1", flow.Time(2), Payment{Cents: 5000})
	if got, want := h.Results(), []Alert{{"card-1", "unusual amount", 5000}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTheDetectorForgetsACardAfterAnHour(t *testing.T) {
	h := flowtest.NewProcess(t, newDetector)
	hour := flow.Time(time.Hour.Microseconds())
	h.Send("card-1", 1, Payment{Cents: 100})
	h.Watermark(hour)
	h.Restart()
	h.Send("card-1", hour, Payment{Cents: 5000})
	if got := h.Results(); len(got) != 1 {
		t.Errorf("before the hour is over: %v, want one alert", got)
	}
	h.Watermark(hour + 1)
	h.Send("card-1", hour+2, Payment{Cents: 900000})
	if got := h.Results(); len(got) != 0 {
		t.Errorf("after it: %v, want none", got)
	}
	h.EndOfData()
}

// TestTheDetectorAsAJob compares the job with a sequential twin.
func TestTheDetectorAsAJob(t *testing.T) {
	var in []Payment
	for i := range 20000 {
		cents := int64(100 + i%7)
		if i%97 == 0 {
			cents *= 50
		}
		in = append(in, Payment{fmt.Sprintf("card-%d", i%83), flow.Time(i), cents})
	}
	var want []Alert
	seen := map[string]profile{}
	for _, p := range in {
		c := seen[p.CardNo]
		if c.Count > 0 && p.Cents > 10*c.Cents/c.Count {
			want = append(want, Alert{p.CardNo, "unusual amount", p.Cents})
		}
		seen[p.CardNo] = profile{c.Count + 1, c.Cents + p.Cents}
	}
	byCard := func(a, b Alert) int { return cmpAlerts(a, b) }
	slices.SortFunc(want, byCard)
	for workers := 1; workers <= 3; workers++ {
		g := flow.New("detector")
		var got flowtest.Collected[Alert]
		payments := flow.Timestamps(flow.Read(g, "payments", flowtest.From(in...)), "times",
			func(p *Payment) flow.Time { return p.At }, flow.Ascending())
		alerts := flow.Process(flow.KeyBy(payments, func(p *Payment) string { return p.CardNo }), "detect", newDetector)
		flow.Write(alerts, "out", got.Sink())
		if _, err := exec.Run(context.Background(), g, exec.Options{Workers: workers}); err != nil {
			t.Fatal(err)
		}
		recs := got.Records()
		slices.SortFunc(recs, byCard)
		if len(want) == 0 || !slices.Equal(recs, want) {
			t.Errorf("%d workers: %d alerts, want %d", workers, len(recs), len(want))
		}
	}
}

func cmpAlerts(a, b Alert) int {
	return slices.Compare([]string{a.CardNo, fmt.Sprint(a.Cents)}, []string{b.CardNo, fmt.Sprint(b.Cents)})
}
