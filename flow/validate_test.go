package flow_test

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

// unstorable has no codec.
type unstorable struct{ Call func() }

type unboundedInts struct{ flow.Source[int] }

func (unboundedInts) Bounded() bool { return false }

// ints starts a stream for a case of a table.
func ints(g *flow.Graph, name string) flow.Stream[int] {
	return flow.Read(g, name, memory.From(1, 2, 3))
}

// end writes what is left of a graph, so that only the mistake of the case is
// reported.
func end[T any](s flow.Stream[T]) { flow.Write(s, "end", (&memory.Collected[T]{}).Sink()) }

func copyInt(in, out *int)      { *out = *in }
func tryInt(in, out *int) error { *out = *in; return nil }
func keep(*int) bool            { return true }
func itself(n *int) int         { return *n }
func pair(_, _ *int, _ *flow.Out[int]) error {
	return nil
}

// mistake is a graph and what Validate must say of it: one text for each
// mistake, no more and no less.
type mistake struct {
	build func(g *flow.Graph)
	want  []string
}

func TestEveryMistakeIsReportedWithTheLineThatMadeIt(t *testing.T) {
	for _, group := range []map[string]mistake{nameMistakes, shapeMistakes, optionMistakes, nilMistakes, policyMistakes, letterMistakes, typeMistakes, joinMistakes} {
		for name, c := range group {
			t.Run(name, func(t *testing.T) {
				g := flow.New("job")
				c.build(g)
				checkMistakes(t, g.Validate(), c.want)
			})
		}
	}
}

var reported = regexp.MustCompile(`(?m)^(?:graph "job": )?(\S+?):(\d+): (.*)$`)

// checkMistakes compares the lines of err with want, and looks each reported
// line of source up: it must name the operator.
func checkMistakes(t *testing.T, err error, want []string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	found := reported.FindAllStringSubmatch(err.Error(), -1)
	if len(found) != len(want) {
		t.Errorf("%d mistakes, want %d:\n%v", len(found), len(want), err)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error\n%v\ndoes not say %q", err, w)
		}
	}
	for _, f := range found {
		source, err := os.ReadFile(f[1])
		if err != nil {
			t.Fatal(err)
		}
		line, _ := strconv.Atoi(f[2])
		name := operatorIn(f[3])
		if text := strings.Split(string(source), "\n")[line-1]; !strings.Contains(text, name) {
			t.Errorf("%s:%d is said to add %s, but is %q", f[1], line, name, text)
		}
	}
}

var quoted = regexp.MustCompile(`^[a-z ]+ ("(?:[^"\\]|\\.)*"):`)

// operatorIn is the operator that a message begins with, as a program has it.
func operatorIn(message string) string {
	m := quoted.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	return strings.Replace(strings.Split(m[1], " of ")[0], "dead letters ", "", 1)
}

var nameMistakes = map[string]mistake{
	"an empty name": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "", copyInt))
	}, []string{`map "": the name is empty`}},
	"a blank name": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "  ", copyInt))
	}, []string{"the name is empty"}},
	"a name twice, and once more": {func(g *flow.Graph) {
		a := flow.MapInto(ints(g, "in"), "twice", copyInt)
		b := flow.Filter(a, "twice", keep)
		end(flow.TryMap(b, "twice", tryInt))
	}, []string{`filter "twice": the name is already that of the map added at`, `try map "twice": the name is already that of the map added at`}},
	"a control character in a name": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "a\tb", copyInt))
	}, []string{"control characters"}},
	"an escape sequence of eight bits in a name": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "a\u009bb", copyInt))
	}, []string{"control characters"}},
	"a name that is not UTF-8": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "a\xffb", copyInt))
	}, []string{"UTF-8"}},
}

var shapeMistakes = map[string]mistake{
	"an operator that nothing reads": {func(g *flow.Graph) {
		flow.MapInto(ints(g, "in"), "lost", copyInt)
	}, []string{`map "lost": nothing reads its output`}},
	"a source that nothing reads": {func(g *flow.Graph) { flow.Read(g, "lost", memory.From(1)) }, []string{`read "lost": nothing reads its output`}},
	"an output of a route that nothing reads": {func(g *flow.Graph) {
		outs := flow.Route(ints(g, "in"), "by size", 3, itself)
		end(flow.Union("both", outs[0], outs[2]))
	}, []string{`route "by size": nothing reads its output 1`}},
	"a route with no outputs": {func(g *flow.Graph) {
		end(flow.Route(ints(g, "in"), "none", 0, itself)[0])
	}, []string{"Route into 0 outputs"}},
	"a union of two graphs": {func(g *flow.Graph) {
		end(flow.Union("both", ints(g, "in"), ints(flow.New("other"), "in")))
	}, []string{`union "both": stream 1 belongs to another graph`}},
	"a union with the zero Stream": {func(g *flow.Graph) {
		end(flow.Union("both", ints(g, "in"), flow.Stream[int]{}))
	}, []string{"stream 1 belongs to another graph"}},
	"a lookup in another graph": {func(g *flow.Graph) {
		end(flow.LookupJoin(ints(g, "in"), ints(flow.New("other"), "in"), "join", flow.Inner, itself, itself, pair))
	}, []string{`lookup join "join": the build side belongs to another graph`}},
	"timestamps after a map": {func(g *flow.Graph) {
		s := flow.MapInto(ints(g, "in"), "map", copyInt)
		end(flow.Timestamps(s, "times", timeOf, flow.Ascending()))
	}, []string{`timestamps "times": Timestamps must stand straight after Read, where splits can still be told apart; its input is the map "map"`}},
	"timestamps after a rebalance": {func(g *flow.Graph) {
		end(flow.Timestamps(flow.Rebalance(ints(g, "in")), "times", timeOf, flow.Ascending()))
	}, []string{"Timestamps must stand straight after Read"}},
	"a key after a rebalance": {func(g *flow.Graph) {
		end(flow.Total(flow.KeyBy(flow.Rebalance(ints(g, "in")), itself), "count", agg.Count[int]()))
	}, []string{`total "count": KeyBy after rebalance`}},
	"a key after a broadcast": {func(g *flow.Graph) {
		end(flow.Reduce(flow.KeyBy(flow.Broadcast(ints(g, "in")), itself), "sum", copyInt))
	}, []string{`reduce "sum": KeyBy after broadcast`}},
}

func timeOf(*int) flow.Time { return 0 }

var optionMistakes = map[string]mistake{
	"no parallelism": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "map", copyInt, flow.Parallelism(0)))
	}, []string{"Parallelism(0): must be at least 1"}},
	"a negative parallelism": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "map", copyInt, flow.Parallelism(-2)))
	}, []string{"Parallelism(-2)"}},
	"more tasks than key groups": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "map", copyInt, flow.Parallelism(129)))
	}, []string{"parallelism 129 is above the maximum parallelism 128"}},
	"more tasks than its own key groups": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "map", copyInt, flow.Parallelism(5), flow.MaxParallelism(4)))
	}, []string{"parallelism 5 is above the maximum parallelism 4"}},
	"key groups that are not a power of two": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "map", copyInt, flow.MaxParallelism(100)))
	}, []string{"MaxParallelism(100): must be a power of two, at most 32768"}},
	"no key groups": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "map", copyInt, flow.MaxParallelism(0)))
	}, []string{"MaxParallelism(0)"}},
	"too many key groups": {func(g *flow.Graph) {
		end(flow.MapInto(ints(g, "in"), "map", copyInt, flow.MaxParallelism(65536)))
	}, []string{"MaxParallelism(65536)"}},
	"no calls at a time": {func(g *flow.Graph) {
		end(flow.AsyncMap(ints(g, "in"), "ask", 0, ask))
	}, []string{`async map "ask": concurrency 0`}},
	"a time limit of nothing": {func(g *flow.Graph) {
		end(flow.AsyncMap(ints(g, "in"), "ask", 1, ask, flow.Timeout(0)))
	}, []string{"Timeout(0s): must be positive"}},
	"a negative disorder and idleness": {func(g *flow.Graph) {
		end(flow.Timestamps(ints(g, "in"), "times", timeOf, flow.BoundedDisorder(-time.Second).Idle(-1)))
	}, []string{"BoundedDisorder(-1s): must not be negative", "Idle(-1ns): must not be negative"}},
	"several at once": {func(g *flow.Graph) {
		s := flow.MapInto[int, int](ints(g, "in"), "one", nil, flow.Parallelism(0), flow.MaxParallelism(3))
		flow.Filter(s, "one", keep)
	}, []string{`map "one": the function is nil`, "Parallelism(0)", "MaxParallelism(3)", "the name is already that of", "nothing reads its output"}},
}

func ask(_ context.Context, _, _ *int) error { return nil }

var nilMistakes = map[string]mistake{
	"a nil source": {func(g *flow.Graph) { end(flow.Read[int](g, "in", nil)) }, []string{`read "in": the source is nil`}},
	"a nil source with timestamps": {func(g *flow.Graph) {
		end(flow.Timestamps(flow.Read[int](g, "in", nil), "times", timeOf, flow.Ascending()))
	}, []string{`read "in": the source is nil`}},
	"a nil sink":   {func(g *flow.Graph) { flow.Write(ints(g, "in"), "out", nil) }, []string{`write "out": the sink is nil`}},
	"Map":          {func(g *flow.Graph) { end(flow.Map[int, int](ints(g, "in"), "op", nil)) }, []string{`map "op": the function is nil`}},
	"MapInto":      {func(g *flow.Graph) { end(flow.MapInto[int, int](ints(g, "in"), "op", nil)) }, []string{`map "op": the function is nil`}},
	"TryMap":       {func(g *flow.Graph) { end(flow.TryMap[int, int](ints(g, "in"), "op", nil)) }, []string{`try map "op": the function is nil`}},
	"Filter":       {func(g *flow.Graph) { end(flow.Filter(ints(g, "in"), "op", nil)) }, []string{`filter "op": the function is nil`}},
	"FlatMap":      {func(g *flow.Graph) { end(flow.FlatMap[int, int](ints(g, "in"), "op", nil)) }, []string{`flat map "op": the function is nil`}},
	"MapBatch":     {func(g *flow.Graph) { end(flow.MapBatch[int, int](ints(g, "in"), "op", nil)) }, []string{`map batch "op": the function is nil`}},
	"FlatMapBatch": {func(g *flow.Graph) { end(flow.FlatMapBatch[int, int](ints(g, "in"), "op", nil)) }, []string{`flat map batch "op": the function is nil`}},
	"AsyncMap":     {func(g *flow.Graph) { end(flow.AsyncMap[int, int](ints(g, "in"), "op", 1, nil)) }, []string{`async map "op": the function is nil`}},
	"Route":        {func(g *flow.Graph) { end(flow.Route(ints(g, "in"), "op", 1, nil)[0]) }, []string{`route "op": the function is nil`}},
	"Timestamps":   {func(g *flow.Graph) { end(flow.Timestamps(ints(g, "in"), "op", nil, flow.Ascending())) }, []string{`timestamps "op": the function is nil`}},
	"KeyBy":        {func(g *flow.Graph) { end(flow.Reduce(flow.KeyBy[int](ints(g, "in"), nil), "op", copyInt)) }, []string{`reduce "op": the key function of KeyBy is nil`}},
	"Reduce":       {func(g *flow.Graph) { end(flow.Reduce(flow.KeyBy(ints(g, "in"), itself), "op", nil)) }, []string{`reduce "op": the function is nil`}},
	"the Aggregator": {func(g *flow.Graph) {
		end(flow.Total(flow.KeyBy(ints(g, "in"), itself), "op", flow.Aggregator[int, int, int]{}))
	}, []string{"the Add function of the Aggregator is nil", "the Result function of the Aggregator is nil"}},
	"LookupJoin": {func(g *flow.Graph) {
		end(flow.LookupJoin[int, int, int, int](ints(g, "in"), ints(g, "b"), "op", flow.Inner, nil, nil, nil))
	}, []string{"the key function is nil", "the key function of the build side is nil", "the join function is nil"}},
}

var policyMistakes = map[string]mistake{
	"a retry that does not try": {func(g *flow.Graph) {
		end(flow.TryMap(ints(g, "in"), "op", tryInt, flow.OnError(flow.Retry(0, -time.Second, flow.Fail()))))
	}, []string{"Retry(0, ...): at least one try is needed"}},
	"a retry after a retry with a negative wait": {func(g *flow.Graph) {
		end(flow.TryMap(ints(g, "in"), "op", tryInt, flow.OnError(flow.Retry(1, 0, flow.Retry(1, -time.Second, flow.Skip(1))))))
	}, []string{"the wait must not be negative"}},
	"a retry of what can't be decoded": {func(g *flow.Graph) {
		end(flow.Read(g, "in", memory.From(1), flow.OnError(flow.Retry(1, 0, flow.Fail()))))
	}, []string{"a record that can't be decoded stays so"}},
	"a policy for a write": {func(g *flow.Graph) {
		flow.Write(ints(g, "in"), "out", (&memory.Collected[int]{}).Sink(), flow.OnError(flow.Skip(1)))
	}, []string{`write "out": OnError: a write fails as a whole`}},
	"dead letters of a write": {func(g *flow.Graph) {
		flow.Write(ints(g, "in"), "out", (&memory.Collected[int]{}).Sink(), flow.OnError(flow.DeadLetter("lost")))
	}, []string{`write "out": OnError: a write fails as a whole`}},
	"a policy where nothing fails": {func(g *flow.Graph) {
		a := flow.MapInto(ints(g, "in"), "map", copyInt, flow.OnError(flow.Skip(1)))
		b := flow.Filter(a, "filter", keep, flow.OnError(flow.DeadLetter("lost")))
		c := flow.Route(b, "route", 1, func(*int) int { return 0 }, flow.OnError(flow.Retry(1, 0, flow.Fail())))[0]
		d := flow.Reduce(flow.KeyBy(c, itself), "reduce", copyInt, flow.OnError(flow.Skip(1)))
		end(flow.Total(flow.KeyBy(d, func(*flow.KeyValue[int, int]) int { return 1 }), "total", agg.Count[flow.KeyValue[int, int]](), flow.OnError(flow.Skip(-1))))
	}, []string{
		`map "map": OnError: this kind of operator has no function that can fail`, `filter "filter": OnError: this`,
		`route "route": OnError: this`, `reduce "reduce": OnError: this`, `total "total": OnError: this`,
	}},
}

var letterMistakes = map[string]mistake{
	"dead letters without a name": {func(g *flow.Graph) {
		end(flow.TryMap(ints(g, "in"), "op", tryInt, flow.OnError(flow.DeadLetter(""))))
	}, []string{`DeadLetter(""): a name is needed`}},
	"dead letters that nobody reads": {func(g *flow.Graph) {
		end(flow.TryMap(ints(g, "in"), "op", tryInt, flow.OnError(flow.Retry(1, 0, flow.DeadLetter("lost")))))
	}, []string{`OnError(DeadLetter("lost")): nothing reads these; add flow.DeadLetters[int](g, "lost")`}},
	"dead letters read as another type": {func(g *flow.Graph) {
		end(flow.TryMap(ints(g, "in"), "op", tryInt, flow.OnError(flow.DeadLetter("lost"))))
		flow.Write(flow.DeadLetters[string](g, "lost"), "lost letters", (&memory.Collected[flow.Failed[string]]{}).Sink())
	}, []string{
		`try map "op": OnError(DeadLetter("lost")): its records are int, but DeadLetters(g, "lost") reads string`,
		`dead letters "dead letters lost": no operator sends records of type string to the dead letters "lost"`,
	}},
	"dead letters that nobody sends": {func(g *flow.Graph) {
		end(flow.DeadLetters[int](g, "lost"))
	}, []string{`no operator sends records of type int to the dead letters "lost"`}},
	"dead letters read twice": {func(g *flow.Graph) {
		end(flow.TryMap(ints(g, "in"), "op", tryInt, flow.OnError(flow.DeadLetter("lost"))))
		flow.Write(flow.DeadLetters[int](g, "lost"), "one", (&memory.Collected[flow.Failed[int]]{}).Sink())
		flow.Write(flow.DeadLetters[int](g, "lost"), "two", (&memory.Collected[flow.Failed[int]]{}).Sink())
	}, []string{`the name is already that of the dead letters added at`}},
	"a cycle through dead letters": {func(g *flow.Graph) {
		lost := flow.DeadLetters[int](g, "lost")
		again := flow.MapInto(lost, "again", func(in *flow.Failed[int], out *int) { *out = in.Record })
		end(flow.TryMap(flow.Union("all", ints(g, "in"), again), "op", tryInt, flow.OnError(flow.DeadLetter("lost"))))
	}, []string{`the graph has a cycle: "dead letters lost" -> "again" -> "all" -> "op" -> "dead letters lost"`}},
}

var typeMistakes = map[string]mistake{
	"a record without a codec that is exchanged": {func(g *flow.Graph) {
		s := flow.MapInto(ints(g, "in"), "make", func(*int, *unstorable) {})
		end(flow.Filter(flow.Rebalance(s), "op", func(*unstorable) bool { return true }))
	}, []string{`filter "op": its input records can't be stored in a checkpoint`}},
	"a record without a codec that is broadcast": {func(g *flow.Graph) {
		s := flow.MapInto(ints(g, "in"), "make", func(*int, *unstorable) {})
		end(flow.Filter(flow.Broadcast(s), "op", func(*unstorable) bool { return true }))
	}, []string{`filter "op": its input records can't be stored in a checkpoint`}},
	"state without a codec": {func(g *flow.Graph) {
		a := flow.Aggregator[int, unstorable, int]{Add: func(*unstorable, *int) {}, Result: func(*unstorable) int { return 0 }}
		end(flow.Total(flow.KeyBy(ints(g, "in"), itself), "op", a))
	}, []string{`total "op": its state can't be stored`}},
	"records of a Reduce without a codec": {func(g *flow.Graph) {
		s := flow.MapInto(ints(g, "in"), "make", func(*int, *unstorable) {})
		end(flow.Reduce(flow.KeyBy(s, func(*unstorable) int { return 1 }), "op", func(_, _ *unstorable) {}))
	}, []string{`its state can't be stored`, `its input records can't be stored`}},
	"a key that is an interface": {func(g *flow.Graph) {
		end(flow.Reduce(flow.KeyBy(ints(g, "in"), func(*int) any { return 1 }), "op", copyInt))
	}, []string{`reduce "op": the key type can't be a key`, "its keys can't be stored"}},
	"a key that is a pointer": {func(g *flow.Graph) {
		end(flow.Reduce(flow.KeyBy(ints(g, "in"), func(n *int) *int { return n }), "op", copyInt))
	}, []string{`reduce "op": the key type can't be a key`}},
	"a codec registered twice": {func(g *flow.Graph) {
		flow.RegisterCodec[unstorable](g, noCodec{})
		flow.RegisterCodec[unstorable](g, noCodec{})
		end(ints(g, "in"))
	}, []string{"RegisterCodec[flow_test.unstorable]: the type has a codec already"}},
	"a nil codec": {func(g *flow.Graph) {
		flow.RegisterCodec[unstorable](g, nil)
		end(ints(g, "in"))
	}, []string{"the codec is nil"}},
}

type noCodec struct{}

func (noCodec) ID() string                                       { return "none" }
func (noCodec) Append(dst []byte, _ *unstorable) ([]byte, error) { return dst, nil }
func (noCodec) Decode([]byte, *unstorable) (int, error)          { return 0, nil }

var joinMistakes = map[string]mistake{
	"a full outer lookup": {func(g *flow.Graph) {
		end(flow.LookupJoin(ints(g, "in"), ints(g, "b"), "join", flow.FullOuter, itself, itself, pair))
	}, []string{`lookup join "join": a LookupJoin can be Inner or LeftOuter`}},
	"a build side without an end": {func(g *flow.Graph) {
		b := flow.Read[int](g, "b", unboundedInts{memory.From(1)})
		end(flow.LookupJoin(ints(g, "in"), flow.Union("more", b, ints(g, "c")), "join", flow.Inner, itself, itself, pair))
	}, []string{`lookup join "join": the build side must be bounded, but "b" is not`}},
	"a source that feeds both sides": {func(g *flow.Graph) {
		in := ints(g, "in")
		end(flow.LookupJoin(in, flow.Filter(in, "some", keep), "join", flow.Inner, itself, itself, pair))
	}, []string{`the source "in" feeds both sides: it would be held up by itself`}},
	"two sources that wait for each other": {func(g *flow.Graph) {
		a, b := ints(g, "a"), ints(g, "b")
		ab := flow.LookupJoin(a, b, "a in b", flow.Inner, itself, itself, pair)
		end(flow.Union("all", ab, flow.LookupJoin(b, a, "b in a", flow.Inner, itself, itself, pair)))
	}, []string{`lookup join "b in a": the source "b" waits here for the end of "a", which waits for it at the lookup join "a in b"`}},
	"three sources that wait in a ring": {func(g *flow.Graph) {
		a, b, c := ints(g, "a"), ints(g, "b"), ints(g, "c")
		ab := flow.LookupJoin(a, b, "a in b", flow.Inner, itself, itself, pair)
		bc := flow.LookupJoin(b, c, "b in c", flow.Inner, itself, itself, pair)
		end(flow.Union("all", ab, bc, flow.LookupJoin(c, a, "c in a", flow.Inner, itself, itself, pair)))
	}, []string{`lookup join "c in a": the source "c" waits here for the end of "a"`}},
}
