package state

import "github.com/tailrace-io/tailrace/flow"

// Aggregate folds elements into one accumulator for each key.
type Aggregate[T, R any] struct{ of aggregate[T, R] }

type aggregate[T, R any] interface {
	add(in *T)
	result() (R, bool)
	clear()
}

// AggregateOf declares an Aggregate that folds with a.
func AggregateOf[K comparable, T, A, R any](s flow.Scope[K], name string, a flow.Aggregator[T, A, R], opts ...Option) Aggregate[T, R] {
	if a.Add == nil || a.Result == nil {
		panic("state: AggregateOf " + name + ": the Add and Result functions of the Aggregator are needed")
	}
	return Aggregate[T, R]{&keyedAggregate[T, A, R]{cellOf[K, A](s, name, "aggregate", typeName[A](), apply(opts)), a}}
}

// Add folds in, which is read-only, into the accumulator.
func (h Aggregate[T, R]) Add(in *T) { h.of.add(in) }

// Result returns the result so far, and whether anything was added.
func (h Aggregate[T, R]) Result() (R, bool) { return h.of.result() }

// Clear forgets what was added.
func (h Aggregate[T, R]) Clear() { h.of.clear() }

type keyedAggregate[T, A, R any] struct {
	c cell[A]
	a flow.Aggregator[T, A, R]
}

func (g *keyedAggregate[T, A, R]) add(in *T) {
	acc, fresh := g.c.edit()
	if fresh && g.a.New != nil {
		*acc = g.a.New()
	}
	g.a.Add(acc, in)
}

func (g *keyedAggregate[T, A, R]) result() (r R, ok bool) {
	acc := g.c.peek()
	if acc == nil {
		return r, false
	}
	return g.a.Result(acc), true
}

func (g *keyedAggregate[T, A, R]) clear() { g.c.remove() }
