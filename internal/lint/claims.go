package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

const (
	claimsPage    = "docs/claims.md"
	claimsHeading = "Claims"
	benchFolder   = "cmd/bench"
)

// checkClaims wants a proof for each claim: tests that exist, as
// `folder.TestName`, or rows of the benchmark, as `bench: suite/row`.
func checkClaims(t *Tree) (found []Finding) {
	page := t.file(claimsPage)
	if page == nil {
		return []Finding{finding(claimsPage, 0, "the page is missing: it says which test proves each promise")}
	}
	rows := tableUnder(page.Src, claimsHeading)
	if len(rows) == 0 {
		return []Finding{finding(claimsPage, 0, "no table of claims below the heading %q", claimsHeading)}
	}
	tests, suites := testNames(t), stringsIn(t, benchFolder)
	for _, r := range rows {
		if len(r.cells) != 3 {
			found = append(found, finding(claimsPage, r.line, "%d cells, wanted 3: claim, where promised, proven by", len(r.cells)))
			continue
		}
		proofs := spans(r.cells[2])
		if len(proofs) == 0 {
			found = append(found, finding(claimsPage, r.line, "no proof: name a test or a bench row in backticks, or take the promise back"))
		}
		for _, proof := range proofs {
			if why := disproved(proof, tests, suites); why != "" {
				found = append(found, finding(claimsPage, r.line, "%s", why))
			}
		}
	}
	return found
}

func disproved(proof string, tests, suites map[string]bool) string {
	if bench, ok := strings.CutPrefix(proof, "bench: "); ok {
		suite, _, _ := strings.Cut(bench, "/")
		if !suites[suite] {
			return "`" + proof + "`: " + benchFolder + " knows no suite \"" + suite + "\": correct the name, or add the suite"
		}
		return ""
	}
	if !tests[proof] {
		return "`" + proof + "` is no test in this tree: write folder.TestName, or write the test"
	}
	return ""
}

// testName is what go test runs and a claim may name.
var testName = regexp.MustCompile(`^(Test|Fuzz|Example)($|[^a-z])`)

// testNames returns the test functions of the tree as folder.Name.
func testNames(t *Tree) map[string]bool {
	names := map[string]bool{}
	for _, f := range t.Files {
		if f.Go == nil || !f.IsTest() {
			continue
		}
		for _, d := range f.Go.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testName.MatchString(fn.Name.Name) && fn.Name.Name != "TestMain" {
				names[f.Dir()+"."+fn.Name.Name] = true
			}
		}
	}
	return names
}

// stringsIn returns the string constants in the sources at and below a folder:
// the name of a suite is one of them.
func stringsIn(t *Tree, folder string) map[string]bool {
	values := map[string]bool{}
	for f := range t.sources {
		if !within(f.Dir(), folder+"/...") {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					values[s] = true
				}
			}
			return true
		})
	}
	return values
}
