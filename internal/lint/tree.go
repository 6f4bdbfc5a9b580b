package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// Tree is the sources of a repository, parsed. It is read-only once made.
type Tree struct {
	Module string // module path of the root go.mod
	Files  []*File
	fset   *token.FileSet
	paths  map[string]bool // every file and every folder that holds one
}

// File is one text file.
type File struct {
	Path string // slash-separated, relative to the root
	Src  string
	Go   *ast.File // nil if it is not Go, or does not parse
	err  error     // why it does not parse
}

// NewTree parses files, a map from slash-separated path to text. A Go file that
// does not parse is a finding of the rule "parse".
func NewTree(files map[string]string) *Tree {
	t := &Tree{fset: token.NewFileSet(), paths: map[string]bool{".": true}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := &File{Path: name, Src: files[name]}
		if path.Ext(name) == ".go" {
			f.Go, f.err = parser.ParseFile(t.fset, name, f.Src, parser.ParseComments)
			if f.err != nil {
				f.Go = nil // a part of a file would give findings that are not there
			}
		}
		t.Files = append(t.Files, f)
		for p := name; p != "."; p = path.Dir(p) {
			t.paths[p] = true
		}
	}
	for line := range strings.Lines(files["go.mod"]) {
		if m, ok := strings.CutPrefix(line, "module "); ok {
			t.Module = strings.TrimSpace(m)
		}
	}
	return t
}

// IsText tells whether data is text, as git decides it: no zero byte near the start.
func IsText(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0
}

// Dir is the folder of the file, "." for the root.
func (f *File) Dir() string { return path.Dir(f.Path) }

// IsTest tells whether the file is compiled into tests only.
func (f *File) IsTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// sources yields the Go files that are compiled into programs.
func (t *Tree) sources(yield func(*File) bool) {
	for _, f := range t.Files {
		if f.Go != nil && !f.IsTest() && !yield(f) {
			return
		}
	}
}

func (t *Tree) file(name string) *File {
	for _, f := range t.Files {
		if f.Path == name {
			return f
		}
	}
	return nil
}

func (t *Tree) line(p token.Pos) int { return t.fset.Position(p).Line }

// imports maps the names by which the file knows its imports to their paths.
func (f *File) imports() map[string]string {
	names := map[string]string{}
	for _, spec := range f.Go.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(p)
		if isMajor(name) { // math/rand/v2 is rand
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

func isMajor(elem string) bool {
	digits, ok := strings.CutPrefix(elem, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// qualified returns the import path and the name of an expression such as
// time.Now; ok is false if e is no name of an imported package.
func qualified(e ast.Node, imports map[string]string) (pkg, name string, ok bool) {
	sel, isSel := e.(*ast.SelectorExpr)
	if !isSel {
		return "", "", false
	}
	id, isIdent := sel.X.(*ast.Ident)
	if !isIdent || id.Obj != nil { // a variable hides the package
		return "", "", false
	}
	pkg, ok = imports[id.Name]
	return pkg, sel.Sel.Name, ok
}

// within tells whether folder dir is meant by pattern: a folder, or a folder
// and all below it ("connectors/..."), or everything ("...").
func within(dir, pattern string) bool {
	if pattern == "..." {
		return true
	}
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

func checkParse(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		if f.err != nil {
			found = append(found, finding(f.Path, 0, "%v: run gofmt on it", f.err))
		}
	}
	return found
}
