package flow_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

type payment struct {
	Card  string
	Shop  uint32
	Cents int64
	At    flow.Time
}

type shop struct {
	ID      uint32
	Country [2]byte
}

type countrySale struct {
	Country [2]byte
	Cents   int64
}

// richGraph has every kind of edge, a policy, options and state of both layouts.
func richGraph() *flow.Graph {
	g := flow.New("payments")
	raw := flow.Read(g, "payments", memory.From(payment{}), flow.OnError(flow.Skip(10)), flow.Parallelism(2))
	in := flow.Timestamps(raw, "time", func(p *payment) flow.Time { return p.At }, flow.BoundedDisorder(time.Second))
	shops := flow.Read(g, "shops", memory.From(shop{}))
	sales := flow.LookupJoin(in, shops, "country", flow.Inner, func(p *payment) uint32 { return p.Shop }, func(s *shop) uint32 { return s.ID },
		func(p *payment, s *shop, out *flow.Out[countrySale]) error { return nil })
	checked := flow.TryMap(sales, "check", func(in, out *countrySale) error { return nil }, flow.OnError(flow.Retry(3, time.Second, flow.DeadLetter("odd"))))
	perCountry := flow.Total(flow.KeyBy(checked, func(s *countrySale) [2]byte { return s.Country }), "per country", agg.Sum(func(s *countrySale) int64 { return s.Cents }), flow.MaxParallelism(16))
	flow.Write(perCountry, "countries", (&memory.Collected[flow.KeyValue[[2]byte, int64]]{}).Sink(), flow.Parallelism(1))
	last := flow.Reduce(flow.KeyBy(in, func(p *payment) string { return p.Card }), "last payment", func(acc, in *payment) { *acc = *in })
	sides := flow.Route(last, "big or small", 2, func(*flow.KeyValue[string, payment]) int { return 0 })
	big := flow.Filter(flow.Rebalance(sides[0]), "big", func(*flow.KeyValue[string, payment]) bool { return true }, flow.OffWorker())
	flow.Write(flow.Union("both", big, sides[1]), "log", (&memory.Collected[flow.KeyValue[string, payment]]{}).Sink())
	flow.Write(flow.DeadLetters[countrySale](g, "odd"), "odd ones", (&memory.Collected[flow.Failed[countrySale]]{}).Sink())
	return g
}

func TestExplainShowsAllThatAGraphSays(t *testing.T) {
	g := richGraph()
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/explain.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Explain(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestExplainWorksOnAGraphWithMistakes(t *testing.T) {
	g := flow.New("wrong")
	lost := flow.DeadLetters[int](g, "lost")
	again := flow.MapInto(lost, "again", func(in *flow.Failed[int], out *int) { *out = in.Record })
	flow.TryMap(flow.Union("all", flow.Read[int](g, "in", nil), again), "op", tryInt, flow.OnError(flow.DeadLetter("lost")))
	made := flow.MapInto(again, "", func(*int, *unstorable) {})
	flow.Filter(flow.Broadcast(made), "some", func(*unstorable) bool { return true })
	if g.Validate() == nil {
		t.Error("the graph is fine")
	}
	for _, want := range []string{"2 again, forward", "5 op [dead letters]", "type flow_test.unstorable: field Call"} {
		if text := g.Explain(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
