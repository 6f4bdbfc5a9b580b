package lint

import (
	"go/ast"
	"regexp"
)

// walkHeading begins a walk: a table of the steps of one thing through the code.
var walkHeading = regexp.MustCompile(`(?m)^#+ (Walk: .*)$`)

// checkWalks holds the walks to the code: each step names a function, as
// `folder.Func` or `folder.Type.Method`, or a whole folder.
func checkWalks(t *Tree) (found []Finding) {
	page := t.file(layersPage)
	if page == nil {
		return nil // the rule "imports" says so
	}
	walks := walkHeading.FindAllStringSubmatch(page.Src, -1)
	if len(walks) == 0 {
		return []Finding{finding(layersPage, 0, "no heading begins with \"Walk: \": the walks are the reading order of the code")}
	}
	names := declared(t)
	for _, w := range walks {
		rows := tableUnder(page.Src, w[1])
		if len(rows) == 0 {
			found = append(found, finding(layersPage, 0, "no table of steps below the heading %q", w[1]))
		}
		for _, r := range rows {
			steps := spans(r.cells[0])
			if len(steps) == 0 {
				found = append(found, finding(layersPage, r.line, "no function in backticks in the first cell: a step of a walk is one function"))
			}
			for _, step := range steps {
				if !names[step] {
					found = append(found, finding(layersPage, r.line, "`%s` is neither a function nor a folder: follow the walk again and correct the step", step))
				}
			}
		}
	}
	return found
}

// declared returns all folders with sources, and their functions and methods,
// those of interfaces included, as folder.Func and folder.Type.Method.
func declared(t *Tree) map[string]bool {
	names := map[string]bool{}
	for f := range t.sources {
		names[f.Dir()] = true
		for _, d := range f.Go.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[f.Dir()+"."+receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					addMethods(names, f.Dir(), s)
				}
			}
		}
	}
	return names
}

// addMethods adds the methods of an interface.
func addMethods(names map[string]bool, dir string, s ast.Spec) {
	ts, ok := s.(*ast.TypeSpec)
	if !ok {
		return
	}
	if i, ok := ts.Type.(*ast.InterfaceType); ok {
		for _, m := range i.Methods.List {
			for _, n := range m.Names {
				names[dir+"."+ts.Name.Name+"."+n.Name] = true
			}
		}
	}
}

// receiver returns "T." for a method of T, *T or T[...], "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return ""
		}
	}
}
