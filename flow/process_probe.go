package flow

import (
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"slices"
)

// keyProbe is what the call of a factory while the graph is built has shown,
// with what each task needs from the graph.
type keyProbe[K comparable] struct {
	graph      *Graph
	node       *Node
	hash       func(*K) uint64
	broadcasts bool
	remembers  bool // it has state or timers
}

// probeKeyed calls the factory of an operator with keys while the graph is
// built.
func probeKeyed[K comparable, O, P any](g *Graph, n *Node, hash func(*K) uint64, newP func(Scope[K]) P, broadcasts bool) keyProbe[K] {
	states := &States{graph: g, broadcasts: broadcasts}
	scope := &keyScope[K]{taskScope{states, TaskInfo{Operator: n.Name, Parallelism: 1}}, new(KeyInHand[K])}
	probe := keyProbe[K]{graph: g, node: n, hash: hash, broadcasts: broadcasts}
	n.required("factory", newP == nil)
	if newP == nil {
		return probe
	}
	p, err := made(func() P { return newP(scope) })
	noteProbe(n, states, p, err, keyedHooks[K, O]())
	_, timers := p.(TimerHandler[K, O])
	if timers {
		refuseRetry(n, "timers")
	}
	if probe.remembers = timers || len(states.decls) > 0; probe.remembers {
		n.checks = append(n.checks, storable[K](g, "keys"))
	}
	return probe
}

// storable checks that values of T have a codec.
func storable[T any](g *Graph, what string) func() error {
	return func() error {
		if _, err := CodecOf[T](g); err != nil {
			return fmt.Errorf("its %s can't be stored: %w", what, err)
		}
		return nil
	}
}

// made calls a factory and turns a panic into an error.
func made[P any](newP func() P) (p any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("its factory panicked: %v\n%s", r, debug.Stack())
		}
	}()
	if p = newP(); p == nil {
		return nil, fmt.Errorf("its factory returned nil")
	}
	return p, nil
}

// noteProbe notes on n what the probe has shown: states and mistakes.
func noteProbe(n *Node, states *States, p any, err error, hooks []hook) {
	states.sealed = true
	if err != nil {
		n.fault("%v", err)
		return
	}
	for _, f := range states.faults {
		n.fault("%s", f)
	}
	n.States = states.decls
	n.checks = append(n.checks, states.checks...)
	if len(states.decls) > 0 {
		refuseRetry(n, "state")
	}
	checkHooks(n, p, hooks)
	switch q := p.(type) {
	case FinalCheckpointer:
		n.RequiresFinal = q.RequiresFinalCheckpoint()
	case CompletionHandler:
		n.RequiresFinal = true
	}
}

func refuseRetry(n *Node, what string) {
	if n.policy.kind == policyRetry {
		n.fault("OnError(Retry(...)) on an operator with %s: a failed call leaves its changes of state behind", what)
	}
}

// startKeyed makes the processor of one task.
func startKeyed[K comparable, O, P any](k *keyedCore[K, O], inst *Instance, atEnd TimersAtEnd, probe keyProbe[K], newP func(Scope[K]) P) (p P, err error) {
	k.init(inst, atEnd, probe.hash)
	k.states = &States{graph: probe.graph, inst: inst, broadcasts: probe.broadcasts}
	if probe.remembers {
		if k.codec, err = CodecOf[K](probe.graph); err != nil {
			return p, err
		}
	}
	scope := &keyScope[K]{taskScope{k.states, inst.Task}, &k.ctx.hand}
	v, err := made(func() P { return newP(scope) })
	if err == nil {
		err = k.states.seal(probe.node.States)
	}
	if err != nil {
		k.states.close()
		return p, err
	}
	k.adopt(v)
	return v.(P), nil
}

// hook is an optional method of a processor.
type hook struct {
	name string

	want reflect.Type // the interface that it must satisfy; nil if there is none
	why  string       // then
}

// checkHooks refuses a method that has the name of a hook but not its
// signature, and one that the value made does not have although its pointer
// has.
func checkHooks(n *Node, p any, hooks []hook) {
	t := reflect.TypeOf(p)
	pt := t
	if t.Kind() != reflect.Pointer {
		pt = reflect.PointerTo(t)
	}
	names := namedMethods(pt)
	for _, h := range hooks {
		switch {
		case !slices.Contains(names, h.name):
		case h.want == nil:
			n.fault("%v has a method %s, but %s", t, h.name, h.why)
		case t.Implements(h.want):
		case pt.Implements(h.want):
			n.fault("the method %s has a pointer receiver, but the factory returns a %v: it would never be called; return a pointer", h.name, t)
		default:
			n.fault("%v has a method %s with another signature than %s%s, so it would never be called", t, h.name, h.name, h.want.Method(0).Type.String()[len("func"):])
		}
	}
}

// namedMethods returns which hooks' names t has methods of. The names are
// constants here, so that the linker need not keep every method of the program.
func namedMethods(t reflect.Type) (names []string) {
	note := func(m reflect.Method, ok bool) {
		if ok {
			names = append(names, m.Name)
		}
	}
	note(t.MethodByName("Open"))
	note(t.MethodByName("Close"))
	note(t.MethodByName("OnTimer"))
	note(t.MethodByName("OnEndOfData"))
	note(t.MethodByName("RequiresFinalCheckpoint"))
	note(t.MethodByName("OnCheckpointComplete"))
	return names
}

func taskHooks[O any]() []hook {
	return []hook{
		{name: "Open", want: reflect.TypeFor[Opener]()},
		{name: "Close", want: reflect.TypeFor[io.Closer]()},
		{name: "OnEndOfData", want: reflect.TypeFor[EndHandler[O]]()},
		{name: "RequiresFinalCheckpoint", want: reflect.TypeFor[FinalCheckpointer]()},
		{name: "OnCheckpointComplete", want: reflect.TypeFor[CompletionHandler]()},
	}
}

func keyedHooks[K comparable, O any]() []hook {
	return append(taskHooks[O](), hook{name: "OnTimer", want: reflect.TypeFor[TimerHandler[K, O]]()})
}

func keylessHooks[O any]() []hook {
	return append(taskHooks[O](), hook{name: "OnTimer", why: "timers need keys: use Process"})
}
