package exec_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

var errBoom = errors.New("boom")

// goes runs f as a fault: what is left by a panic or Goexit does not return.
func goes(wrong string) error {
	switch wrong {
	case "error":
		return errBoom
	case "panic":
		panic(errBoom)
	case "goexit":
		goexit()
	}
	return nil
}

// faultySource has the splits "a" and "b", of ten records each, and goes wrong
// at one place of "b".
type faultySource struct {
	at, wrong string
	immediate bool
	opened    *opens
}

// opens counts what is open.
type opens struct {
	mu           sync.Mutex
	opened, left int
}

func (o *opens) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opened += max(n, 0)
	o.left += n
}

func (s faultySource) fault(at string) error {
	if s.at == at {
		return goes(s.wrong)
	}
	return nil
}

func (s faultySource) Bounded() bool               { return true }
func (s faultySource) Immediate() bool             { return s.immediate }
func (s faultySource) Check(context.Context) error { return s.fault("check") }
func (s faultySource) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "a"}, {ID: "b"}}, s.fault("splits")
}

func (s faultySource) Open(_ context.Context, split flow.Split, _ flow.Position) (flow.Reader[int], error) {
	if split.ID == "b" {
		if err := s.fault("open"); err != nil {
			return nil, err
		}
		if s.at == "open nothing" {
			return nil, nil
		}
	}
	s.opened.add(1)
	return &faultyReader{faultySource: s, split: split.ID}, nil
}

type faultyReader struct {
	faultySource
	split string
	n     int
}

func (r *faultyReader) Read(_ context.Context, buf []int) (int, error) {
	if r.n == 10 {
		return 0, io.EOF
	}
	if r.n == 4 && r.split == "b" {
		if err := r.fault("read"); err != nil {
			return 0, err
		}
		if r.at == "read" {
			switch r.wrong {
			case "too many":
				return len(buf) + 1, nil
			case "negative":
				return -1, nil
			}
		}
	}
	buf[0] = r.n
	r.n++
	return 1, nil
}

func (r *faultyReader) Position() flow.Position { return flow.Position(fmt.Sprint(r.n)) }
func (r *faultyReader) Close() error {
	r.opened.add(-1)
	if r.split == "b" {
		return r.fault("close")
	}
	return nil
}

// faultyWriters count what their tasks do, and go wrong at one place.
type faultyWriters struct {
	at, wrong string
	immediate bool
	mu        sync.Mutex
	calls     []string // operations with their task
	wrongTask int      // -1: all
}

func (w *faultyWriters) do(task int, op string) error {
	w.mu.Lock()
	w.calls = append(w.calls, fmt.Sprint(op, " ", task))
	w.mu.Unlock()
	if w.at == op && (w.wrongTask == -1 || w.wrongTask == task) {
		return goes(w.wrong)
	}
	return nil
}

func (w *faultyWriters) count(op string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if strings.HasPrefix(c, op) {
			n++
		}
	}
	return n
}

func (w *faultyWriters) Immediate() bool             { return w.immediate }
func (w *faultyWriters) Check(context.Context) error { return w.do(0, "check") }
func (w *faultyWriters) Open(_ context.Context, task flow.TaskInfo) (flow.Writer[int], error) {
	if err := w.do(task.Index, "open"); err != nil {
		return nil, err
	}
	if w.at == "open nothing" {
		return nil, nil
	}
	return &faultyWriter{w, task.Index}, nil
}

type faultyWriter struct {
	of   *faultyWriters
	task int
}

func (w *faultyWriter) Write(context.Context, []int) error { return w.of.do(w.task, "write") }
func (w *faultyWriter) Flush(context.Context) error        { return w.of.do(w.task, "flush") }
func (w *faultyWriter) Close() error                       { return w.of.do(w.task, "close") }

// wentWrong checks that the job failed by the right operator and for the right
// reason.
func wentWrong(t *testing.T, res exec.Result, err error, operator, wrong string) *exec.TaskError {
	t.Helper()
	var te *exec.TaskError
	if !errors.As(err, &te) || te.Operator != operator || res.Outcome != exec.Failed {
		t.Fatalf("outcome %v, error %v", res.Outcome, err)
	}
	var pe *exec.PanicError
	panicked := errors.As(err, &pe)
	switch wrong {
	case "error":
		if panicked || !errors.Is(err, errBoom) {
			t.Errorf("error %v", err)
		}
	case "panic":
		if !panicked || !errors.Is(err, errBoom) || !strings.Contains(string(pe.Stack), "exec_test.goes") {
			t.Errorf("error %v", err)
		}
	case "goexit":
		if !panicked || !strings.Contains(err.Error(), "runtime.Goexit") {
			t.Errorf("error %v", err)
		}
	}
	return te
}

func TestAFaultOfASourceFailsTheJobAndSaysWhere(t *testing.T) {
	for _, at := range []string{"open", "read", "close"} {
		for _, wrong := range []string{"error", "panic", "goexit"} {
			for _, immediate := range []bool{false, true} {
				t.Run(fmt.Sprint(at, " ", wrong, " immediate ", immediate), func(t *testing.T) {
					src := faultySource{at, wrong, immediate, &opens{}}
					te := runFaultySource(t, src, wrong)
					pos := map[string]string{"open": "", "read": "4", "close": "10"}[at]
					if te.Split != "b" || string(te.Position) != pos {
						t.Errorf("split %q, position %q, want b and %q", te.Split, te.Position, pos)
					}
				})
			}
		}
	}
}

func TestAReaderThatMiscountsFailsTheJob(t *testing.T) {
	for _, wrong := range []string{"too many", "negative"} {
		for _, immediate := range []bool{false, true} {
			te := runFaultySource(t, faultySource{"read", wrong, immediate, &opens{}}, wrong)
			if te.Split != "b" || !strings.Contains(te.Error(), "impossible number of records") {
				t.Errorf("%s: error %v", wrong, te)
			}
		}
	}
}

func TestASourceThatOpensNothingFailsTheJob(t *testing.T) {
	for _, immediate := range []bool{false, true} {
		te := runFaultySource(t, faultySource{"open nothing", "", immediate, &opens{}}, "")
		if te.Split != "b" || !strings.Contains(te.Error(), "neither a reader nor an error") {
			t.Errorf("error %v", te)
		}
	}
}

// runFaultySource runs a job that reads src and checks what any fault of it has
// in common: nothing stays open, and no writer is flushed.
func runFaultySource(t *testing.T, src faultySource, wrong string) *exec.TaskError {
	t.Helper()
	sink := &faultyWriters{}
	g := flow.New("g")
	flow.Write(flow.Read[int](g, "in", src), "out", sink)
	res, err := exec.Run(context.Background(), g, exec.Options{Workers: 2, BatchSize: 2})
	te := wentWrong(t, res, err, "in", wrong)
	if src.opened.left != 0 {
		t.Errorf("%d readers opened, %d of them not closed", src.opened.opened, src.opened.left)
	}
	if n := sink.count("flush"); n == 2 || sink.count("close") != sink.count("open") {
		t.Errorf("writers: %v", sink.calls)
	}
	return te
}

func TestAFaultOfASinkFailsTheJobAndClosesTheOthers(t *testing.T) {
	for _, at := range []string{"open", "write", "flush", "close"} {
		for _, wrong := range []string{"error", "panic", "goexit"} {
			for _, immediate := range []bool{false, true} {
				t.Run(fmt.Sprint(at, " ", wrong, " immediate ", immediate), func(t *testing.T) {
					sink := &faultyWriters{at: at, wrong: wrong, immediate: immediate, wrongTask: 1}
					second := &faultyWriters{immediate: true}
					g := flow.New("g")
					in := flow.Read(g, "in", memory.FromSlice(numbers(1000), 8))
					flow.Write(flow.Rebalance(in), "out", sink)
					flow.Write(in, "second", second)
					res, err := exec.Run(context.Background(), g, exec.Options{Workers: 2, BatchSize: 2})
					if te := wentWrong(t, res, err, "out", wrong); te.Task != 1 {
						t.Errorf("task %d", te.Task)
					}
					for _, w := range []*faultyWriters{sink, second} {
						open := w.count("open")
						if w == sink && at == "open" {
							open-- // the one that did not open
						}
						if closed := w.count("close"); closed != open {
							t.Errorf("%d open, %d closed: %v", open, closed, w.calls)
						}
					}
					if at != "close" && slices.Contains(sink.calls, "flush 1") != (at == "flush") {
						t.Errorf("the writer that failed was flushed: %v", sink.calls)
					}
				})
			}
		}
	}
}

func TestASinkThatOpensNothingFailsTheJob(t *testing.T) {
	g := flow.New("g")
	flow.Write(flow.Read(g, "in", memory.From(1)), "out", &faultyWriters{at: "open nothing"})
	res, err := exec.Run(context.Background(), g, exec.Options{})
	if te := wentWrong(t, res, err, "out", ""); !strings.Contains(te.Error(), "neither a writer nor an error") {
		t.Errorf("error %v", te)
	}
}

// Two closers stand in one task. The first ends its goroutine; the second is
// closed all the same.
func TestACloseThatEndsItsGoroutineKeepsNoOtherFromClosing(t *testing.T) {
	for _, failed := range []bool{false, true} {
		first := &faultyWriters{at: "close", wrong: "goexit", immediate: true, wrongTask: -1}
		second := &faultyWriters{immediate: true}
		g := flow.New("g")
		in := flow.Read(g, "in", memory.FromSlice(numbers(10), 2))
		flow.Write(in, "first", first)
		flow.Write(in, "second", second)
		if failed {
			flow.Write(flow.MapInto(in, "fails", func(_, _ *int) { panic("no") }), "third", nullSink[int]{})
		}
		res, err := exec.Run(context.Background(), g, exec.Options{Workers: 2})
		if res.Outcome != exec.Failed || !strings.Contains(err.Error(), `operator "first"`) || strings.Contains(err.Error(), `operator "fails"`) != failed {
			t.Errorf("outcome %v, error %v", res.Outcome, err)
		}
		if second.count("close") != second.count("open") || second.count("open") == 0 {
			t.Errorf("calls %v", second.calls)
		}
	}
}

func TestNothingStartsWhenSomethingCannotWork(t *testing.T) {
	for _, wrong := range []string{"error", "panic"} {
		for _, at := range []string{"check", "splits"} {
			src, sink := faultySource{at: at, wrong: wrong, opened: &opens{}}, &faultyWriters{}
			g := flow.New("g")
			flow.Write(flow.Read[int](g, "in", src), "out", sink)
			_, err := exec.Run(context.Background(), g, exec.Options{})
			if !errors.Is(err, errBoom) || !strings.Contains(err.Error(), `"in"`) {
				t.Errorf("source, %s, %s: error %v", at, wrong, err)
			}
			if at == "check" && len(sink.calls) > 0 {
				t.Errorf("the sink was asked although the source cannot work: %v", sink.calls)
			}
			if sink.count("open") > 0 || src.opened.opened > 0 {
				t.Error("something was opened")
			}
		}
		sink := &faultyWriters{at: "check", wrong: wrong}
		g := flow.New("g")
		flow.Write(flow.Read(g, "in", memory.From(1)), "out", sink)
		if _, err := exec.Run(context.Background(), g, exec.Options{}); !errors.Is(err, errBoom) || !strings.Contains(err.Error(), `"out"`) || sink.count("open") > 0 {
			t.Errorf("sink, %s: error %v, calls %v", wrong, err, sink.calls)
		}
	}
}
