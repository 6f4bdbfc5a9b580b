package lint

import (
	"go/ast"
	"go/token"
	"strings"
)

// knownVars are the package variables that may be there although a rule below
// speaks against them, each with its reason. Key: folder.name.
var knownVars = map[string]string{
	"buffers.pauses":             "never written; loading it keeps the compiler from removing a loop",
	"flow.littleEndian":          "a fact of the machine",
	"flow.pointerKinds":          "a table",
	"flow.unstorablePackages":    "a table",
	"internal/table.emptyMemory": "never written; its address stands for a segment without rows",
}

// checkGlobals finds init functions, package variables that are written, and
// package variables that are locks, pools or atomics. flow, which only
// describes, is held to error values, types and what knownVars lists.
func checkGlobals(t *Tree) (found []Finding) {
	vars := packageVars(t)
	for f := range t.sources {
		if within(f.Dir(), "cmd/...") || within(f.Dir(), "examples/...") {
			continue // a program may keep its flags as it likes
		}
		for _, d := range f.Go.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, finding(f.Path, t.line(fn.Pos()), "init runs where nobody called it: compute it where it is used, or with sync.OnceValue"))
			}
		}
		found = append(found, sharedVars(t, f)...)
		found = append(found, writtenVars(t, f, vars[f.Dir()])...)
	}
	return found
}

// packageVar is a package-level variable.
type packageVar struct {
	name  *ast.Ident
	spec  *ast.ValueSpec
	value ast.Expr // nil if it has none of its own
}

func varsOf(f *File) (vars []packageVar) {
	for _, d := range f.Go.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			spec := s.(*ast.ValueSpec)
			for i, name := range spec.Names {
				v := packageVar{name: name, spec: spec}
				if i < len(spec.Values) {
					v.value = spec.Values[i]
				}
				if name.Name != "_" { // a blank one is a check of the compiler
					vars = append(vars, v)
				}
			}
		}
	}
	return vars
}

// packageVars returns the package variables of each folder by name.
func packageVars(t *Tree) map[string]map[string]*ast.ValueSpec {
	all := map[string]map[string]*ast.ValueSpec{}
	for f := range t.sources {
		if all[f.Dir()] == nil {
			all[f.Dir()] = map[string]*ast.ValueSpec{}
		}
		for _, v := range varsOf(f) {
			all[f.Dir()][v.name.Name] = v.spec
		}
	}
	return all
}

// sharedVars judges variables by their declaration.
func sharedVars(t *Tree, f *File) (found []Finding) {
	imports := f.imports()
	for _, v := range varsOf(f) {
		name := f.Dir() + "." + v.name.Name
		switch {
		case knownVars[name] != "":
		case isShared(v, imports):
			found = append(found, finding(f.Path, t.line(v.name.Pos()), "%s is state that all jobs of the process share: make it a field of what owns it", name))
		case within(f.Dir(), "flow") && !isConstant(v, imports):
			found = append(found, finding(f.Path, t.line(v.name.Pos()), "%s is a package variable of flow: make it a constant, a function or a field, or list it with its reason in internal/lint/globals.go", name))
		}
	}
	return found
}

// isShared tells whether the variable is made of locks, pools or atomics.
// sync.OnceValue and its kin are not: they compute a constant late.
func isShared(v packageVar, imports map[string]string) (shared bool) {
	look := func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		pkg, name, ok := qualified(n, imports)
		if ok && (pkg == "sync" && !strings.HasPrefix(name, "Once") || pkg == "sync/atomic") {
			shared = true
		}
		return true
	}
	if v.spec.Type != nil {
		ast.Inspect(v.spec.Type, look)
	}
	if v.value != nil {
		ast.Inspect(v.value, look)
	}
	return shared
}

// isConstant tells whether the variable is an error value or a type.
func isConstant(v packageVar, imports map[string]string) bool {
	call, ok := v.value.(*ast.CallExpr)
	if !ok {
		return false
	}
	f := call.Fun
	if of, ok := f.(*ast.IndexExpr); ok { // reflect.TypeFor[T]
		f = of.X
	}
	pkg, name, _ := qualified(f, imports)
	return pkg == "errors" && name == "New" || pkg == "fmt" && name == "Errorf" || pkg == "reflect" && name == "TypeFor"
}

// writtenVars finds assignments to package variables, to their fields and
// elements, and their addresses taken.
func writtenVars(t *Tree, f *File, vars map[string]*ast.ValueSpec) (found []Finding) {
	written := func(e ast.Expr) {
		id := rootIdent(e)
		if id == nil || vars[id.Name] == nil || knownVars[f.Dir()+"."+id.Name] != "" {
			return
		}
		if id.Obj != nil && id.Obj.Decl != vars[id.Name] {
			return // a local variable of that name
		}
		found = append(found, finding(f.Path, t.line(e.Pos()), "package variable %s is written: make it a field of what owns it", id.Name))
	}
	ast.Inspect(f.Go, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, lhs := range n.Lhs {
					written(lhs)
				}
			}
		case *ast.IncDecStmt:
			written(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				written(n.X)
			}
		}
		return true
	})
	return found
}

// rootIdent returns x of x.f, x[i], (x) and *x.
func rootIdent(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
