package flow

import (
	"fmt"
	"time"
)

// settings is what options set.
type settings struct {
	parallelism, maxParallelism int
	setParallelism, setMax      bool
	noChain, offWorker          bool
	policy                      policy
	unordered                   bool
	timeout                     time.Duration
	atEnd                       TimersAtEnd
	problems                    []string
}

func (s *settings) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// Option sets something that makes sense for any operator.
type Option interface {
	AsyncOption
	ProcessOption
}

// AsyncOption sets something for AsyncMap. Every Option is one.
type AsyncOption interface {
	apply(*settings)
	forAsync()
}

// ProcessOption sets something for Process, Connect and ProcessBroadcast.
// Every Option is one.
type ProcessOption interface {
	apply(*settings)
	forProcess()
}

type anyOption func(*settings)

func (o anyOption) apply(s *settings) { o(s) }
func (anyOption) forAsync()           {}
func (anyOption) forProcess()         {}

type asyncOption func(*settings)

func (o asyncOption) apply(s *settings) { o(s) }
func (asyncOption) forAsync()           {}

type processOption func(*settings)

func (o processOption) apply(s *settings) { o(s) }
func (processOption) forProcess()         {}

func applyAll[O interface{ apply(*settings) }](opts []O) settings {
	var s settings
	for _, o := range opts {
		o.apply(&s)
	}
	return s
}

// Parallelism sets the number of tasks of an operator. Without it, there are
// as many as the job has workers.
func Parallelism(n int) Option {
	return anyOption(func(s *settings) { s.parallelism, s.setParallelism = n, true })
}

// MaxParallelism sets the number of key groups, a power of two: the most tasks
// the operator can ever be given. It is fixed once a checkpoint exists. Without
// it, there are 128.
func MaxParallelism(n int) Option {
	return anyOption(func(s *settings) { s.maxParallelism, s.setMax = n, true })
}

// NoChain begins a new task at this operator instead of fusing it with the one
// before.
func NoChain() Option { return anyOption(func(s *settings) { s.noChain = true }) }

// OffWorker runs the operator on a goroutine of its own, for user code that
// blocks: a worker that blocks would stop every other task it has.
func OffWorker() Option { return anyOption(func(s *settings) { s.offWorker = true }) }

// OnError sets what becomes of a record for which the operator's function
// returned an error. The default is Fail. A panic always fails the job.
func OnError(p ErrorPolicy) Option {
	return anyOption(func(s *settings) { s.policy = p.p })
}

// Unordered lets AsyncMap pass on answers as they come.
func Unordered() AsyncOption { return asyncOption(func(s *settings) { s.unordered = true }) }

// Timeout bounds one call of AsyncMap's function: its context ends after d.
func Timeout(d time.Duration) AsyncOption {
	return asyncOption(func(s *settings) {
		s.timeout = d
		if d <= 0 {
			s.problem("Timeout(%v): must be positive", d)
		}
	})
}

// TimersAtEnd says what becomes of processing-time timers that are still set
// at the end of data.
type TimersAtEnd struct {
	kind timersAtEnd
	max  time.Duration
}

type timersAtEnd uint8

const (
	dropTimers timersAtEnd = iota
	fireTimers
	awaitTimers
)

// DropTimers forgets them. It is the default.
func DropTimers() TimersAtEnd { return TimersAtEnd{kind: dropTimers} }

// FireTimers fires them at once, in their order.
func FireTimers() TimersAtEnd { return TimersAtEnd{kind: fireTimers} }

// AwaitTimers waits for them, but not longer than max; those still to come are
// then dropped.
func AwaitTimers(max time.Duration) TimersAtEnd { return TimersAtEnd{kind: awaitTimers, max: max} }

// ProcessingTimersAtEnd sets what becomes of processing-time timers at the end
// of data.
func ProcessingTimersAtEnd(t TimersAtEnd) ProcessOption {
	return processOption(func(s *settings) {
		s.atEnd = t
		if t.kind == awaitTimers && t.max <= 0 {
			s.problem("AwaitTimers(%v): must be positive", t.max)
		}
	})
}
