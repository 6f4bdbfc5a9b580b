package lint

import (
	"go/ast"
	"strings"
)

// Limits in lines, comments and blank lines included: what a reader scrolls.
const (
	maxFileLines = 400
	maxFuncLines = 70
)

// checkSizes limits files and functions. Tests and generated files are exempt:
// a table of cases is long because there are many cases.
func checkSizes(t *Tree) (found []Finding) {
	for f := range t.sources {
		if ast.IsGenerated(f.Go) {
			continue
		}
		if n := strings.Count(f.Src, "\n"); n > maxFileLines {
			found = append(found, finding(f.Path, 0, "%d lines, at most %d: find the second idea in it and give it a file", n, maxFileLines))
		}
		for _, d := range f.Go.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first := t.line(fn.Pos())
			if n := t.line(fn.End()) - first + 1; n > maxFuncLines {
				found = append(found, finding(f.Path, first, "func %s has %d lines, at most %d: name a step of it and take it out", fn.Name.Name, n, maxFuncLines))
			}
		}
	}
	return found
}
