// Package lint checks what no compiler checks: the layers, the sizes, the
// doors and the words of this repository. The rules are pure functions of a
// [Tree] of sources; the test of this package runs them all on the repository.
//
// A rule is there because somebody would otherwise have to remember it. Each
// one has a test that plants a violation, and each message says what to do.
package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is one violation of one rule.
type Finding struct {
	Path string // slash-separated, relative to the root of the repository
	Line int    // 1-based; 0 when the finding is of the whole file or folder
	Rule string // name of the rule
	Text string // what is wrong and what to do about it
}

func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", f.Path, f.Rule, f.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.Path, f.Line, f.Rule, f.Text)
}

// Rule is one check of the whole tree.
type Rule struct {
	Name  string
	Why   string // what goes wrong without it
	check func(*Tree) []Finding
}

// Rules returns all rules, in the order in which they are reported.
func Rules() []Rule {
	return []Rule{
		{"parse", "a file that does not parse hides from every other rule", checkParse},
		{"imports", "layers that leak can no longer be understood, or replaced, one at a time", checkImports},
		{"walks", "the way in must lead through code that is there", checkWalks},
		{"sizes", "long files and functions hide more than one idea", checkSizes},
		{"doors", "a reader enters a package by its comment", checkDoors},
		{"effects", "what is not reached through Env cannot be simulated from a seed", checkEffects},
		{"waits", "a step that can block stops every task of its worker", checkWaits},
		{"globals", "two jobs in one process must not meet in a variable", checkGlobals},
		{"claims", "a promise that no test keeps is advertising", checkClaims},
		{"words", "what is committed must be finished, portable and about the project", checkWords},
		{"links", "a link that leads nowhere costs every reader a minute", checkLinks},
		{"dependencies", "each dependency is a decision, and has its reason on record", checkDependencies},
	}
}

// Check applies the rule to the tree. The findings are in order of path and line.
func (r Rule) Check(t *Tree) []Finding {
	found := r.check(t)
	for i := range found {
		found[i].Rule = r.Name
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return slices.CompactFunc(found, func(a, b Finding) bool { return a == b })
}

func finding(path string, line int, format string, args ...any) Finding {
	return Finding{Path: path, Line: line, Text: fmt.Sprintf(format, args...)}
}
