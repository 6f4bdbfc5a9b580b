package flow

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Explain describes the graph for a terminal: the operators in their order,
// which of them run fused, how records get from one to the next, and what is
// remembered and how it is laid out. It works on a graph with mistakes too.
func (g *Graph) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %q: %d operators\n\n", g.name, len(g.Nodes()))
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  #\tOPERATOR\tKIND\tPARALLELISM\tINPUT\tRECORD")
	for _, n := range g.nodes {
		g.explainNode(w, n)
	}
	w.Flush()
	g.explainState(&b)
	g.explainCodecs(&b)
	return b.String()
}

func (g *Graph) explainNode(w *tabwriter.Writer, n *Node) {
	kind := n.Kind
	switch {
	case n.Source != nil && n.Source.Bounded:
		kind += ", bounded"
	case n.Source != nil:
		kind += ", unbounded"
	case n.OffWorker:
		kind += ", off worker"
	}
	if n.policy.kind != policyFail {
		kind += ", " + n.policy.String()
	}
	if len(n.Ins) == 0 {
		fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t-\t-\n", n.Index+1, n.Name, kind, n.tasks())
		return
	}
	for i, e := range n.Ins {
		number, name, tasks := fmt.Sprint(n.Index+1), n.Name, n.tasks()
		if i > 0 {
			number, name, kind, tasks = "", "", "", ""
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s, %d B\n", number, name, kind, tasks, e.explain(), e.Record, e.RecordSize)
	}
}

func (n *Node) tasks() string {
	tasks := "default"
	if n.Parallelism > 0 {
		tasks = fmt.Sprint(n.Parallelism)
	}
	if n.MaxParallelism > 0 {
		tasks += fmt.Sprintf(" of at most %d", n.MaxParallelism)
	}
	return tasks
}

// explain says where an edge comes from, and how.
func (e *Edge) explain() string {
	from := fmt.Sprintf("%d %s", e.From.Index+1, e.From.Name)
	if e.FromPort > 0 {
		from += fmt.Sprintf(" [output %d]", e.FromPort)
	}
	switch {
	case e.fused():
		return from + ", fused"
	case e.Combines:
		return from + ", " + e.Part.String() + " (aggregated before it is sent)"
	}
	return from + ", " + e.Part.String()
}

// fused says whether the consumer runs in the producer's task when both have
// the default parallelism.
func (e *Edge) fused() bool {
	n := e.To
	return e.Part == Forward && !n.MustHead && !n.NoChain && !n.OffWorker && !e.From.OffWorker &&
		len(n.Ins) == 1 && (n.Parallelism == 0 || n.Parallelism == e.From.Parallelism)
}

func (g *Graph) explainState(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 4, 2, ' ', 0)
	for _, n := range g.nodes {
		for _, s := range n.States {
			if w != nil && b.Len() > 0 && !strings.Contains(b.String(), "\nstate\n") {
				fmt.Fprint(b, "\nstate\n")
			}
			fmt.Fprintf(w, "  %s / %s\t%s\tkey %s\t%s\t%s\n", n.Name, s.Name, s.Kind, s.Key, s.Value, s.Layout)
		}
	}
	w.Flush()
}

func (g *Graph) explainCodecs(b *strings.Builder) {
	var lines []string
	for _, n := range g.nodes {
		for _, e := range n.Outs {
			if e.Part == Forward {
				continue
			}
			id, err := e.codecID()
			if err != nil {
				id = err.Error()
			}
			lines = append(lines, fmt.Sprintf("  %s -> %s: %s\n", n.Name, e.To.Name, id))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\ncodecs of what is exchanged\n%s", strings.Join(lines, ""))
	}
}

// String says what the policy does, as it was written.
func (p policy) String() string {
	switch p.kind {
	case policySkip:
		return fmt.Sprintf("skips up to %d", p.max)
	case policyDeadLetter:
		return fmt.Sprintf("dead letters %q", p.name)
	case policyRetry:
		return fmt.Sprintf("retries %d times, then %v", p.retries, *p.then)
	}
	return "fails"
}
