package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/state"
)

// event is a record of the jobs below.
type event struct {
	Key string
	At  flow.Time
	N   int
}

func (e *event) key() string { return e.Key }

func timed(g *flow.Graph, events ...event) flow.Stream[event] {
	return flow.Timestamps(flow.Read(g, "events", memory.From(events...)), "times",
		func(e *event) flow.Time { return e.At }, flow.Ascending())
}

// runJob runs g and checks that it leaves no goroutine behind.
func runJob(t *testing.T, g *flow.Graph, workers int) (exec.Result, error) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	res, err := exec.Run(context.Background(), g, exec.Options{Workers: workers})
	goleak.VerifyNone(t, before)
	return res, err
}

func mustRun(t *testing.T, g *flow.Graph, workers int) {
	t.Helper()
	if _, err := runJob(t, g, workers); err != nil {
		t.Fatal(err)
	}
}

func sorted(got *memory.Collected[string]) []string {
	recs := got.Records()
	slices.Sort(recs)
	return recs
}

func eachWorkers(t *testing.T, f func(t *testing.T, workers int)) {
	for workers := 1; workers <= 3; workers++ {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) { f(t, workers) })
	}
}

// handler is a processor made of functions; any of them may be nil.
type handler[O any] struct {
	process func(ctx flow.Ctx[string], in *event, out *flow.Out[O]) error
	timer   func(ctx flow.Ctx[string], tag string, out *flow.Out[O]) error
	end     func(out *flow.Out[O]) error
}

func (h *handler[O]) Process(ctx flow.Ctx[string], in *event, out *flow.Out[O]) error {
	return h.process(ctx, in, out)
}

func (h *handler[O]) OnTimer(ctx flow.Ctx[string], tag string, out *flow.Out[O]) error {
	return h.timer(ctx, tag, out)
}

func (h *handler[O]) OnEndOfData(out *flow.Out[O]) error {
	if h.end == nil {
		return nil
	}
	return h.end(out)
}

func TestResultsHaveTheEventTimeOfWhatTheyComeFrom(t *testing.T) {
	eachWorkers(t, func(t *testing.T, workers int) {
		g := flow.New("g")
		made := func(out *flow.Out[event], name string) { out.Emit(event{Key: name}) }
		first := flow.Process[string, event, event](flow.KeyBy(timed(g, event{"a", 10, 0}, event{"a", 20, 0}), (*event).key), "first",
			func(flow.Scope[string]) *handler[event] {
				return &handler[event]{
					process: func(ctx flow.Ctx[string], in *event, out *flow.Out[event]) error {
						made(out, "record")
						if in.At == 10 {
							ctx.SetTimer(15, "")
							ctx.SetProcessingTimer(ctx.Now().Add(time.Hour), "clock")
							return nil
						}
						out.SetTime(99)
						return nil
					},
					timer: func(ctx flow.Ctx[string], tag string, out *flow.Out[event]) error {
						made(out, tag+"timer")
						return nil
					},
					end: func(out *flow.Out[event]) error { made(out, "end"); return nil },
				}
			}, flow.Parallelism(1), flow.ProcessingTimersAtEnd(flow.FireTimers()))
		second := flow.Process[string, event, string](flow.KeyBy(first, (*event).key), "second",
			func(flow.Scope[string]) *handler[string] {
				return &handler[string]{process: func(ctx flow.Ctx[string], in *event, out *flow.Out[string]) error {
					at := fmt.Sprint(int64(ctx.Timestamp()))
					if ctx.Timestamp() == flow.MaxTime {
						at = "max"
					}
					out.Emit(ctx.Key() + " " + at)
					return nil
				}}
			})
		var got memory.Collected[string]
		flow.Write(second, "out", got.Sink())
		mustRun(t, g, workers)
		want := []string{"clocktimer max", "end max", "record 10", "record 99", "timer 15"}
		if got := sorted(&got); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestProcessingTimersAtTheEndOfData: each key sets a timer that is due soon
// and one that is due in an hour. Each timer sets another one, due at once.
func TestProcessingTimersAtTheEndOfData(t *testing.T) {
	for name, c := range map[string]struct {
		opts []flow.ProcessOption
		soon time.Duration // a minute: not before the data has ended
		want []string
	}{
		"they are dropped by default": {nil, time.Minute, nil},
		"they are dropped":            {[]flow.ProcessOption{flow.ProcessingTimersAtEnd(flow.DropTimers())}, time.Minute, nil},
		"they fire in their order, and set no others": {[]flow.ProcessOption{flow.ProcessingTimersAtEnd(flow.FireTimers())},
			time.Minute, []string{"a soon", "a late"}},
		"those that come in time are awaited, and may set others": {
			[]flow.ProcessOption{flow.ProcessingTimersAtEnd(flow.AwaitTimers(time.Minute))},
			50 * time.Millisecond, []string{"a soon", "a next"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := flow.New("g")
			s := flow.Process[string, event, string](flow.KeyBy(timed(g, event{"a", 10, 0}), (*event).key), "op",
				func(flow.Scope[string]) *handler[string] {
					return &handler[string]{
						process: func(ctx flow.Ctx[string], _ *event, _ *flow.Out[string]) error {
							ctx.SetProcessingTimer(ctx.Now().Add(time.Hour), "late")
							ctx.SetProcessingTimer(ctx.Now().Add(c.soon), "soon")
							return nil
						},
						timer: func(ctx flow.Ctx[string], tag string, out *flow.Out[string]) error {
							out.Emit(ctx.Key() + " " + tag)
							if tag == "soon" {
								ctx.SetProcessingTimer(ctx.Now(), "next")
							}
							return nil
						},
					}
				}, c.opts...)
			var got memory.Collected[string]
			flow.Write(s, "out", got.Sink())
			before := time.Now()
			mustRun(t, g, 1)
			if got := got.Records(); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q (the job took %v)", got, c.want, time.Since(before))
			}
		})
	}
}

func TestErrorsOfAProcessor(t *testing.T) {
	bad := errors.New("odd")
	events := func() (all []event) {
		for i := range 100 {
			all = append(all, event{fmt.Sprintf("k%d", i%7), flow.Time(i), i})
		}
		return all
	}
	build := func(g *flow.Graph, timer bool, opts ...flow.ProcessOption) flow.Stream[string] {
		return flow.Process[string, event, string](flow.KeyBy(timed(g, events()...), (*event).key), "op",
			func(s flow.Scope[string]) *handler[string] {
				seen := state.ValueOf[int](s, "seen")
				return &handler[string]{
					process: func(ctx flow.Ctx[string], in *event, out *flow.Out[string]) error {
						*seen.Edit()++
						out.Emit(in.Key)
						if timer && in.N == 50 {
							ctx.SetTimer(60, "tick")
						}
						if !timer && in.N%10 == 3 {
							return bad
						}
						return nil
					},
					timer: func(flow.Ctx[string], string, *flow.Out[string]) error { return bad },
				}
			}, opts...)
	}
	eachWorkers(t, func(t *testing.T, workers int) {
		t.Run("fail the job, which names operator and key", func(t *testing.T) {
			g := flow.New("g")
			flow.Write(build(g, false), "out", new(memory.Collected[string]).Sink())
			_, err := runJob(t, g, workers)
			var te *exec.TaskError
			if !errors.As(err, &te) || te.Operator != "op" || !strings.HasPrefix(te.Key, "k") || !errors.Is(err, bad) {
				t.Errorf("%v", err)
			}
		})
		t.Run("are skipped, with their results", func(t *testing.T) {
			g := flow.New("g")
			var got memory.Collected[string]
			flow.Write(build(g, false, flow.OnError(flow.Skip(10))), "out", got.Sink())
			mustRun(t, g, workers)
			if n := len(got.Records()); n != 90 {
				t.Errorf("%d results, want 90", n)
			}
		})
		t.Run("go to the dead letters", func(t *testing.T) {
			g := flow.New("g")
			var got memory.Collected[string]
			var dead memory.Collected[flow.Failed[event]]
			flow.Write(build(g, false, flow.OnError(flow.DeadLetter("lost"))), "out", got.Sink())
			flow.Write(flow.DeadLetters[event](g, "lost"), "lost", dead.Sink())
			mustRun(t, g, workers)
			if n, lost := len(got.Records()), dead.Records(); n != 90 || len(lost) != 10 || lost[0].Err != "odd" || lost[0].Record.N%10 != 3 {
				t.Errorf("%d results, want 90; dead letters %v", n, lost)
			}
		})
		t.Run("of a timer fail the job whatever the policy says", func(t *testing.T) {
			g := flow.New("g")
			flow.Write(build(g, true, flow.OnError(flow.Skip(-1))), "out", new(memory.Collected[string]).Sink())
			_, err := runJob(t, g, workers)
			var te *exec.TaskError
			if !errors.As(err, &te) || te.Operator != "op" || te.Key != "k1" || !errors.Is(err, bad) || !strings.Contains(err.Error(), `"tick"`) {
				t.Errorf("%v", err)
			}
		})
	})
}

func TestAPanicOfAProcessorNamesTheKey(t *testing.T) {
	g := flow.New("g")
	s := flow.Process[string, event, string](flow.KeyBy(timed(g, event{"a", 1, 0}, event{"b", 2, 1}), (*event).key), "op",
		func(flow.Scope[string]) *handler[string] {
			return &handler[string]{process: func(ctx flow.Ctx[string], _ *event, _ *flow.Out[string]) error {
				if ctx.Key() == "b" {
					panic("no good")
				}
				return nil
			}}
		})
	flow.Write(s, "out", new(memory.Collected[string]).Sink())
	_, err := runJob(t, g, 2)
	var te *exec.TaskError
	if !errors.As(err, &te) || te.Key != "b" || !strings.Contains(err.Error(), "no good") {
		t.Errorf("%v", err)
	}
}

func TestNoKeyIsNamedWhereNoneIsInHand(t *testing.T) {
	g := flow.New("g")
	s := flow.Process[string, event, string](flow.KeyBy(timed(g, event{"a", 1, 0}), (*event).key), "op",
		func(flow.Scope[string]) *handler[string] {
			return &handler[string]{
				process: func(flow.Ctx[string], *event, *flow.Out[string]) error { return nil },
				end:     func(*flow.Out[string]) error { return errors.New("at last") },
			}
		})
	flow.Write(s, "out", new(memory.Collected[string]).Sink())
	_, err := runJob(t, g, 1)
	var te *exec.TaskError
	if !errors.As(err, &te) || te.Key != "" || !strings.Contains(err.Error(), "at last") {
		t.Errorf("%v", err)
	}
}

// guest opens, closes and ends, and counts it.
type guest struct {
	opened, closed, ended *atomic.Int64
	failOpen              bool
}

func (p *guest) Process(_ flow.Ctx[string], in *event, out *flow.Out[string]) error {
	if p.opened.Load() == 0 {
		return errors.New("not opened")
	}
	if in.N < 0 {
		return errors.New("bad record")
	}
	out.Emit(in.Key)
	return nil
}

func (p *guest) Open(context.Context) error {
	if p.failOpen {
		return errors.New("no entry")
	}
	p.opened.Add(1)
	return nil
}
func (p *guest) Close() error                        { p.closed.Add(1); return nil }
func (p *guest) OnEndOfData(*flow.Out[string]) error { p.ended.Add(1); return nil }

func TestAProcessorIsOpenedEndedAndClosedOnceATask(t *testing.T) {
	for name, c := range map[string]struct {
		events                []event
		failOpen              bool
		opened, closed, ended int64
		err                   string
	}{
		"of a job that ends":        {[]event{{"a", 1, 0}, {"b", 2, 0}}, false, 2, 2, 2, ""},
		"of a job that fails":       {[]event{{"a", 1, -1}}, false, 2, 2, 0, "bad record"},
		"of a job that can't begin": {[]event{{"a", 1, 0}}, true, 0, 0, 0, "no entry"},
	} {
		t.Run(name, func(t *testing.T) {
			var opened, closed, ended atomic.Int64
			g := flow.New("g")
			s := flow.Process[string, event, string](flow.KeyBy(timed(g, c.events...), (*event).key), "op",
				func(flow.Scope[string]) *guest { return &guest{&opened, &closed, &ended, c.failOpen} }, flow.Parallelism(2))
			flow.Write(s, "out", new(memory.Collected[string]).Sink())
			_, err := runJob(t, g, 1)
			if err == nil != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if c.err != "bad record" && opened.Load() != c.opened || closed.Load() != opened.Load() || ended.Load() != c.ended {
				t.Errorf("opened %d, closed %d, ended %d; want %d, as often, and %d", opened.Load(), closed.Load(), ended.Load(), c.opened, c.ended)
			}
		})
	}
}

func TestAFactoryMustDeclareTheSameInEachTask(t *testing.T) {
	g := flow.New("g")
	s := flow.Process[string, event, string](flow.KeyBy(timed(g, event{"a", 1, 0}), (*event).key), "op",
		func(s flow.Scope[string]) *handler[string] {
			if s.Task().Index == 0 {
				state.ValueOf[int](s, "x")
			}
			return &handler[string]{process: func(flow.Ctx[string], *event, *flow.Out[string]) error { return nil }}
		}, flow.Parallelism(2))
	flow.Write(s, "out", new(memory.Collected[string]).Sink())
	if _, err := runJob(t, g, 2); err == nil || !strings.Contains(err.Error(), "declared other states") {
		t.Errorf("%v", err)
	}
}
