package flow_test

import (
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
)

func TestSourcesThatWaitInOneDirectionAreFine(t *testing.T) {
	g := flow.New("job")
	a, b, c := ints(g, "a"), ints(g, "b"), ints(g, "c")
	bc := flow.LookupJoin(b, c, "b in c", flow.Inner, itself, itself, pair)
	ab := flow.LookupJoin(a, bc, "a in b", flow.Inner, itself, itself, pair)
	end(flow.LookupJoin(ab, c, "again in c", flow.LeftOuter, itself, itself, pair)) // a table can be looked up twice
	if err := g.Validate(); err != nil {
		t.Error(err)
	}
}

func TestTheEmptyGraphIsAMistake(t *testing.T) {
	if err := flow.New("job").Validate(); err == nil || !strings.Contains(err.Error(), "the graph is empty") {
		t.Errorf("error %v", err)
	}
}

func TestTheZeroStreamPanicsAndSaysWhy(t *testing.T) {
	for name, use := range map[string]func(){
		"map":      func() { flow.MapInto(flow.Stream[int]{}, "op", copyInt) },
		"reduce":   func() { flow.Reduce(flow.KeyBy(flow.Stream[int]{}, itself), "op", copyInt) },
		"read":     func() { flow.Read(nil, "op", memory.From(1)) },
		"no union": func() { flow.Union[int]("op") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "flow: ") || !strings.Contains(text, "op") {
					t.Errorf("panic %q", text)
				}
			}()
			use()
		})
	}
}

// What is added after Validate or Explain looked at the graph is part of it.
func TestDeadLettersAreConnectedWheneverTheyAreAdded(t *testing.T) {
	g := flow.New("job")
	op := flow.TryMap(ints(g, "in"), "op", tryInt, flow.OnError(flow.DeadLetter("lost")))
	if g.Validate() == nil {
		t.Error("dead letters without a reader are no mistake")
	}
	lost := flow.DeadLetters[int](g, "lost")
	_ = g.Explain()
	more := flow.TryMap(op, "more", tryInt, flow.OnError(flow.DeadLetter("lost")))
	flow.Write(lost, "letters", (&memory.Collected[flow.Failed[int]]{}).Sink())
	end(more)
	for range 2 { // the second look connects nothing again
		if err := g.Validate(); err != nil {
			t.Fatal(err)
		}
		if n := len(g.Nodes()[2].Ins); n != 2 {
			t.Errorf("%d operators send dead letters, want 2", n)
		}
	}
}

func TestDeadLettersOfOneNameCanHaveTwoTypes(t *testing.T) {
	g := flow.New("job")
	op := flow.TryMap(ints(g, "in"), "op", func(*int, *string) error { return nil }, flow.OnError(flow.DeadLetter("lost")))
	end(flow.TryMap(op, "more", func(*string, *string) error { return nil }, flow.OnError(flow.DeadLetter("lost"))))
	flow.Write(flow.DeadLetters[int](g, "lost"), "ints", (&memory.Collected[flow.Failed[int]]{}).Sink())
	flow.Write(flow.DeadLetters[string](g, "lost"), "strings", (&memory.Collected[flow.Failed[string]]{}).Sink())
	if err := g.Validate(); err != nil {
		t.Error(err)
	}
}
