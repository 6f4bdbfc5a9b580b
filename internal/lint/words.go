package lint

import (
	"regexp"
	"strings"
)

// unwanted are texts that must not be committed. The patterns are put together
// from parts so that this file does not contain what it forbids.
var unwanted = []struct {
	pattern  *regexp.Regexp
	testOnly bool // looked for in Go tests only
	do       string
}{
	{regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`), false, "do it, or describe the limit as it is"},
	{regexp.MustCompile(`(^|[^\w.])/(work|home|root|Users|tmp)` + `/\w`), false, "a path of one machine: make it relative, or take it from t.TempDir or a flag"},
	{regexp.MustCompile(`(?i)\bissue` + `s? #?\d`), false, "say what was wrong, not the number under which it was filed"},
	{regexp.MustCompile(`\b(t|b|tb|f)\.Ski` + `p(f|Now)?\(`), true, "a test that does not run proves nothing: make it run, choose the file by build tag, or delete it"},
}

// checkWords reads every text file of the tree.
func checkWords(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		number := 0
		for line := range strings.Lines(f.Src) {
			number++
			for _, u := range unwanted {
				if u.testOnly && !f.IsTest() {
					continue
				}
				if m := u.pattern.FindString(line); m != "" {
					found = append(found, finding(f.Path, number, "%q: %s", strings.TrimSpace(m), u.do))
				}
			}
		}
	}
	return found
}
