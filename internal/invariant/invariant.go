// Package invariant states what must always hold inside the engine. What it
// panics with is told apart from a panic of user code: it is our own bug and
// is never recovered away.
package invariant

import "fmt"

// Violation is the value of the panic of a broken invariant. It is an error,
// so that it prints well and errors.As finds it, but nobody is meant to go on
// after it.
type Violation struct {
	// What says which invariant is broken, and with which values.
	What string
}

func (v Violation) Error() string { return "invariant violated: " + v.What }

// Check panics with a Violation unless cond holds. It is always on, and safe
// for concurrent use. format and args are those of fmt.Sprintf.
//
// Args are boxed before cond is looked at: about 20 ns and one allocation for
// an integer that is not a constant. Where that matters (every batch), write
//
//	if !cond {
//		invariant.Fail(...)
//	}
func Check(cond bool, format string, args ...any) {
	if !cond {
		Fail(format, args...)
	}
}

// Fail panics with a Violation. It is the cold half of Check.
func Fail(format string, args ...any) {
	panic(Violation{What: fmt.Sprintf(format, args...)})
}
