package exec_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

// handClock is a clock whose time the test moves, and whose patience the test
// ends.
type handClock struct {
	env.Clock
	expire chan time.Time
	waited chan time.Duration
}

func (c *handClock) After(d time.Duration) <-chan time.Time {
	c.waited <- d
	return c.expire
}

// handEnv is the real environment with such a clock.
func handEnv() (*env.Env, *handClock) {
	e := env.Real()
	c := &handClock{Clock: e.Clock, expire: make(chan time.Time), waited: make(chan time.Duration, 1)}
	e.Clock = c
	return e, c
}

// stuckSource has one split, whose reader waits for release and not for its
// context.
type stuckSource struct{ begun, release chan struct{} }

func (s stuckSource) Bounded() bool { return true }
func (s stuckSource) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "a"}}, nil
}
func (s stuckSource) Open(context.Context, flow.Split, flow.Position) (flow.Reader[int], error) {
	return s, nil
}
func (s stuckSource) Read(context.Context, []int) (int, error) {
	s.begun <- struct{}{}
	<-s.release
	return 0, io.EOF
}
func (s stuckSource) Position() flow.Position { return nil }
func (s stuckSource) Close() error            { return nil }

// User code that blocks for ever can't be ended. Wait gives up after a while and
// says whose code it is; the job still ends when the code returns after all.
func TestWaitNamesUserCodeThatDoesNotReturn(t *testing.T) {
	cases := map[string]struct {
		build func(g *flow.Graph, block func())
		want  string
	}{
		"a function on a worker": {func(g *flow.Graph, block func()) {
			s := flow.MapInto(flow.Read(g, "in", memory.From(1)), "endless", func(in, out *int) { block() })
			flow.Write(flow.MapInto(s, "other", func(in, out *int) {}, flow.NoChain()), "out", nullSink[int]{})
		}, `"in > endless" (task `},
		"a function off the workers": {func(g *flow.Graph, block func()) {
			s := flow.MapInto(flow.Read(g, "in", memory.From(1)), "endless", func(in, out *int) { block() }, flow.OffWorker())
			flow.Write(s, "out", nullSink[int]{})
		}, `"endless" (task `},
		"a call": {func(g *flow.Graph, block func()) {
			s := flow.AsyncMap(flow.Read(g, "in", memory.From(1)), "endless", 1, func(context.Context, *int, *int) error { block(); return nil })
			flow.Write(s, "out", nullSink[int]{})
		}, `"endless" (call 0 of task `},
		"a reader": {func(g *flow.Graph, block func()) {
			release := make(chan struct{})
			src := stuckSource{make(chan struct{}, 1), release}
			go func() { <-src.begun; block(); close(release) }()
			flow.Write(flow.Read[int](g, "endless", src), "out", nullSink[int]{})
		}, `"endless" (reader of task `},
	}
	for name, c := range cases {
		for _, fails := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				begun, release := make(chan struct{}), make(chan struct{})
				g := flow.New("g")
				c.build(g, func() { close(begun); <-release })
				boom := make(chan error, 1)
				failing(g, boom)
				e, clock := handEnv()
				job, err := exec.StartIn(context.Background(), e, g, exec.Options{Workers: 2})
				if err != nil {
					t.Fatal(err)
				}
				<-begun
				outcome := exec.Canceled
				if fails {
					outcome = exec.Failed
					boom <- errors.New("boom")
				} else {
					job.Cancel()
				}
				go func() { <-clock.waited; clock.expire <- time.Time{} }()
				res, err := job.Wait()
				if err == nil || !strings.Contains(err.Error(), "not stopped cleanly") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), `"other"`) {
					t.Errorf("error %v, want it to name %s", err, c.want)
				}
				if res.Outcome != outcome || errors.Is(err, context.Canceled) == fails || res.Duration <= 0 {
					t.Errorf("outcome %v after %v, want %v", res.Outcome, res.Duration, outcome)
				}
				close(release)
				<-job.Done()
				if res, err := job.Wait(); res.Outcome != outcome || strings.Contains(err.Error(), "not stopped cleanly") {
					t.Errorf("in the end: outcome %v, error %v", res.Outcome, err)
				}
			})
		}
	}
}

// failing adds a source to the graph that fails with what it receives. Its reader
// needs no worker, which may be stuck.
func failing(g *flow.Graph, errs <-chan error) {
	flow.Write(flow.Read[int](g, "fuse", fuse{memory.From(1), errs}, flow.Parallelism(1)), "smoke", nullSink[int]{})
}

type fuse struct {
	flow.Source[int]
	errs <-chan error
}

func (f fuse) Open(context.Context, flow.Split, flow.Position) (flow.Reader[int], error) {
	return f, nil
}
func (f fuse) Position() flow.Position { return nil }
func (f fuse) Close() error            { return nil }
func (f fuse) Read(ctx context.Context, _ []int) (int, error) {
	select {
	case err := <-f.errs:
		return 0, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
