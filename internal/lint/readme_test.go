package lint

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTheProgramOfTheReadmeCountsWords compiles the program that newcomers copy
// first, as a package of this module, and runs it.
func TestTheProgramOfTheReadmeCountsWords(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := build(t, root, dir, programIn(t, filepath.Join(root, "README.md")))

	write(t, filepath.Join(dir, "in", "a.txt"), "the mill and\nthe race\n")
	write(t, filepath.Join(dir, "in", "deep", "b.txt"), "the end")
	cmd := exec.Command(program)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run the program of the README: %v\n%s", err, out)
	}
	want := []string{"and,1", "end,1", "mill,1", "race,1", "the,3"}
	if got := counted(t, filepath.Join(dir, "out")); !slices.Equal(got, want) {
		t.Errorf("counted %q, wanted %q", got, want)
	}
}

// programIn returns the first block of a page that is a whole program.
func programIn(t *testing.T, page string) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(data), "```go\npackage main\n")
	program, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s has no block that begins with package main", page)
	}
	return "package main\n" + program
}

// build compiles src in a folder of the module that exists for the compiler only.
func build(t *testing.T, root, dir, src string) (program string) {
	t.Helper()
	file := filepath.Join(dir, "main.go")
	write(t, file, src)
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, "examples", "readme", "main.go"): file},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program = filepath.Join(dir, "program.exe")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./examples/readme")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compile the program of the README: %v\n%s", err, out)
	}
	return program
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// counted returns the rows of all files in out, sorted, without their headers.
func counted(t *testing.T, out string) (rows []string) {
	t.Helper()
	parts, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		data, err := os.ReadFile(filepath.Join(out, p.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range strings.Fields(string(data)) {
			if i > 0 {
				rows = append(rows, row)
			}
		}
	}
	slices.Sort(rows)
	return rows
}
