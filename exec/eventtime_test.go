package exec_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// reached tells of the watermarks that its operator has seen at its timers.
type reached struct {
	told chan flow.Time
}

func (r *reached) Process(ctx flow.Ctx[int], in *int, _ *flow.Out[int]) error {
	ctx.SetTimer(flow.Time(*in), "")
	return nil
}

func (r *reached) OnTimer(ctx flow.Ctx[int], _ string, _ *flow.Out[int]) error {
	select {
	case r.told <- ctx.Timestamp():
	default: // the test has seen enough
	}
	return nil
}

func atItself(n *int) flow.Time { return flow.Time(*n) }

// One source that has fallen idle must not hold back event time, whatever stands
// between it and the operator with the timers.
func TestAnIdleInputDoesNotHoldBackTime(t *testing.T) {
	between := map[string]func(s flow.Stream[int]) flow.Stream[int]{
		"nothing": func(s flow.Stream[int]) flow.Stream[int] { return s },
		"a map of its own": func(s flow.Stream[int]) flow.Stream[int] {
			return flow.MapInto(s, "copy", func(in, out *int) { *out = *in }, flow.NoChain())
		},
		"calls": func(s flow.Stream[int]) flow.Stream[int] {
			return flow.AsyncMap(s, "ask", 2, func(_ context.Context, in, out *int) error { *out = *in; return nil })
		},
	}
	for name, op := range between {
		t.Run(name, func(t *testing.T) {
			live, quiet := make(chan int), make(chan int)
			told := make(chan flow.Time, 10)
			g := flow.New("g")
			wm := flow.Ascending().Idle(time.Millisecond)
			a := flow.Timestamps(flow.Read(g, "live", memory.FromChan(live), flow.Parallelism(1)), "live time", atItself, flow.Ascending())
			b := flow.Timestamps(flow.Read(g, "quiet", memory.FromChan(quiet), flow.Parallelism(1)), "quiet time", atItself, wm)
			all := flow.Union("all", a, op(b))
			p := flow.Process(flow.KeyBy(all, func(*int) int { return 1 }), "timers", func(flow.Scope[int]) *reached { return &reached{told} }, flow.Parallelism(1))
			flow.Write(p, "out", nullSink[int]{})
			job, err := exec.Start(context.Background(), g, exec.Options{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			quiet <- 5 // it has spoken, and says nothing more
			for n := 10; ; n++ {
				select {
				case live <- n:
					continue
				case at := <-told:
					if at < 5 {
						t.Errorf("a timer at %d", at)
					}
					if at < 10 {
						continue
					}
				}
				break // time has passed what the quiet one said
			}
			job.Cancel()
			if res, _ := job.Wait(); res.Outcome != exec.Canceled {
				t.Errorf("outcome %v", res.Outcome)
			}
		})
	}
}

// Two operators give the records of one source two different times.
func TestASourceCanHaveTwoTimes(t *testing.T) {
	g := flow.New("g")
	in := flow.Read(g, "in", memory.FromSplits([]int{1, 2, 3}, []int{4, 5}))
	var mu sync.Mutex
	var late []flow.Time
	ends := func(name string, at func(*int) flow.Time) {
		s := flow.Timestamps(in, name+" time", at, flow.Ascending())
		p := flow.Process(flow.KeyBy(s, func(*int) int { return 1 }), name, func(flow.Scope[int]) *watch { return &watch{&mu, &late} })
		flow.Write(p, name+" out", nullSink[int]{})
	}
	ends("first", atItself)
	ends("second", func(n *int) flow.Time { return flow.Time(1000 * *n) })
	run(t, g, exec.Options{Workers: 2})
	if len(late) > 0 {
		t.Errorf("records came below the watermark: %v", late)
	}
}

// watch notes records that the watermark had ruled out.
type watch struct {
	mu   *sync.Mutex
	late *[]flow.Time
}

func (w *watch) Process(ctx flow.Ctx[int], _ *int, _ *flow.Out[int]) error {
	if ctx.Timestamp() <= ctx.Watermark() {
		w.mu.Lock()
		*w.late = append(*w.late, ctx.Timestamp())
		w.mu.Unlock()
	}
	return nil
}
