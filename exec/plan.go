package exec

import (
	"fmt"

	"github.com/tailrace-io/tailrace/flow"
)

// plan is a graph cut into chains. It is pure: the same graph and number of
// workers give the same plan.
type plan struct {
	graph  *flow.Graph
	chains []*chain
	edges  []*planEdge
	of     map[*flow.Node]*chain
	par    map[*flow.Node]int // tasks of each operator
}

// chain is a tree of operators that run fused: one task for each subtask. The
// first node is the root; every other has one input, from within.
type chain struct {
	index       int
	nodes       []*flow.Node
	parallelism int
	offWorker   bool
}

func (c *chain) root() *flow.Node { return c.nodes[0] }

// planEdge is an edge between two chains.
type planEdge struct {
	*flow.Edge
	part flow.Partition // after parallelisms are known
	from *chain
	to   *chain
}

func newPlan(g *flow.Graph, workers int) (*plan, error) {
	p := &plan{graph: g, of: map[*flow.Node]*chain{}, par: map[*flow.Node]int{}}
	nodes, err := sorted(g.Nodes())
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		p.par[n] = min(parallelismOf(n, p.par, workers), groupsOf(n)) // there may be more workers than key groups
	}
	for _, n := range nodes {
		if up := p.chainsTo(n); up != nil {
			up.nodes = append(up.nodes, n)
			p.of[n] = up
			continue
		}
		c := &chain{index: len(p.chains), nodes: []*flow.Node{n}, parallelism: p.par[n], offWorker: n.OffWorker && n.Source == nil}
		p.chains = append(p.chains, c)
		p.of[n] = c
	}
	for _, n := range nodes {
		for _, e := range n.Outs {
			if from, to := p.of[e.From], p.of[e.To]; from != to || e.To == to.root() {
				p.edges = append(p.edges, &planEdge{Edge: e, part: p.partition(e), from: from, to: to})
			}
		}
	}
	return p, nil
}

// parallelismOf is the operator's own setting, else 1 after a single task, else that of what
// feeds it directly, else one task a worker.
func parallelismOf(n *flow.Node, known map[*flow.Node]int, workers int) int {
	if n.Parallelism > 0 {
		return n.Parallelism
	}
	if n.Source != nil || n.Keyed {
		return workers
	}
	most := 0
	for _, e := range n.Ins {
		if e.Part == flow.Forward {
			most = max(most, known[e.From])
		} else if e.ToPort == 0 {
			return workers
		}
	}
	if most == 0 {
		return workers
	}
	return most
}

func groupsOf(n *flow.Node) int {
	if n.MaxParallelism > 0 {
		return n.MaxParallelism
	}
	return flow.DefaultMaxParallelism
}

// chainsTo returns the chain that n is fused with, or nil when n begins one.
func (p *plan) chainsTo(n *flow.Node) *chain {
	if n.MustHead || n.NoChain || n.OffWorker || len(n.Ins) != 1 {
		return nil
	}
	e := n.Ins[0]
	up := p.of[e.From]
	if up.offWorker || p.par[e.From] != p.par[n] {
		return nil
	}
	if e.Part == flow.Forward || p.par[n] == 1 {
		return up
	}
	return nil
}

// partition is how an edge between chains distributes records, now that the
// numbers of tasks are known.
func (p *plan) partition(e *flow.Edge) flow.Partition {
	if e.Part == flow.Forward && p.par[e.From] != p.par[e.To] {
		return flow.RoundRobin
	}
	return e.Part
}

// sorted orders operators so that each comes after those that feed it,
// otherwise in the order in which they were added.
func sorted(nodes []*flow.Node) ([]*flow.Node, error) {
	left := make([]int, len(nodes))
	for _, n := range nodes {
		left[n.Index] = len(n.Ins)
	}
	var order []*flow.Node
	done := make([]bool, len(nodes))
	for len(order) < len(nodes) {
		found := false
		for _, n := range nodes {
			if done[n.Index] || left[n.Index] > 0 {
				continue
			}
			done[n.Index], found = true, true
			order = append(order, n)
			for _, e := range n.Outs {
				left[e.To.Index]--
			}
			break
		}
		if !found {
			return nil, fmt.Errorf("graph has a cycle")
		}
	}
	return order, nil
}
