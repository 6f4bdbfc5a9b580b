package exec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

func TestPlans(t *testing.T) {
	inc := func(in, out *int) { *out = *in + 1 }
	key := func(n *int) int { return *n % 10 }
	var sink memory.Collected[int]
	var counts memory.Collected[flow.KeyValue[int, int64]]
	cases := map[string]struct {
		build func(g *flow.Graph, in flow.Stream[int])
		want  string // chains with their parallelism; then edges
	}{
		"a forward chain is one task": {func(g *flow.Graph, in flow.Stream[int]) {
			flow.Write(flow.MapInto(flow.MapInto(in, "a", inc), "b", inc), "out", sink.Sink())
		}, "in > a > b x2; out x2 off | b -forward-> out"},
		"NoChain begins a task": {func(g *flow.Graph, in flow.Stream[int]) {
			flow.Write(flow.MapInto(flow.MapInto(in, "a", inc), "b", inc, flow.NoChain()), "out", sink.Sink())
		}, "in > a x2; b x2; out x2 off | a -forward-> b, b -forward-> out"},
		"OffWorker begins a task and ends one": {func(g *flow.Graph, in flow.Stream[int]) {
			flow.Write(flow.MapInto(flow.MapInto(in, "a", inc, flow.OffWorker()), "b", inc), "out", sink.Sink())
		}, "in x2; a x2 off; b x2; out x2 off | in -forward-> a, a -forward-> b, b -forward-> out"},
		"another parallelism is spread": {func(g *flow.Graph, in flow.Stream[int]) {
			flow.Write(flow.MapInto(in, "a", inc, flow.Parallelism(3)), "out", sink.Sink())
		}, "in x2; a x3; out x3 off | in -rebalance-> a, a -forward-> out"},
		"a keyed operator exchanges": {func(g *flow.Graph, in flow.Stream[int]) {
			flow.Write(flow.Total(flow.KeyBy(in, key), "count", agg.Count[int]()), "out", counts.Sink())
		}, "in x2; count x2; out x2 off | in -key-> count, count -forward-> out"},
		"a single task exchanges nothing": {func(g *flow.Graph, in flow.Stream[int]) {
			one := flow.MapInto(in, "one", inc, flow.Parallelism(1))
			flow.Write(flow.Total(flow.KeyBy(one, key), "count", agg.Count[int](), flow.Parallelism(1)), "out", counts.Sink())
		}, "in x2; one > count x1; out x1 off | in -rebalance-> one, count -forward-> out"},
		"two readers of one stream are both fused": {func(g *flow.Graph, in flow.Stream[int]) {
			flow.Write(flow.MapInto(in, "a", inc), "out a", sink.Sink())
			flow.Write(flow.MapInto(in, "b", inc), "out b", sink.Sink())
		}, "in > a > b x2; out a x2 off; out b x2 off | a -forward-> out a, b -forward-> out b"},
		"a union begins a task": {func(g *flow.Graph, in flow.Stream[int]) {
			flow.Write(flow.Union("u", flow.MapInto(in, "a", inc), flow.MapInto(in, "b", inc)), "out", sink.Sink())
		}, "in > a > b x2; u x2; out x2 off | a -forward-> u, b -forward-> u, u -forward-> out"},
		"a broadcast goes to all": {func(g *flow.Graph, in flow.Stream[int]) {
			flow.Write(flow.MapInto(flow.Broadcast(in), "a", inc), "out", sink.Sink())
		}, "in x2; a x2; out x2 off | in -broadcast-> a, a -forward-> out"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := flow.New("g")
			c.build(g, flow.Read(g, "in", memory.From(1, 2, 3)))
			if err := g.Validate(); err != nil {
				t.Fatal(err)
			}
			p, err := newPlan(g, 2)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(p); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// Explain knows nothing of workers, but what it says is fused must be.
func TestExplainSaysWhatIsFused(t *testing.T) {
	inc := func(in, out *int) { *out = *in + 1 }
	var sink memory.Collected[int]
	g := flow.New("g")
	in := flow.Read(g, "in", memory.From(1, 2, 3))
	one := flow.MapInto(flow.MapInto(in, "a", inc), "b", inc, flow.Parallelism(1))
	sum := flow.Total(flow.KeyBy(flow.MapInto(one, "c", inc), flow.NoKey), "sum", agg.Count[int]())
	type total = flow.KeyValue[struct{}, int64]
	n := flow.Filter(flow.MapInto(sum, "d", func(*total, *int) {}), "e", func(*int) bool { return true }, flow.NoChain())
	flow.Write(n, "out", sink.Sink(), flow.Parallelism(3))
	other := flow.MapInto(in, "f", inc, flow.OffWorker())
	flow.Write(flow.Union("u", flow.MapInto(other, "g", inc), flow.MapInto(in, "h", inc)), "out 2", sink.Sink())
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := newPlan(g, 7)
	if err != nil {
		t.Fatal(err)
	}
	want := "\nfused\n"
	for _, c := range p.chains {
		if len(c.nodes) > 1 {
			want += "  " + c.label() + "\n"
		}
	}
	if text := g.Explain(); !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant%s", text, want)
	}
}

func show(p *plan) string {
	var chains, edges []string
	for _, c := range p.chains {
		s := fmt.Sprintf("%s x%d", c.label(), c.parallelism)
		if c.offWorker {
			s += " off"
		}
		chains = append(chains, s)
	}
	for _, e := range p.edges {
		edges = append(edges, fmt.Sprintf("%s -%v-> %s", e.From.Name, e.part, e.To.Name))
	}
	return strings.Join(chains, "; ") + " | " + strings.Join(edges, ", ")
}
