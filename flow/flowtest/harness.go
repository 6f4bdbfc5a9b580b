package flowtest

import (
	"context"
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// Harness is one task of one operator. It drives the same code that a job
// does, the kernel that flow.Process makes, and does by hand what a task does
// around it: it passes records, moves event time and the clock, fires timers,
// and ends the data. Nothing runs by itself, so a test is deterministic.
//
// The key comes with each Send, not from a KeyBy. The task has all key groups.
// A failure of the processor, an error as well as a panic, fails the test at
// once. A Harness is used by the goroutine of its test.
type Harness[K comparable, I, O any] struct {
	t       testing.TB
	graph   *flow.Graph
	node    *flow.Node
	key     K // of the record being sent
	now     time.Time
	inst    *flow.Instance
	task    kernel
	ended   bool
	results []O
	in      *flow.BatchOf[I]
}

// kernel is what a kernel of a processor can do.
type kernel interface {
	flow.Kernel
	flow.Opening
	flow.Closing
	flow.Timed
	flow.Ending
	flow.Stateful
	flow.Saving
}

const (
	operatorName = "process"
	timerBudget  = 64
)

// NewProcess returns a Harness of the processors that newP makes. The clock
// stands at the beginning of 2000, UTC, and the watermark at MinTime. A mistake
// that Validate would find fails the test.
func NewProcess[K comparable, I, O any, P flow.Processor[K, I, O]](t testing.TB, newP func(flow.Scope[K]) P) *Harness[K, I, O] {
	t.Helper()
	h := &Harness[K, I, O]{t: t, now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), in: flow.NewBatch[I](1)}
	h.graph = flow.New("flowtest")
	var unused Collected[O]
	records := flow.Read(h.graph, "records", From[I]())
	keyed := flow.KeyBy(records, func(*I) K { return h.key })
	flow.Write(flow.Process[K, I, O](keyed, operatorName, newP), "results", unused.Sink())
	if err := h.graph.Validate(); err != nil {
		t.Fatalf("flowtest: %v", err)
	}
	for _, n := range h.graph.Nodes() {
		if n.Name == operatorName {
			h.node = n
		}
	}
	h.start(nil)
	t.Cleanup(h.stop)
	return h
}

// start makes a kernel, loads what another has saved, and opens it.
func (h *Harness[K, I, O]) start(saved []byte) {
	h.t.Helper()
	wm := flow.MinTime
	if h.inst != nil {
		wm = h.inst.Watermark
	}
	h.inst = &flow.Instance{
		Task:      flow.TaskInfo{Operator: operatorName, Parallelism: 1},
		Groups:    flow.DefaultMaxParallelism,
		Hi:        flow.DefaultMaxParallelism,
		Now:       func() time.Time { return h.now },
		Shared:    new(flow.OperatorStats),
		Watermark: wm,
	}
	k, err := h.node.NewKernel(h.inst)
	if err != nil {
		h.t.Fatalf("flowtest: %v", err)
	}
	k.Connect(0, (*collector[K, I, O])(h))
	h.task = k.(kernel)
	if saved != nil {
		h.call("load", func() error { return h.task.Load(saved) })
	}
	h.call("open", func() error { return h.task.Open(context.Background()) })
}

// stop closes the kernel.
func (h *Harness[K, I, O]) stop() {
	h.t.Helper()
	if h.task == nil {
		return
	}
	task := h.task
	h.task = nil
	defer task.CloseState()
	h.call("close", task.Close)
}

// call does one call of the kernel and fails the test where a job would fail.
func (h *Harness[K, I, O]) call(doing string, f func() error) {
	h.t.Helper()
	if err := caught(f); err != nil {
		key := ""
		if k := h.inst.Key(); k != "" {
			key = fmt.Sprintf(", key %s", k)
		}
		h.t.Fatalf("flowtest: %s%s: %v", doing, key, err)
	}
}

func caught(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}

// Send passes a record with that key and event time to the processor.
func (h *Harness[K, I, O]) Send(key K, at flow.Time, in I) {
	h.t.Helper()
	h.running()
	h.key = key
	h.in.Reset()
	h.in.Recs = append(h.in.Recs, in)
	h.in.Head.Times = append(h.in.Head.Times, at)
	h.call("send", func() error { return h.task.OnBatch(0, h.in) })
}

// Watermark moves event time to at and fires the timers up to it. It does
// nothing when event time is there already.
func (h *Harness[K, I, O]) Watermark(at flow.Time) {
	h.t.Helper()
	h.running()
	h.moveTo(at)
}

func (h *Harness[K, I, O]) moveTo(at flow.Time) {
	h.t.Helper()
	if at <= h.inst.Watermark {
		return
	}
	h.inst.Watermark = at
	h.fireEventTimers()
}

func (h *Harness[K, I, O]) fireEventTimers() {
	h.t.Helper()
	for more := true; more; {
		h.call("fire timers", func() (err error) {
			more, err = h.task.FireEventTimers(timerBudget)
			return err
		})
	}
}

// Advance moves the clock on by d and fires the processing-time timers up to
// then, each at its time.
func (h *Harness[K, I, O]) Advance(d time.Duration) {
	h.t.Helper()
	h.running()
	end := h.now.Add(d)
	for {
		at, ok := h.task.NextClockTimer()
		if !ok || at.After(end) {
			break
		}
		if at.After(h.now) {
			h.now = at
		}
		h.call("fire timers", func() error {
			_, err := h.task.FireClockTimers(h.now, timerBudget)
			return err
		})
	}
	h.now = end
}

// Restart replaces the task by a new one, as after a failure: everything that
// the processor may keep (state, timers, the watermark) goes through the bytes
// of a checkpoint, and what it kept in fields of its own is lost.
func (h *Harness[K, I, O]) Restart() {
	h.t.Helper()
	h.running()
	var saved []byte
	h.call("save", func() (err error) {
		saved, err = h.task.Save(nil)
		return err
	})
	h.stop()
	h.start(saved)
}

// EndOfData ends the input: event time moves to MaxTime and all its timers
// fire, processing-time timers are dropped, and OnEndOfData is called. Nothing
// can be sent afterwards.
func (h *Harness[K, I, O]) EndOfData() {
	h.t.Helper()
	h.running()
	h.ended = true
	h.moveTo(flow.MaxTime)
	h.fireEventTimers()
	for more := true; more; {
		h.call("end timers", func() (err error) {
			_, _, more, err = h.task.EndClockTimers(h.now, timerBudget)
			return err
		})
	}
	h.call("end", func() error {
		_, err := h.task.OnEnd(timerBudget)
		return err
	})
}

// Results returns what came out since it was last asked.
func (h *Harness[K, I, O]) Results() []O {
	got := h.results
	h.results = nil
	return got
}

func (h *Harness[K, I, O]) running() {
	h.t.Helper()
	if h.ended {
		h.t.Fatal("flowtest: the data has ended")
	}
}

// collector is the Harness as the one who reads its task's output.
type collector[K comparable, I, O any] Harness[K, I, O]

func (c *collector[K, I, O]) OnBatch(_ int, b flow.Batch) error {
	c.results = append(c.results, b.(*flow.BatchOf[O]).Recs...)
	return nil
}

// StateBytes is the memory that the processor's state holds now.
func (h *Harness[K, I, O]) StateBytes() int64 { return h.task.StateBytes() }
