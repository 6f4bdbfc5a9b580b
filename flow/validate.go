package flow

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Validate reports every mistake in the graph at once, each with the
// operator's name and the file:line where it was added. It returns nil for a
// graph that can run.
func (g *Graph) Validate() error {
	g.link()
	var found []error
	report := func(n *Node, format string, args ...any) {
		found = append(found, fmt.Errorf("%s: %s %q: %s", n.Where, n.Kind, n.Name, fmt.Sprintf(format, args...)))
	}
	if len(g.nodes) == 0 {
		found = append(found, errors.New("the graph is empty: begin with flow.Read"))
	}
	for _, mistake := range g.late {
		found = append(found, errors.New(mistake))
	}
	g.checkNames(report)
	for _, n := range g.nodes {
		for _, p := range n.problem {
			report(n, "%s", p)
		}
		for _, check := range n.checks {
			if err := check(); err != nil {
				report(n, "%v", err)
			}
		}
		g.checkNode(n, report)
	}
	g.checkLetters(report)
	g.checkCycles(report)
	g.checkBuildSides(report)
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("graph %q: %w", g.name, errors.Join(found...))
}

type reporter func(n *Node, format string, args ...any)

func (g *Graph) checkNames(report reporter) {
	first := map[string]*Node{}
	for _, n := range g.nodes {
		switch before := first[n.Name]; {
		case strings.TrimSpace(n.Name) == "":
			report(n, "the name is empty: it is the operator's identity in checkpoints")
		case !utf8.ValidString(n.Name):
			report(n, "the name is not valid UTF-8")
		case strings.ContainsFunc(n.Name, unicode.IsControl):
			report(n, "the name has control characters")
		case before != nil:
			report(n, "the name is already that of the %s added at %s", before.Kind, before.Where)
		default:
			first[n.Name] = n
		}
	}
}

func (g *Graph) checkNode(n *Node, report reporter) {
	most := n.MaxParallelism
	if most == 0 {
		most = DefaultMaxParallelism
	}
	if n.Parallelism > most {
		report(n, "parallelism %d is above the maximum parallelism %d; raise it with MaxParallelism", n.Parallelism, most)
	}
	used := make([]bool, n.OutPorts)
	for _, e := range n.Outs {
		if e.FromPort < n.OutPorts {
			used[e.FromPort] = true
		}
		if e.Part != Forward {
			if _, err := e.codecID(); err != nil {
				report(e.To, "its input records can't be stored in a checkpoint: %v", err)
			}
		}
	}
	for port, ok := range used {
		switch {
		case ok, n.secondDead.record != nil && port == n.secondDead.port:
		case n.OutPorts == 1:
			report(n, "nothing reads its output; end the stream with flow.Write")
		default:
			report(n, "nothing reads its output %d; end each stream with flow.Write", port)
		}
	}
	if n.policy.kind != policyFail && !n.fallible {
		report(n, "OnError: this kind of operator has no function that can fail")
	}
	for _, e := range n.Ins {
		if e.From.Index >= len(g.nodes) || g.nodes[e.From.Index] != e.From {
			report(n, "its input %q belongs to another graph", e.From.Name)
		}
	}
}

const kindLetters = "dead letters"

// checkLetters matches OnError(DeadLetter(name)) with DeadLetters[T](g, name).
func (g *Graph) checkLetters(report reporter) {
	for _, n := range g.nodes {
		name := n.policy.letters()
		if name == "" {
			continue
		}
		if n.DeadPort < 0 {
			continue // checkNode has said that nothing can fail here
		}
		g.checkLetterType(report, n, name, n.deadType)
		if n.secondDead.record != nil {
			g.checkLetterType(report, n, name, n.secondDead.record)
		}
	}
	for _, box := range g.letters {
		if len(box.node.Ins) == 0 {
			report(box.node, "no operator sends records of type %v to the dead letters %q", box.record, box.name)
		}
	}
}

// checkLetterType finds who reads the dead letters of n with that record type.
func (g *Graph) checkLetterType(report reporter, n *Node, name string, record reflect.Type) {
	declared := ""
	for _, box := range g.letters {
		if box.name != name {
			continue
		}
		if box.record == record {
			return
		}
		declared = box.record.String()
	}
	if declared != "" {
		report(n, "OnError(DeadLetter(%q)): its records are %v, but DeadLetters(g, %q) reads %s", name, record, name, declared)
		return
	}
	report(n, "OnError(DeadLetter(%q)): nothing reads these; add flow.DeadLetters[%v](g, %q)", name, record, name)
}

// checkCycles finds cycles, which only dead letters can make.
func (g *Graph) checkCycles(report reporter) {
	const visiting, visited = 1, 2
	state := map[*Node]int{}
	var path []*Node
	var visit func(n *Node)
	visit = func(n *Node) {
		switch state[n] {
		case visited:
			return
		case visiting:
			var names []string
			for i := len(path) - 1; i >= 0; i-- {
				names = append([]string{fmt.Sprintf("%q", path[i].Name)}, names...)
				if path[i] == n {
					break
				}
			}
			report(n, "the graph has a cycle: %s -> %q", strings.Join(names, " -> "), n.Name)
			return
		}
		state[n] = visiting
		path = append(path, n)
		for _, e := range n.Outs {
			visit(e.To)
		}
		path = path[:len(path)-1]
		state[n] = visited
	}
	for _, n := range g.nodes {
		visit(n)
	}
}
