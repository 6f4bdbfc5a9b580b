package flow_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/state"
)

type (
	inK   = flow.Keyed[string, string]
	outS  = flow.Stream[string]
	scope = flow.Scope[string]
	ctx   = flow.Ctx[string]
	outO  = *flow.Out[string]
)

// idle does nothing.
type idle struct{}

func (*idle) Process(ctx, *string, outO) error                       { return nil }
func (*idle) ProcessLeft(ctx, *string, outO) error                   { return nil }
func (*idle) ProcessRight(ctx, *int, outO) error                     { return nil }
func (*idle) ProcessBroadcast(flow.BroadcastCtx, *int, outO) error   { return nil }
func (*idle) Transform(flow.TaskCtx, *string, outO) error            { return nil }
func (*idle) TransformBroadcast(flow.BroadcastCtx, *int, outO) error { return nil }

type badTimer struct{ idle }

func (*badTimer) OnTimer(ctx flow.Ctx[int], tag string, out outO) error { return nil }

type badOpen struct{ idle }

func (*badOpen) Open() error { return nil }

type badClose struct{ idle }

func (*badClose) Close() {}

type badEnd struct{ idle }

func (*badEnd) OnEndOfData(*flow.Out[int]) error { return nil }

type badFinal struct{ idle }

func (*badFinal) RequiresFinalCheckpoint() string { return "" }

type badComplete struct{ idle }

func (*badComplete) OnCheckpointComplete(uint64) error { return nil }

// byValue is a processor as a value, with an OnTimer that only its pointer has.
type byValue struct{ _ int }

func (byValue) Process(ctx, *string, outO) error { return nil }
func (*byValue) OnTimer(ctx, string, outO) error { return nil }

type goodTimer struct{ idle }

func (*goodTimer) OnTimer(ctx, string, outO) error { return nil }

// locked can't be stored.
type locked struct{ C chan int }

func process[P flow.Processor[string, string, string]](newP func(scope) P, opts ...flow.ProcessOption) func(inK, flow.Stream[int]) outS {
	return func(k inK, _ flow.Stream[int]) outS {
		return flow.Process[string, string, string](k, "op", newP, opts...)
	}
}

func making[P any](p P) func(scope) P { return func(scope) P { return p } }

func declaring(declare func(s scope)) func(scope) *idle {
	return func(s scope) *idle { declare(s); return &idle{} }
}

func TestMistakesWithProcessorsAreFoundBeforeTheJobRuns(t *testing.T) {
	retry := flow.OnError(flow.Retry(1, time.Second, flow.Fail()))
	for name, c := range map[string]struct {
		build func(inK, flow.Stream[int]) outS
		want  string // "" for none
	}{
		"a processor without anything else is fine":  {process(making(&idle{})), ""},
		"one that comes as an interface is fine":     {process(making[flow.Processor[string, string, string]](&idle{})), ""},
		"OnTimer of other keys":                      {process(making(&badTimer{})), "*flow_test.badTimer has a method OnTimer with another signature than OnTimer(flow.Ctx[string], string, *flow.Out[string]) error"},
		"the same behind an interface":               {process(making[flow.Processor[string, string, string]](&badTimer{})), "OnTimer"},
		"Open without a context":                     {process(making(&badOpen{})), "Open(context.Context) error"},
		"Close without an error":                     {process(making(&badClose{})), "Close() error"},
		"OnEndOfData of other results":               {process(making(&badEnd{})), "OnEndOfData(*flow.Out[string]) error"},
		"RequiresFinalCheckpoint of another type":    {process(making(&badFinal{})), "RequiresFinalCheckpoint() bool"},
		"OnCheckpointComplete of another type":       {process(making(&badComplete{})), "OnCheckpointComplete(flow.CheckpointID) error"},
		"OnTimer of the pointer to what is returned": {process(making(byValue{})), "OnTimer has a pointer receiver"},
		"no factory":                                  {process[*idle](nil), "the factory is nil"},
		"a factory that panics":                       {process(declaring(func(scope) { panic("no luck") })), "its factory panicked: no luck"},
		"a factory that returns nil":                  {process(making[flow.Processor[string, string, string]](nil)), "its factory returned nil"},
		"two states with one name":                    {process(declaring(func(s scope) { state.ValueOf[int](s, "x"); state.ListOf[int](s, "x") })), `the state "x" is declared twice`},
		"a state without a name":                      {process(declaring(func(s scope) { state.ValueOf[int](s, "") })), "a state (value) has an empty name"},
		"a value that can't be stored":                {process(declaring(func(s scope) { state.ValueOf[locked](s, "x") })), `state "x" can't be stored: type flow_test.locked`},
		"an element that can't be stored":             {process(declaring(func(s scope) { state.ListOf[locked](s, "x") })), `state "x" can't be stored`},
		"a map value that can't be stored":            {process(declaring(func(s scope) { state.MapOf[int, locked](s, "x") })), `state "x" can't be stored`},
		"an element of the task that can't be stored": {process(declaring(func(s scope) { state.OperatorListOf[locked](s, "x") })), `state "x" can't be stored`},
		"a TTL of nothing":                            {process(declaring(func(s scope) { state.ValueOf[int](s, "x", state.TTL(0)) })), `state "x": TTL(0s)`},
		"broadcast state without a broadcast side":    {process(declaring(func(s scope) { state.BroadcastOf[int, int](s, "x") })), `"x" can never be written`},
		"use of state in the factory":                 {process(declaring(func(s scope) { state.ValueOf[int](s, "x").Get() })), `state "x": no key in hand`},
		"Retry with state":                            {process(declaring(func(s scope) { state.ValueOf[int](s, "x") }), retry), "OnError(Retry(...)) on an operator with state"},
		"Retry with timers":                           {process(making(&goodTimer{}), retry), "OnError(Retry(...)) on an operator with timers"},
		"Retry with neither is fine":                  {process(making(&idle{}), retry), ""},
		"AwaitTimers for no time":                     {process(making(&idle{}), flow.ProcessingTimersAtEnd(flow.AwaitTimers(0))), "AwaitTimers(0s)"},
		"Connect with OnTimer of other keys": {func(k inK, b flow.Stream[int]) outS {
			return flow.Connect[string, string, int, string](k, flow.KeyBy(b, func(*int) string { return "" }), "op", making(&badTimer{}))
		}, "OnTimer"},
		"ProcessBroadcast with broadcast state is fine": {func(k inK, b flow.Stream[int]) outS {
			return flow.ProcessBroadcast[string, string, int, string](k, b, "op", declaring(func(s scope) { state.BroadcastOf[int, int](s, "x") }))
		}, ""},
		"a broadcast value that can't be stored": {func(k inK, b flow.Stream[int]) outS {
			return flow.ProcessBroadcast[string, string, int, string](k, b, "op", declaring(func(s scope) { state.BroadcastOf[int, locked](s, "x") }))
		}, `state "x" can't be stored`},
	} {
		t.Run(name, func(t *testing.T) {
			g := flow.New("g")
			texts, numbers := flow.Read(g, "texts", memory.From[string]()), flow.Read(g, "numbers", memory.From[int]())
			s := c.build(flow.KeyBy(texts, func(s *string) string { return *s }), numbers)
			flow.Write(s, "out", new(memory.Collected[string]).Sink())
			flow.Write(numbers, "rest", new(memory.Collected[int]).Sink())
			err := g.Validate()
			switch {
			case c.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"op"`)):
				t.Errorf("%v, want %q of operator op", err, c.want)
			}
		})
	}
}

func TestATransformerHasNoTimers(t *testing.T) {
	g := flow.New("g")
	s := flow.Transform[string, string](flow.Read(g, "texts", memory.From[string]()), "op", func(flow.TaskScope) *goodTimer { return &goodTimer{} })
	flow.Write(s, "out", new(memory.Collected[string]).Sink())
	if err := g.Validate(); err == nil || !strings.Contains(err.Error(), "timers need keys") {
		t.Errorf("%v", err)
	}
}

type closing struct {
	idle
	final func() bool
}

func (c *closing) RequiresFinalCheckpoint() bool                { return c.final() }
func (c *closing) OnCheckpointComplete(flow.CheckpointID) error { return nil }

type completing struct{ idle }

func (*completing) OnCheckpointComplete(flow.CheckpointID) error { return nil }

func TestAFinalCheckpointIsNeededByWhoeverSaysSoOrIsToldOfCheckpoints(t *testing.T) {
	for name, c := range map[string]struct {
		p    flow.Processor[string, string, string]
		want bool
	}{
		"neither":                    {&idle{}, false},
		"told of checkpoints":        {&completing{}, true},
		"told, but says it need not": {&closing{final: func() bool { return false }}, false},
		"told, and says it must":     {&closing{final: func() bool { return true }}, true},
	} {
		g := flow.New("g")
		keyed := flow.KeyBy(flow.Read(g, "texts", memory.From[string]()), func(s *string) string { return *s })
		flow.Write(flow.Process[string, string, string](keyed, "op", making(c.p)), "out", new(memory.Collected[string]).Sink())
		if got := g.Nodes()[1].RequiresFinal; got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
