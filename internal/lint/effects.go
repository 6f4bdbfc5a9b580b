package lint

import (
	"go/ast"
	"slices"
	"strings"
)

// effect is a way to reach the world outside the program.
type effect string

const (
	goroutines effect = "goroutine"
	clock      effect = "clock"
	files      effect = "file"
	randomness effect = "random number"
	logging    effect = "log"
)

// remedies say what to use instead of the effect.
var remedies = map[effect]string{
	goroutines: "give a Stepper to env.Runner, so that one goroutine can run everything in a simulation",
	clock:      "ask env.Clock, or say in Step's second result when to be stepped",
	files:      "use env.FS (connectors: env.FSFrom(ctx)), so that a simulation can crash between two writes",
	randomness: "take a named stream from env.Rand, so that a seed repeats the run",
	logging:    "return what happened; exec and the commands log it",
}

// doorways are the places where an effect is allowed, each with its reason.
var doorways = []struct {
	place   string // a file, or a pattern of folders: see within
	effects []effect
	reason  string
}{
	{"internal/env", []effect{goroutines, clock, files, randomness}, "it is the door that everybody else goes through"},
	{"buffers/waiter.go", []effect{clock}, "how a real worker sleeps; a simulated one never comes here"},
	{"internal/cores", []effect{files}, "reads which cores the machine and its control group allow"},
	{"exec", []effect{logging}, "it acts, so it tells what it did"},
	{"flow/async.go", []effect{clock}, "limits a call to something outside, which takes as long as it takes"},
	{"connectors/files", []effect{clock}, "begins a new part after a time; which record is in which part is no result"},
	{"connectors/generate", []effect{clock}, "paces its records by the wall clock, as a source outside would"},
	{"cmd/...", []effect{goroutines, clock, files, randomness, logging}, "programs: they are outside"},
	{"examples/...", []effect{goroutines, clock, files, randomness, logging}, "programs: they are outside"},
}

// effectCalls are the functions that reach outside, by import path.
var effectCalls = map[string]struct {
	effect effect
	names  string // separated by spaces; beginning with "!": all functions but these
}{
	"time":         {clock, "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker"},
	"context":      {clock, "WithTimeout WithTimeoutCause WithDeadline WithDeadlineCause"},
	"os":           {files, "Chdir Chmod Chown Chtimes CopyFS Create CreateTemp DirFS Lchown Link Lstat Mkdir MkdirAll MkdirTemp Open OpenFile OpenInRoot OpenRoot ReadDir ReadFile Readlink Remove RemoveAll Rename Stat Symlink Truncate WriteFile"},
	"io/ioutil":    {files, "!"},
	"math/rand":    {randomness, "!New NewSource NewZipf Rand Source Source64 Zipf"},
	"math/rand/v2": {randomness, "!New NewPCG NewChaCha8 NewZipf Rand Source PCG ChaCha8 Zipf"},
	"crypto/rand":  {randomness, "!"},
	"log":          {logging, "!"},
	"log/slog":     {logging, "Debug DebugContext Default Error ErrorContext Info InfoContext Log LogAttrs SetDefault Warn WarnContext"},
}

// checkEffects finds uses of the outside world that do not go through Env.
func checkEffects(t *Tree) (found []Finding) {
	for f := range t.sources {
		imports := f.imports()
		ast.Inspect(f.Go, func(n ast.Node) bool {
			what, name := effectOf(n, imports)
			if what != "" && !allowed(f, what) {
				found = append(found, finding(f.Path, t.line(n.Pos()), "%s is a hidden %s: %s", name, what, remedies[what]))
			}
			return true
		})
	}
	return found
}

func effectOf(n ast.Node, imports map[string]string) (what effect, name string) {
	if _, ok := n.(*ast.GoStmt); ok {
		return goroutines, "go"
	}
	pkg, name, ok := qualified(n, imports)
	if !ok {
		return "", ""
	}
	calls, ok := effectCalls[pkg]
	if !ok {
		return "", ""
	}
	others, inverse := strings.CutPrefix(calls.names, "!")
	if slices.Contains(strings.Fields(others), name) == inverse {
		return "", ""
	}
	return calls.effect, pkg + "." + name
}

func allowed(f *File, what effect) bool {
	for _, d := range doorways {
		if (d.place == f.Path || within(f.Dir(), d.place)) && slices.Contains(d.effects, what) {
			return true
		}
	}
	return false
}
