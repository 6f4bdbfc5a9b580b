package flow

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
)

// Explain describes the graph for a terminal: the operators in their order,
// how records get from one to the next, which of them run fused in one task,
// what becomes of errors, and what is remembered and how it is laid out. It
// works on a graph with mistakes too.
func (g *Graph) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %q: %d operators\n\n", g.name, len(g.Nodes()))
	w := columns(&b)
	fmt.Fprintln(w, "  #\tOPERATOR\tKIND\tTASKS\tINPUT\tRECORD")
	tasks := taskCounts{}
	for _, n := range g.nodes {
		n.explain(w, tasks)
	}
	w.Flush()
	section(&b, "fused", g.explainFused(tasks))
	section(&b, "errors", g.explainErrors())
	section(&b, "state", g.explainState())
	section(&b, "codecs of what is exchanged", g.explainCodecs())
	return b.String()
}

func columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 4, 2, ' ', 0) }

// section adds lines, whose columns are separated by tabs, under a title.
func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	w := columns(b)
	for _, line := range lines {
		fmt.Fprintln(w, "  "+line)
	}
	w.Flush()
}

func (n *Node) explain(w io.Writer, tasks taskCounts) {
	kind := n.Kind
	switch {
	case n.Source != nil && n.Source.Bounded:
		kind += ", bounded"
	case n.Source != nil:
		kind += ", unbounded"
	case n.OffWorker:
		kind += ", off worker"
	}
	if n.detail != "" {
		kind += " (" + n.detail + ")"
	}
	if len(n.Ins) == 0 {
		fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t-\t-\n", n.Index+1, n.Name, kind, tasks.text(n))
		return
	}
	for i, e := range n.Ins {
		number, name, count := fmt.Sprint(n.Index+1), n.Name, tasks.text(n)
		if i > 0 {
			number, name, kind, count = "", "", "", ""
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s, %d B\n", number, name, kind, count, e.explain(tasks), shortType(e.Record), e.RecordSize)
	}
}

// explain says where an edge comes from, and how.
func (e *Edge) explain(tasks taskCounts) string {
	from := fmt.Sprintf("%d %s", e.From.Index+1, e.From.Name)
	switch second := &e.From.secondDead; {
	case e.FromPort == e.From.DeadPort, second.record != nil && e.FromPort == second.port:
		from += " [dead letters]"
	case e.From.OutPorts > 1:
		from += fmt.Sprintf(" [output %d]", e.FromPort)
	}
	switch {
	case tasks.fused(e):
		return from + ", fused"
	case e.Combines:
		return from + ", " + e.Part.String() + " (aggregated before it is sent)"
	}
	return from + ", " + e.Part.String()
}

// taskCounts has the number of tasks of operators as far as the graph alone
// says; 0 means one for each worker.
type taskCounts map[*Node]int

func (t taskCounts) of(n *Node) int {
	if count, known := t[n]; known {
		return count
	}
	t[n] = 0 // a graph with mistakes may have cycles
	count := n.Parallelism
	if count == 0 && n.Source == nil && !n.Keyed && len(n.Ins) > 0 {
		count = t.ofInputs(n)
	}
	t[n] = count
	return count
}

// ofInputs is the most that feed n directly.
func (t taskCounts) ofInputs(n *Node) (most int) {
	for _, e := range n.Ins {
		count := 0
		if e.Part == Forward {
			count = t.of(e.From)
		} else if e.ToPort != 0 {
			continue
		}
		if count == 0 {
			return 0
		}
		most = max(most, count)
	}
	return most
}

func (t taskCounts) text(n *Node) string {
	if count := t.of(n); count > 0 {
		return fmt.Sprint(count)
	}
	return "workers"
}

// fused says whether the consumer of e runs in the task of its producer.
func (t taskCounts) fused(e *Edge) bool {
	n := e.To
	if n.MustHead || n.NoChain || n.OffWorker || e.From.OffWorker && e.From.Source == nil || len(n.Ins) != 1 {
		return false
	}
	count := t.of(n)
	return count == t.of(e.From) && (e.Part == Forward || count == 1)
}

// explainFused lists the operators that run in one task with others.
func (g *Graph) explainFused(tasks taskCounts) (lines []string) {
	chainOf := map[*Node]int{}
	for _, n := range g.nodes {
		if len(n.Ins) == 1 && tasks.fused(n.Ins[0]) {
			from := n.Ins[0].From
			i, ok := chainOf[from]
			if !ok {
				i = len(lines)
				chainOf[from] = i
				lines = append(lines, from.Name)
			}
			chainOf[n] = i
			lines[i] += " > " + n.Name
		}
	}
	return lines
}

func (g *Graph) explainErrors() (lines []string) {
	for _, n := range g.nodes {
		if n.policy.kind != policyFail {
			lines = append(lines, n.Name+"\t"+n.policy.String())
		}
	}
	return lines
}

func (g *Graph) explainState() (lines []string) {
	for _, n := range g.nodes {
		for _, s := range n.States {
			line := fmt.Sprintf("%s / %s\t%s\t", n.Name, s.Name, s.Kind)
			if s.Key != "" {
				line += "key " + shortType(s.Key)
			}
			line += "\t" + shortType(s.Value) + "\t" + s.Layout
			if n.MaxParallelism > 0 && n.Keyed {
				line += fmt.Sprintf(", in %d key groups", n.MaxParallelism)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func (g *Graph) explainCodecs() (lines []string) {
	for _, n := range g.nodes {
		for _, e := range n.Outs {
			if e.Part == Forward {
				continue
			}
			id, err := e.codecID()
			if err != nil {
				id = err.Error()
			}
			lines = append(lines, fmt.Sprintf("%s -> %s\t%s", n.Name, e.To.Name, id))
		}
	}
	return lines
}

// shortType is the name of a type without the import paths that reflection
// gives to type arguments.
func shortType(name string) string {
	return regexp.MustCompile(`[\w.~-]+(/[\w.~-]+)*/`).ReplaceAllString(name, "")
}

// String says what the policy does.
func (p policy) String() string {
	switch p.kind {
	case policySkip:
		if p.max < 0 {
			return "skips bad records"
		}
		return fmt.Sprintf("skips up to %d bad records", p.max)
	case policyDeadLetter:
		return fmt.Sprintf("sends bad records to the dead letters %q", p.name)
	case policyRetry:
		return fmt.Sprintf("tries %d more times, first after %v; then %v", p.retries, p.backoff, *p.then)
	}
	return "fails"
}
