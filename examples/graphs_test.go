// Package examples holds no code of its own: each folder is a program.
package examples

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// A job is short: that is what the programming interface is for.
func TestGraphFunctionsAreShort(t *testing.T) {
	for _, c := range []struct {
		file, function string
		most           int // lines, with the first and the last
	}{
		{"flights/graph.go", "build", 50},
		{"wordcount/main.go", "build", 30},
	} {
		lines := 0
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, c.file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == c.function {
				lines = files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
			}
		}
		if lines == 0 || lines > c.most {
			t.Errorf("%s: func %s has %d lines, wanted 1 to %d", c.file, c.function, lines, c.most)
		}
	}
}
