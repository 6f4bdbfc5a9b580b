package state

import (
	"unsafe"

	"github.com/tailrace-io/tailrace/flow"
)

// OperatorListOf declares a List of the task. When a job is restored, the
// elements of all tasks are split evenly over the new ones.
func OperatorListOf[V any](s flow.TaskScope, name string) List[V] {
	return taskListOf[V](s, name, "operator list")
}

// UnionListOf declares a List of the task. When a job is restored, every task
// gets the elements of all.
func UnionListOf[V any](s flow.TaskScope, name string) List[V] {
	return taskListOf[V](s, name, "union list")
}

func taskListOf[V any](s flow.TaskScope, name, kind string) List[V] {
	states := s.States()
	l := &taskList[V]{}
	states.Declare(flow.StateSpec{
		StateDecl: flow.StateDecl{Name: name, Kind: kind, Key: "-", Value: typeName[[]V](), Layout: "a slice"},
		Check:     storable(states, name, options{}, hasCodec[[]V]),
		Open: func(*flow.Instance) (flow.Store, error) {
			var err error
			l.codec, err = flow.CodecOf[[]V](states.Graph())
			return (*listStore[V])(l), err
		},
	})
	return List[V]{checkedIn[V](l, states, name)}
}

// taskList is a List of a task.
type taskList[V any] struct {
	vals  []V
	codec flow.Codec[[]V]
}

func (l *taskList[V]) add(v V) { l.vals = append(l.vals, v) }

func (l *taskList[V]) peek() []V {
	if len(l.vals) == 0 {
		return nil
	}
	return l.vals[:len(l.vals):len(l.vals)]
}

func (l *taskList[V]) replace(vs []V) { l.vals = replaced(l.vals, vs) }
func (l *taskList[V]) clear()         { l.vals = nil }

// listStore is a taskList as a store.
type listStore[V any] taskList[V]

func (s *listStore[V]) Len() int { return len(s.vals) }

func (s *listStore[V]) Bytes() int64 {
	return int64(cap(s.vals)) * int64(unsafe.Sizeof(*new(V)))
}

func (s *listStore[V]) Close() { s.vals = nil }

func (s *listStore[V]) Save(dst []byte) ([]byte, error) { return s.codec.Append(dst, &s.vals) }

// Load adds the elements behind those that are there.
func (s *listStore[V]) Load(src []byte) error {
	more := new([]V)
	n, err := s.codec.Decode(src, more)
	if err == nil && n != len(src) {
		err = errShort
	}
	s.vals = append(s.vals, *more...)
	return err
}
