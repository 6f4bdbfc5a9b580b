package lint

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRepository applies every rule to this repository.
func TestRepository(t *testing.T) {
	tree := readTree(t, filepath.Join("..", ".."))
	if tree.Module == "" || len(tree.Files) < 20 {
		t.Fatalf("module %q with %d files: this is not the repository", tree.Module, len(tree.Files))
	}
	for _, r := range Rules() {
		t.Run(r.Name, func(t *testing.T) {
			for _, f := range r.Check(tree) {
				t.Error(f)
			}
			if t.Failed() {
				t.Log("why this rule: " + r.Why)
			}
		})
	}
}

// TestListsNameWhatIsThere keeps the exceptions of the rules from outliving
// what they were made for.
func TestListsNameWhatIsThere(t *testing.T) {
	tree := readTree(t, filepath.Join("..", ".."))
	var places []string
	for _, d := range doorways {
		places = append(places, d.place)
	}
	places = append(places, stepFiles...)
	places = slices.AppendSeq(places, maps.Keys(sleepers))
	for _, place := range places {
		if !slices.ContainsFunc(tree.Files, func(f *File) bool {
			return f.Path == place || within(f.Dir(), place) || matchesAny(f.Path, []string{place})
		}) {
			t.Errorf("%s is in a list of this package and not in the repository: delete or correct it", place)
		}
	}
	vars := packageVars(tree)
	for name := range knownVars {
		i := strings.LastIndex(name, ".")
		if vars[name[:i]][name[i+1:]] == nil {
			t.Errorf("variable %s is in knownVars and not in the repository: delete or correct it", name)
		}
	}
}

// skipped are folders that hold no sources of ours: the history, what is
// built, and the data that tests and examples read.
var skipped = map[string]bool{".git": true, "bin": true, "out": true, "testdata": true, "node_modules": true}

// maxText is the size in bytes above which a file is data, not text that
// somebody wrote.
const maxText = 1 << 20

func readTree(t *testing.T, root string) *Tree {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped[d.Name()] {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		files[name] = "" // so that links to it are not broken
		if info.Size() > maxText || isData(name) {
			return nil
		}
		data, err := fs.ReadFile(os.DirFS(root), name)
		if err == nil && IsText(data) {
			files[name] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatalf("read the tree below %s: %v", root, err)
	}
	return NewTree(files)
}

// isData tells whether a file was not written by hand here.
func isData(name string) bool {
	switch path.Ext(name) {
	case ".csv", ".json", ".jsonl", ".gz", ".zst", ".parquet", ".svg", ".sum":
		return true
	}
	return strings.HasPrefix(name, "profiles/")
}
