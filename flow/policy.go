package flow

import (
	"fmt"
	"time"
)

// ErrorPolicy is what becomes of a record that failed.
type ErrorPolicy struct{ p policy }

type policyKind uint8

const (
	policyFail policyKind = iota
	policySkip
	policyRetry
	policyDeadLetter
)

type policy struct {
	kind    policyKind
	max     int64
	retries int
	backoff time.Duration
	then    *policy
	name    string // of the dead letters
}

// Fail fails the job. It is the default.
func Fail() ErrorPolicy { return ErrorPolicy{} }

// Skip drops the record and counts it. The job fails with the first record
// over max, counted over all tasks of the operator; a negative max means any
// number.
func Skip(max int64) ErrorPolicy { return ErrorPolicy{policy{kind: policySkip, max: max}} }

// Retry tries n more times, waiting backoff before the first and twice as long
// before each further try, and then does what then says. It can't be used on
// an operator with state, whose changes a failed call leaves behind.
func Retry(n int, backoff time.Duration, then ErrorPolicy) ErrorPolicy {
	return ErrorPolicy{policy{kind: policyRetry, retries: n, backoff: backoff, then: &then.p}}
}

// DeadLetter sends the record to the stream that DeadLetters returns for name.
func DeadLetter(name string) ErrorPolicy {
	return ErrorPolicy{policy{kind: policyDeadLetter, name: name}}
}

// Failed is a record that failed, with the operator and its error.
type Failed[T any] struct {
	Record   T      // the record; zero when it could not be read
	Raw      []byte // what was read, when it could not be decoded
	Operator string
	Err      string
}

// final is the policy after retries.
func (p policy) final() policy {
	for p.kind == policyRetry {
		p = *p.then
	}
	return p
}

// letters is the name of the dead letters the policy sends to, "" if none.
func (p policy) letters() string {
	if f := p.final(); f.kind == policyDeadLetter {
		return f.name
	}
	return ""
}

func (p policy) problems() (found []string) {
	for q := &p; q != nil; q = q.then {
		switch {
		case q.kind == policyRetry && q.retries < 1:
			found = append(found, fmt.Sprintf("Retry(%d, ...): at least one try is needed", q.retries))
		case q.kind == policyRetry && q.backoff < 0:
			found = append(found, fmt.Sprintf("Retry(_, %v, _): the wait must not be negative", q.backoff))
		case q.kind == policyDeadLetter && q.name == "":
			found = append(found, `DeadLetter(""): a name is needed`)
		}
	}
	return found
}

// failures applies a policy to the records of one task.
type failures[T any] struct {
	policy policy
	inst   *Instance
	dead   Receiver // nil unless the policy has dead letters
	letter *BatchOf[Failed[T]]
	port   int // the dead-letter port

	// Of the record in hand, once it has failed and is to be tried again:
	active bool
	made   int    // tries so far
	tries  int    // those of stage
	stage  policy // how it is tried now: retries may follow on retries
	due    time.Time
}

func (f *failures[T]) init(p policy, inst *Instance, ports int) {
	f.policy, f.inst, f.port = p, inst, ports
	if p.letters() != "" {
		f.letter = NewBatch[Failed[T]](1)
	}
}

// connect takes the dead-letter port, the last one of an operator that has it.
func (f *failures[T]) connect(port int, to Receiver) {
	if port == f.port && f.letter != nil {
		f.dead = to
	}
}

// Outstanding is false: a record that waits is still in the batch that the
// engine keeps.
func (f *failures[T]) Outstanding() bool { return false }

// Resume has nothing to emit: the engine passes the batch again.
func (f *failures[T]) Resume() (bool, error) { return false, nil }

// Due is when the record that waits may be tried again.
func (f *failures[T]) Due() (time.Time, bool) { return f.due, f.active }

// waits says whether a record waits to be tried again before its time.
func (f *failures[T]) waits() bool { return f.active && f.inst.Now().Before(f.due) }

// passed is called when a record that had failed before went through.
func (f *failures[T]) passed() { f.active = false }

// handle decides what becomes of a record. It returns nil when the record is
// done with, ErrPending when it is to be tried again, and otherwise the error
// that fails the job.
func (f *failures[T]) handle(cause error, rec *T, raw []byte, at Time, timed bool) error {
	p := f.policy
	if f.active {
		p = f.stage
	}
	for p.kind == policyRetry {
		if !f.active {
			f.active, f.tries, f.made = true, 0, 1
		}
		if f.tries < p.retries {
			f.due = f.inst.Now().Add(p.backoff << f.tries)
			f.tries++
			f.made++
			f.stage = p
			return ErrPending
		}
		f.tries = 0
		p = *p.then
	}
	if f.active {
		cause = fmt.Errorf("after %d tries: %w", f.made, cause)
	}
	f.active = false
	f.inst.Shared.Failed.Add(1)
	switch p.kind {
	case policySkip:
		if n := f.inst.Shared.Skipped.Add(1); p.max >= 0 && n > p.max {
			return fmt.Errorf("more than the %d bad records that OnError(Skip(%d)) allows: %w", p.max, p.max, cause)
		}
		return nil
	case policyDeadLetter:
		letter := Failed[T]{Raw: raw, Operator: f.inst.Task.Operator, Err: cause.Error()}
		if rec != nil {
			letter.Record = *rec
		}
		f.letter.Recs = append(f.letter.Recs[:0], letter)
		f.letter.Head.Times = f.letter.Head.Times[:0]
		f.letter.appendTime(at, timed)
		return f.dead.OnBatch(0, f.letter)
	}
	return cause
}
