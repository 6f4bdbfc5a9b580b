package lint

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
)

// stepFiles are the files whose code runs in a worker's step, as patterns of
// path.Match. A step may not wait: one that does stops every task beside it.
var stepFiles = []string{
	"buffers/*.go",
	"exec/element.go",
	"exec/end.go",
	"exec/input.go",
	"exec/lane.go",
	"exec/operator.go",
	"exec/task*.go",
	"exec/thread.go",
	"flow/kernel*.go",
	"flow/outlet*.go",
}

// sleepers are the step files that may wait all the same, each with its reason.
var sleepers = map[string]string{
	"buffers/waiter.go": "where a worker sleeps between two rounds of steps; waking it never blocks",
}

// checkWaits finds channels, locks and the like in code that must not block.
func checkWaits(t *Tree) (found []Finding) {
	for f := range t.sources {
		if !matchesAny(f.Path, stepFiles) || sleepers[f.Path] != "" {
			continue
		}
		imports := f.imports()
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if what := waitOf(n, imports); what != "" {
				found = append(found, finding(f.Path, t.line(n.Pos()),
					"%s can block, and this file runs in a worker's step: use a ring or an atomic word, or move the waiting off the worker", what))
			}
			return true
		})
	}
	return found
}

func matchesAny(name string, patterns []string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}

func waitOf(n ast.Node, imports map[string]string) string {
	switch n := n.(type) {
	case *ast.ChanType:
		return "a channel"
	case *ast.SelectStmt:
		return "select"
	case *ast.SendStmt:
		return "a channel send"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "a channel receive"
		}
	}
	if pkg, name, ok := qualified(n, imports); ok && pkg == "sync" && name != "Pool" && !strings.HasPrefix(name, "Once") {
		return "sync." + name
	}
	return ""
}
