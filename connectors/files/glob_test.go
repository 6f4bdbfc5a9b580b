package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGlobs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "b.csv", ".hidden.txt", "sub/c.txt", "sub/deep/d.txt", ".secret/e.txt", "odd[1].txt", "sub.txt/f"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name  string
		globs []string
		want  string
	}{
		{"a name", []string{"a.txt"}, "a.txt"},
		{"a star stays in its directory and finds files only", []string{"*.txt"}, "a.txt odd[1].txt"},
		{"two stars cross directories", []string{"**/*.txt"}, "a.txt odd[1].txt sub/c.txt sub/deep/d.txt"},
		{"alternatives", []string{"{a,b}.*"}, "a.txt b.csv"},
		{"a class", []string{"[ab].*"}, "a.txt b.csv"},
		{"a name that looks like a class", []string{"odd[1].txt"}, "odd[1].txt"},
		{"hidden files when they are asked for", []string{".hidden.*"}, ".hidden.txt"},
		{"several globs, each file once", []string{"**/c.txt", "sub/*", "a.txt"}, "a.txt sub/c.txt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var globs []string
			for _, g := range tt.globs {
				globs = append(globs, filepath.Join(dir, filepath.FromSlash(g)))
			}
			found, err := expand(context.Background(), globs, false)
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range found {
				found[i] = strings.TrimPrefix(name, filepath.ToSlash(dir)+"/")
			}
			if got := strings.Join(found, " "); got != tt.want {
				t.Errorf("found %s, want %s", got, tt.want)
			}
		})
	}
}
