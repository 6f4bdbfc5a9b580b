package flow

import (
	"errors"
	"fmt"
	"slices"
)

// TaskScope is what the factory of a processor is given: the task that the
// processor is for, and the place where its state is declared, by the
// functions of package state. It is of use during the call of the factory only.
type TaskScope interface {
	// Task says which task the processor is for. While the graph is built it is
	// task 0 of 1.
	Task() TaskInfo
	// States is for package state.
	States() *States
}

// Scope is a TaskScope of an operator with keys of type K: state that is
// declared in it is remembered for each key.
type Scope[K comparable] interface {
	TaskScope
	// InHand is for package state.
	InHand() *KeyInHand[K]
}

// KeyInHand is the key that the user call in progress is about. Package state
// finds the state of that key by it.
type KeyInHand[K comparable] struct {
	Key  K
	Hash uint64
	Held bool // there is one
}

// Store holds one declared state of one task. It belongs to one goroutine.
type Store interface {
	// Len is the number of keys or elements.
	Len() int
	// Bytes is the memory held.
	Bytes() int64
	// Save appends everything to dst. Load adds what Save has written, leaving
	// out the keys of other tasks; it may be called for several savings.
	Save(dst []byte) ([]byte, error)
	Load(src []byte) error
	Close()
}

// Sweeper is a Store whose entries expire. Sweep looks at about budget of them
// and removes those that have.
type Sweeper interface{ Sweep(budget int) }

// StateSpec says what is to be remembered, and how it is made.
type StateSpec struct {
	StateDecl
	// Broadcast says that it is written on the broadcast side.
	Broadcast bool
	// Check finds out whether it can be stored. It is called by Validate, when
	// all codecs are registered.
	Check func() error
	// Open makes the store. It is not called while the graph is built.
	Open func(inst *Instance) (Store, error)
}

// States are the declared states of one task of an operator, or of the
// operator while the graph is built.
type States struct {
	graph      *Graph
	inst       *Instance // nil while the graph is built
	broadcasts bool      // the operator has a broadcast side
	decls      []StateDecl
	stores     []Store // of decls, in a task
	sweepers   []Sweeper
	checks     []func() error
	faults     []string
	sealed     bool // the factory has returned
	err        error
	writing    bool     // a call of the broadcast side is in progress
	lent       []func() // to be called when the user call in progress has returned
	now        Time     // processing time, when known
	nowKnown   bool
}

// Graph is the graph of the operator, in which its codecs are found.
func (s *States) Graph() *Graph { return s.graph }

// Declare enters a state and, in a task, makes its store. It panics when the
// factory has returned.
func (s *States) Declare(spec StateSpec) {
	if s.sealed {
		panic(fmt.Sprintf("flow: state %q: states are declared in the factory, not later", spec.Name))
	}
	switch {
	case spec.Name == "":
		s.faults = append(s.faults, fmt.Sprintf("a state (%s) has an empty name: it is its identity in checkpoints", spec.Kind))
	case slices.ContainsFunc(s.decls, func(d StateDecl) bool { return d.Name == spec.Name }):
		s.faults = append(s.faults, fmt.Sprintf("the state %q is declared twice", spec.Name))
	case spec.Broadcast && !s.broadcasts:
		s.faults = append(s.faults, fmt.Sprintf("the broadcast state %q can never be written: the operator has no broadcast side", spec.Name))
	}
	s.decls = append(s.decls, spec.StateDecl)
	if s.inst == nil {
		s.checks = append(s.checks, spec.Check)
		return
	}
	store, err := spec.Open(s.inst)
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("state %q: %w", spec.Name, err))
		return
	}
	s.stores = append(s.stores, store)
	if sw, ok := store.(Sweeper); ok {
		s.sweepers = append(s.sweepers, sw)
	}
}

// Now is the processing time that entries are stamped with: that of the batch
// or timer in hand.
func (s *States) Now() Time {
	if !s.nowKnown {
		s.now, s.nowKnown = TimeOf(s.inst.Now()), true
	}
	return s.now
}

// MayWrite says whether ctx is a licence to write broadcast state now.
func (s *States) MayWrite(ctx BroadcastCtx) bool {
	return ctx != nil && ctx.licence() == s && s.writing
}

// OnReturn has f called when the user call in progress has returned. It is for
// checks of what was lent to it.
func (s *States) OnReturn(f func()) { s.lent = append(s.lent, f) }

// returned ends a user call.
func (s *States) returned() {
	if len(s.lent) > 0 {
		s.takeBack()
	}
}

func (s *States) takeBack() {
	for i, f := range s.lent {
		s.lent[i] = nil
		f()
	}
	s.lent = s.lent[:0]
}

// turn begins a batch of n records, or of timers.
func (s *States) turn(n int) {
	s.nowKnown = false
	for _, sw := range s.sweepers {
		sw.Sweep(2*n + 8) // faster than entries can come
	}
}

// seal ends the factory's call in a task: it must have declared what it
// declared when the graph was built.
func (s *States) seal(before []StateDecl) error {
	s.sealed = true
	if s.err == nil && !slices.Equal(s.decls, before) {
		s.err = fmt.Errorf("the factory declared other states than while the graph was built: %v, not %v", s.decls, before)
	}
	return s.err
}

func (s *States) bytes() (n int64) {
	for _, st := range s.stores {
		n += st.Bytes()
	}
	return n
}

func (s *States) close() {
	for _, st := range s.stores {
		st.Close()
	}
	s.stores, s.sweepers = nil, nil
}

// taskScope is the scope of an operator without keys.
type taskScope struct {
	states *States
	task   TaskInfo
}

func (s *taskScope) Task() TaskInfo  { return s.task }
func (s *taskScope) States() *States { return s.states }

// keyScope is the scope of an operator with keys.
type keyScope[K comparable] struct {
	taskScope
	hand *KeyInHand[K]
}

func (s *keyScope[K]) InHand() *KeyInHand[K] { return s.hand }
