package flow

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// Graph is a dataflow job under construction. It is built by one goroutine,
// and can be run any number of times, also at the same time, once it is complete.
type Graph struct {
	name    string
	nodes   []*Node
	letters []*letterBox
	codecs  map[reflect.Type]registeredCodec
	late    []string // mistakes that belong to no operator
	linking sync.Mutex
}

// New returns an empty graph. The name stands in logs and metrics.
func New(name string) *Graph {
	return &Graph{name: name, codecs: map[reflect.Type]registeredCodec{}}
}

// Name returns the graph's name.
func (g *Graph) Name() string { return g.name }

// Nodes returns the operators in the order in which they were added, with
// dead letters linked. It is for the engine; call Validate first.
func (g *Graph) Nodes() []*Node {
	g.link()
	return g.nodes
}

// add makes a node. A nil graph comes from the zero Stream.
func (g *Graph) add(kind, name string, s settings) *Node {
	if g == nil {
		panic(fmt.Sprintf("flow: %s %q: the graph is nil, or the stream is the zero Stream; streams come from Read and from operators", kind, name))
	}
	n := &Node{
		Index: len(g.nodes), Name: name, Kind: kind, Where: caller(), OutPorts: 1, DeadPort: -1,
		Parallelism: s.parallelism, MaxParallelism: s.maxParallelism,
		NoChain: s.noChain, OffWorker: s.offWorker, policy: s.policy, RequiresFinal: false,
	}
	n.problem = append(n.problem, s.problems...)
	n.problem = append(n.problem, s.policy.problems()...)
	if s.setParallelism && s.parallelism < 1 {
		n.fault("Parallelism(%d): must be at least 1", s.parallelism)
	}
	if s.setMax && (s.maxParallelism < 1 || s.maxParallelism > maxGroups || s.maxParallelism&(s.maxParallelism-1) != 0) {
		n.fault("MaxParallelism(%d): must be a power of two, at most %d", s.maxParallelism, maxGroups)
	}
	g.nodes = append(g.nodes, n)
	return n
}

// maxGroups bounds MaxParallelism: key groups are 16-bit numbers in formats.
const maxGroups = 32768

// DefaultMaxParallelism is the number of key groups without an option.
const DefaultMaxParallelism = 128

func (n *Node) fault(format string, args ...any) {
	n.problem = append(n.problem, fmt.Sprintf(format, args...))
}

func (n *Node) required(what string, isNil bool) {
	if isNil {
		n.fault("the %s is nil", what)
	}
}

// caller is the file:line of the first frame outside this package.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, packagePath+".") || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}

const packagePath = "github.com/tailrace-io/tailrace/flow"

// typeName is a record type as a user writes it.
func typeName[T any]() string { return reflect.TypeFor[T]().String() }

// connect adds an edge that carries records of type T.
func connect[T any](s Stream[T], to *Node, port int) *Edge {
	e := &Edge{
		From: s.node, FromPort: s.port, To: to, ToPort: port, Part: s.part,
		Record: typeName[T](), RecordSize: reflect.TypeFor[T]().Size(),
		NewBatch: func(_ Partition, want int) Batch { return NewBatch[T](BatchSize(want, reflect.TypeFor[T]().Size())) },
		NewOutlet: func(lanes []Lane, owner []uint16, part Partition, inst *Instance) Outlet {
			return newOutlet[T](lanes, part, inst.Task.Index)
		},
	}
	e.codecID = func() (string, error) {
		c, err := CodecOf[T](s.g)
		if err != nil {
			return "", err
		}
		return c.ID(), nil
	}
	link(e)
	return e
}

// link enters an edge at both ends.
func link(e *Edge) {
	e.From.Outs = append(e.From.Outs, e)
	e.To.Ins = append(e.To.Ins, e)
}

// letterBox collects the dead letters of one name.
type letterBox struct {
	name     string
	record   reflect.Type
	node     *Node
	attached map[letterPort]bool
	// attach adds an edge from a node's dead port.
	attach func(from *Node, port int)
}

// readsLetters says whether dead letters of that name are read already, but none
// with records of that type.
func (g *Graph) readsLetters(name string, record reflect.Type) bool {
	found := false
	for _, box := range g.letters {
		if box.name == name {
			if box.record == record {
				return false
			}
			found = true
		}
	}
	return found
}

// letterPort is a port that dead letters leave by.
type letterPort struct {
	from *Node
	port int
}

// link connects dead letters that are not connected yet: whoever sends them and
// whoever reads them can be added in any order, also between two calls.
func (g *Graph) link() {
	g.linking.Lock() // jobs of one graph may start at the same time
	defer g.linking.Unlock()
	for _, n := range g.nodes {
		name := n.policy.letters()
		if name == "" || n.DeadPort < 0 {
			continue
		}
		for _, box := range g.letters {
			if box.name == name {
				box.connect(n, n.DeadPort, n.deadType)
				box.connect(n, n.secondDead.port, n.secondDead.record)
			}
		}
	}
}

// connect attaches a port with records of that type, once.
func (box *letterBox) connect(from *Node, port int, record reflect.Type) {
	if p := (letterPort{from, port}); box.record == record && !box.attached[p] {
		box.attached[p] = true
		box.attach(from, port)
	}
}
