package exec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// broken is a reader whose every method panics, as on a nil field.
type broken struct{ immediate, bounded bool }

func (s broken) Bounded() bool   { return s.bounded }
func (s broken) Immediate() bool { return s.immediate }
func (s broken) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "a"}}, nil
}
func (s broken) Open(context.Context, flow.Split, flow.Position) (flow.Reader[int], error) {
	return s, nil
}
func (broken) Read(context.Context, []int) (int, error) { panic("boom at Read") }
func (broken) Position() flow.Position                  { return nil }
func (broken) Close() error                             { panic("boom at Close") }

func TestAReaderThatPanicsAgainWhenItIsClosedFailsTheJobOnly(t *testing.T) {
	for _, s := range []broken{{true, true}, {false, true}, {false, false}} {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			g := flow.New("g")
			flow.Write(flow.Read(g, "src", s), "out", (&memory.Collected[int]{}).Sink())
			_, err := exec.Run(context.Background(), g, exec.Options{Workers: 2})
			var te *exec.TaskError
			if !errors.As(err, &te) || te.Operator != "src" || !strings.Contains(err.Error(), "boom at Read") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// treacherous is an error that can't be compared while it is nil.
type treacherous struct{ code int }

func (e *treacherous) Error() string { return "treacherous" }
func (e *treacherous) Is(error) bool { return e.code == 7 }

// together fails in all tasks at once, with a nil error that is not nil.
type together struct{ all *sync.WaitGroup }

func (p together) Open(context.Context) error {
	p.all.Done()
	p.all.Wait()
	var e *treacherous
	return e
}
func (together) Transform(flow.TaskCtx, *int, *flow.Out[int]) error { return nil }

func TestErrorsThatPanicWhenTheyAreComparedDoNotHangTheJob(t *testing.T) {
	var all sync.WaitGroup
	all.Add(4)
	g := flow.New("g")
	s := flow.Read(g, "src", memory.From(numbers(10)...))
	flow.Write(flow.Transform(s, "together", func(flow.TaskScope) together { return together{&all} }), "out",
		(&memory.Collected[int]{}).Sink())
	res, err := exec.Run(context.Background(), g, exec.Options{Workers: 4})
	if err == nil || res.Outcome != exec.Failed {
		t.Errorf("outcome %v, error %v", res.Outcome, err)
	}
}
