package lint

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// good is a small repository without a violation. The cases below change one
// file of it each.
var good = map[string]string{
	"go.mod":                  "module m\n\nrequire (\n\tx.org/hash v1.2.0\n\tx.org/hash/deep v0.1.0 // indirect\n)\n",
	"tools/go.mod":            "module m/tools\n\ntool x.org/check/cmd/check\n\nrequire x.org/check v0.3.0 // indirect\n",
	"flow/flow.go":            "// Package flow describes.\npackage flow\n\nimport (\n\t\"errors\"\n\n\t\"m/internal/table\"\n)\n\n// ErrBad is bad.\nvar ErrBad = errors.New(\"bad\")\n\nvar _ table.T\n",
	"flow/flow_test.go":       "package flow\n\nimport (\n\t\"testing\"\n\n\t\"m/exec\"\n)\n\nfunc TestFlows(t *testing.T) { exec.Run() }\n",
	"exec/run.go":             "// Package exec acts.\npackage exec\n\nimport (\n\t_ \"m/flow\"\n\n\t\"x.org/hash/fast\"\n)\n\n// Run runs.\nfunc Run() { fast.Sum() }\n\n// Job is a job.\ntype Job[T any] struct{}\n\nfunc (*Job[T]) Wait() {}\n\n// Observer sees.\ntype Observer interface{ See() }\n",
	"internal/table/table.go": "// Package table has tables.\npackage table\n\n// T is a table.\ntype T int\n",
	"cmd/bench/main.go":       "// Command bench measures.\npackage main\n\nvar suites = []string{\"ring\"}\n\nfunc main() { go println(suites[0]) }\n",
	"docs/architecture.md": "# Shape\n\n## Layers\n\n| package | knows | may import |\n|---|---|---|\n" +
		"| `flow` | says | `internal/table` |\n| `exec` | acts | `flow`, `internal/...` |\n| `internal/table` | tables | – |\n| `cmd/...` | runs | `...` |\n\n" +
		"## Walk: a record\n\n| step | what |\n|---|---|\n| `exec.Run` | runs |\n| `exec.Job.Wait`, `exec.Observer.See` | end |\n| `flow` | says |\n",
	"docs/claims.md": "# What holds\n\n## Claims\n\n| claim | where | proven by |\n|---|---|---|\n" +
		"| it flows | [shape](architecture.md#layers) | `flow.TestFlows`, `bench: ring/push` |\n",
	"docs/dependencies.md": "## Modules\n\n| m | v | l | for | why |\n|---|---|---|---|---|\n| `x.org/hash` | v1.2.0 | MIT | keys | tested |\n\n" +
		"## Tools\n\n| m | v | l | for | why |\n|---|---|---|---|---|\n| `x.org/check` | v0.3.0 | MIT | checks | it knows Go |\n",
	"README.md": "See [the shape](docs/architecture.md#layers), `[not](a-link)` and [the web](https://x.org).\n",
}

func TestARepositoryWithoutViolationPasses(t *testing.T) {
	tree := NewTree(good)
	for _, r := range Rules() {
		for _, f := range r.Check(tree) {
			t.Errorf("found in a good tree: %v", f)
		}
	}
}

// planted is a change to one file of the good repository.
type planted struct {
	name string
	rule string
	path string
	src  string // of the file; beginning with "+": appended to the good one
	want string // path:line of the only finding, "" for none
	text string // part of it
}

func TestPlantedViolationsAreFound(t *testing.T) {
	for _, cases := range [][]planted{layoutCases(), effectCases(), stateCases(), textCases()} {
		for _, c := range cases {
			t.Run(c.rule+": "+c.name, func(t *testing.T) { checkPlanted(t, c) })
		}
	}
}

func checkPlanted(t *testing.T, c planted) {
	files := maps.Clone(good)
	files[c.path] = c.src
	if more, ok := strings.CutPrefix(c.src, "+"); ok {
		files[c.path] = good[c.path] + more
	}
	tree := NewTree(files)
	checked := false
	for _, r := range Rules() {
		if r.Name != c.rule {
			continue
		}
		checked = true
		found := r.Check(tree)
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("found %v, wanted nothing", found)
		case c.want != "" && len(found) != 1:
			t.Errorf("found %d, wanted one at %s: %v", len(found), c.want, found)
		case c.want != "":
			at := found[0].Path
			if found[0].Line > 0 {
				at = fmt.Sprintf("%s:%d", at, found[0].Line)
			}
			if at != c.want || !strings.Contains(found[0].Text, c.text) {
				t.Errorf("found %v\nwanted at %s: %s", found[0], c.want, c.text)
			}
		}
	}
	if !checked {
		t.Fatalf("there is no rule %q", c.rule)
	}
}

// source is a Go file of package p with a body.
func source(pkg, imports, body string) string {
	src := "package " + pkg + "\n\n"
	if imports != "" {
		src += "import " + imports + "\n\n"
	}
	return src + body + "\n"
}

func layoutCases() []planted {
	long := "func long() {\n" + strings.Repeat("\t_ = 0\n", 69) + "}"
	return []planted{
		{"broken Go", "parse", "exec/x.go", "package exec\nfunc {", "exec/x.go", "expected"},
		{"flow on exec", "imports", "flow/x.go", source("flow", `"m/exec"`, ""), "flow/x.go:3", "flow may not import exec"},
		{"a pattern covers what is below it", "imports", "exec/x.go", source("exec", `"m/internal/table"`, ""), "", ""},
		{"a pattern ends at a slash", "imports", "exec/x.go", source("exec", `"m/internalish"`, ""), "exec/x.go:3", "may not import internalish"},
		{"a package without a row", "imports", "extra/x.go", "// Package extra is.\npackage extra\n", "extra/x.go", "has no row"},
		{"no table", "imports", "docs/architecture.md", "# Shape\n", "docs/architecture.md", "no import table"},
		{"tests import what they need", "imports", "flow/y_test.go", source("flow", `"m/exec"`, ""), "", ""},
		{"a step that is gone", "walks", "docs/architecture.md", "+| `exec.Gone` | went |\n", "docs/architecture.md:19", "neither a function nor a folder"},
		{"a step without a function", "walks", "docs/architecture.md", "+| exec | goes |\n", "docs/architecture.md:19", "no function in backticks"},
		{"no walks", "walks", "docs/architecture.md", "# Shape\n", "docs/architecture.md", "reading order"},
		{"a long file", "sizes", "exec/x.go", "package exec\n" + strings.Repeat("\n", 400), "exec/x.go", "401 lines"},
		{"a file at the limit", "sizes", "exec/x.go", "package exec\n" + strings.Repeat("\n", 399), "", ""},
		{"a long generated file", "sizes", "exec/x.go", "// Code generated by x. DO NOT EDIT.\n\npackage exec\n" + strings.Repeat("\n", 400), "", ""},
		{"a long test", "sizes", "exec/x_test.go", "package exec\n" + strings.Repeat("\n", 400), "", ""},
		{"a long function", "sizes", "exec/x.go", source("exec", "", long), "exec/x.go:3", "func long has 71 lines"},
		{"a function at the limit", "sizes", "exec/x.go", source("exec", "", strings.Replace(long, "\t_ = 0\n", "", 1)), "", ""},
		{"no door", "doors", "state/x.go", "package state\n", "state/x.go", "no door comment"},
		{"two doors", "doors", "exec/x.go", "// Package exec also does.\npackage exec\n", "exec/run.go", "2 door comments"},
		{"a door of another form", "doors", "state/x.go", "// State is.\npackage state\n", "state/x.go:1", "begins with"},
		{"an exported function without a word", "doors", "exec/x.go", source("exec", "", "func Stop() {}"), "exec/x.go:3", "Stop is exported"},
		{"an exported type without a word", "doors", "exec/x.go", source("exec", "", "type Job int"), "exec/x.go:3", "Job is exported"},
		{"internal packages may be terse", "doors", "internal/table/x.go", source("table", "", "func Stop() {}"), "", ""},
		{"methods may be terse", "doors", "exec/x.go", source("exec", "", "type e int\n\nfunc (e) Error() string { return \"\" }"), "", ""},
	}
}

func effectCases() []planted {
	return []planted{
		{"a goroutine", "effects", "exec/x.go", source("exec", "", "func f() { go f() }"), "exec/x.go:3", "hidden goroutine"},
		{"a clock", "effects", "exec/x.go", source("exec", `"time"`, "var _ = time.Now"), "exec/x.go:5", "time.Now is a hidden clock"},
		{"a clock under another name", "effects", "exec/x.go", source("exec", `tm "time"`, "var _ = tm.Sleep"), "exec/x.go:5", "time.Sleep is a hidden clock"},
		{"a duration is no clock", "effects", "exec/x.go", source("exec", `"time"`, "var _ = time.Second"), "", ""},
		{"a variable is no package", "effects", "exec/x.go", source("exec", `"time"`, "var _ time.Month\n\nfunc f(time interface{ Now() }) { time.Now() }"), "", ""},
		{"a timeout", "effects", "exec/x.go", source("exec", `"context"`, "var _ = context.WithTimeout"), "exec/x.go:5", "hidden clock"},
		{"a file", "effects", "exec/x.go", source("exec", `"os"`, "var _ = os.ReadFile"), "exec/x.go:5", "hidden file"},
		{"an error of os is no file", "effects", "exec/x.go", source("exec", `"os"`, "var _ = os.ErrNotExist"), "", ""},
		{"the global random numbers", "effects", "exec/x.go", source("exec", `"math/rand/v2"`, "var _ = rand.IntN"), "exec/x.go:5", "hidden random number"},
		{"a stream of random numbers", "effects", "exec/x.go", source("exec", `"math/rand/v2"`, "var _ = rand.NewPCG"), "", ""},
		{"a log below exec", "effects", "state/x.go", source("state", `"log/slog"`, "var _ = slog.Info"), "state/x.go:5", "hidden log"},
		{"a log in exec", "effects", "exec/x.go", source("exec", `"log/slog"`, "var _ = slog.Info"), "", ""},
		{"the door is the door", "effects", "internal/env/x.go", source("env", `"time"`, "var _ = time.Now"), "", ""},
		{"programs are outside", "effects", "cmd/x/x.go", source("main", `"time"`, "var _ = time.Now"), "", ""},
		{"tests may", "effects", "exec/x_test.go", source("exec", `"time"`, "var _ = time.Now"), "", ""},
		{"a lock in a ring", "waits", "buffers/x.go", source("buffers", `"sync"`, "type r struct{ m sync.Mutex }"), "buffers/x.go:5", "sync.Mutex can block"},
		{"a channel in a ring", "waits", "buffers/x.go", source("buffers", "", "type r struct{ c chan int }"), "buffers/x.go:3", "a channel can block"},
		{"a receive in a task", "waits", "exec/task_x.go", source("exec", "", "func f(c C) { <-c }"), "exec/task_x.go:3", "a channel receive can block"},
		{"a select in a task", "waits", "exec/task.go", source("exec", "", "func f() { select {} }"), "exec/task.go:3", "select can block"},
		{"a pool may be asked", "waits", "exec/task.go", source("exec", `"sync"`, "type r struct{ p *sync.Pool }"), "", ""},
		{"off the worker one may wait", "waits", "exec/writer.go", source("exec", "", "func f() { select {} }"), "", ""},
	}
}

func stateCases() []planted {
	return []planted{
		{"init", "globals", "exec/x.go", source("exec", "", "func init() {}"), "exec/x.go:3", "init runs where nobody called it"},
		{"a table in flow", "globals", "flow/x.go", source("flow", "", "var names = [2]string{}"), "flow/x.go:3", "package variable of flow"},
		{"a type in flow", "globals", "flow/x.go", source("flow", `"reflect"`, "var intType = reflect.TypeFor[int]()"), "", ""},
		{"a table elsewhere", "globals", "exec/x.go", source("exec", "", "var names = [2]string{}"), "", ""},
		{"a written table", "globals", "exec/x.go", source("exec", "", "var names [2]string\n\nfunc f() { names[0] = \"\" }"), "exec/x.go:5", "names is written"},
		{"a counter", "globals", "exec/x.go", source("exec", "", "var n int\n\nfunc f() { n++ }"), "exec/x.go:5", "n is written"},
		{"an address", "globals", "exec/x.go", source("exec", "", "var n int\n\nfunc f() *int { return &n }"), "exec/x.go:5", "n is written"},
		{"a local variable of that name", "globals", "exec/x.go", source("exec", "", "var n int\n\nfunc f() { n := 0; n++ }"), "", ""},
		{"a pool", "globals", "exec/x.go", source("exec", `"sync"`, "var pool = sync.Pool{}"), "exec/x.go:5", "all jobs of the process share"},
		{"an atomic", "globals", "exec/x.go", source("exec", `"sync/atomic"`, "var n atomic.Int64"), "exec/x.go:5", "all jobs of the process share"},
		{"a late constant", "globals", "exec/x.go", source("exec", `"sync"`, "var table = sync.OnceValue(f)"), "", ""},
		{"flags of a program", "globals", "cmd/bench/x.go", source("main", "", "var n int\n\nfunc f() { n++ }"), "", ""},
	}
}

func textCases() []planted {
	row := func(cells string) string { return "+| " + cells + " |\n" }
	return []planted{
		{"a claim without proof", "claims", "docs/claims.md", row("fast | here | surely"), "docs/claims.md:8", "no proof"},
		{"a test that is not there", "claims", "docs/claims.md", row("fast | here | `flow.TestGone`"), "docs/claims.md:8", "is no test"},
		{"a helper of a test", "claims", "flow/flow_test.go", source("flow", "", "func Testify() {}"), "docs/claims.md:7", "is no test"},
		{"a suite that is not there", "claims", "docs/claims.md", row("fast | here | `bench: gone/x`"), "docs/claims.md:8", "no suite"},
		{"a row of another shape", "claims", "docs/claims.md", row("fast | here"), "docs/claims.md:8", "2 cells"},
		{"no claims", "claims", "docs/claims.md", "# What holds\n", "docs/claims.md", "no table"},
		{"unfinished work", "words", "README.md", "+a\nTO" + "DO: more\n", "README.md:3", "do it"},
		{"a path of one machine", "words", "Makefile", "all:\n\tls /ho" + "me/me\n", "Makefile:2", "one machine"},
		{"a path in a repository", "words", "README.md", "+see x/ho" + "me/me and https://x.org/wo" + "rk/x\n", "", ""},
		{"a number of a complaint", "words", "exec/x.go", "package exec // iss" + "ue #12\n", "exec/x.go:1", "say what was wrong"},
		{"a test that is skipped", "words", "exec/x_test.go", source("exec", "", "func f(t T) { t.Sk"+"ip() }"), "exec/x_test.go:3", "proves nothing"},
		{"a policy that skips", "words", "exec/x_test.go", source("exec", "", "var _ = flow.Skip(3)"), "", ""},
		{"a broken link", "links", "README.md", "+[x](docs/gone.md)\n", "README.md:2", "there is no docs/gone.md"},
		{"a broken heading", "links", "README.md", "+[x](docs/architecture.md#gone)\n", "README.md:2", "no such heading"},
		{"a link from a folder", "links", "docs/x.md", "[up](../README.md) [folder](../exec)\n", "", ""},
		{"a link in code", "links", "README.md", "+```\n[x](gone.md)\n```\n", "", ""},
		{"a new module", "dependencies", "exec/x.go", source("exec", `"x.org/hash/deep"`, ""), "docs/dependencies.md", "x.org/hash/deep of go.mod has no row"},
		{"a module out of use", "dependencies", "exec/run.go", "package exec\n", "docs/dependencies.md:5", "nothing here uses"},
		{"a new version", "dependencies", "go.mod", "module m\n\nrequire x.org/hash v1.3.0\n", "docs/dependencies.md:5", "is v1.3.0"},
		{"a new version of a tool", "dependencies", "tools/go.mod", "module m/tools\n\ntool x.org/check\n\nrequire x.org/check v0.4.0\n", "docs/dependencies.md:11", "is v0.4.0"},
	}
}
