package lint

import (
	"go/ast"
	"strings"
)

// checkDoors wants a package comment at every door, and a comment on what a
// public package exports.
func checkDoors(t *Tree) (found []Finding) {
	doors := map[string]int{}
	var first []*File // of each folder, in order
	for f := range t.sources {
		if _, seen := doors[f.Dir()]; !seen {
			doors[f.Dir()] = 0
			first = append(first, f)
		}
		if f.Go.Doc != nil && f.Go.Doc.Text() != "" {
			doors[f.Dir()]++
			found = append(found, checkDoor(t, f)...)
		}
		if isPublic(f) {
			found = append(found, undocumented(t, f)...)
		}
	}
	for _, f := range first {
		switch n := doors[f.Dir()]; {
		case n == 0:
			found = append(found, finding(f.Path, 0, "package %s has no door comment: say in a sentence above the package clause what it knows", f.Go.Name.Name))
		case n > 1:
			found = append(found, finding(f.Path, 0, "package %s has %d door comments: keep the one that a reader should see first", f.Go.Name.Name, n))
		}
	}
	return found
}

// checkDoor holds a door comment to the form that go doc expects.
func checkDoor(t *Tree, f *File) []Finding {
	want := "Package " + f.Go.Name.Name + " "
	if f.Go.Name.Name == "main" {
		want = "Command "
	}
	if strings.HasPrefix(f.Go.Doc.Text(), want) {
		return nil
	}
	return []Finding{finding(f.Path, t.line(f.Go.Doc.Pos()), "a door comment begins with %q", want)}
}

// isPublic tells whether users compile against the package of f.
func isPublic(f *File) bool {
	return f.Go.Name.Name != "main" && !strings.HasPrefix(f.Path, "internal/") && !strings.Contains(f.Path, "/internal/")
}

// undocumented finds exported functions and types without a comment. Methods
// are left to judgement: an Error or a String says all with its name.
func undocumented(t *Tree, f *File) (found []Finding) {
	complain := func(n ast.Node, name string) {
		found = append(found, finding(f.Path, t.line(n.Pos()),
			"%s is exported and has no comment: say what it does, its units, errors, ownership and concurrency where they matter", name))
	}
	for _, d := range f.Go.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() && d.Doc == nil {
				complain(d, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				ts, ok := s.(*ast.TypeSpec)
				if ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil && ts.Comment == nil {
					complain(ts, ts.Name.Name)
				}
			}
		}
	}
	return found
}
