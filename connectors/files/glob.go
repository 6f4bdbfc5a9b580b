package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tailrace-io/tailrace/internal/env"
)

// expand returns the files that globs match, sorted and each once. A glob that
// matches none is an error unless allowEmpty.
func expand(ctx context.Context, globs []string, allowEmpty bool) ([]string, error) {
	fsys := env.FSFrom(ctx)
	var all []string
	for _, glob := range globs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := expandOne(fsys, glob)
		if err != nil {
			return nil, fmt.Errorf("find files of %q: %w", glob, err)
		}
		if len(found) == 0 && !allowEmpty {
			return nil, fmt.Errorf("find files of %q: no file matches", glob)
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func expandOne(fsys env.FS, glob string) ([]string, error) {
	pattern := path.Clean(filepath.ToSlash(glob))
	// A name is tried as it stands first, so that files with brackets in
	// their names can be read.
	info, err := fsys.Stat(filepath.FromSlash(pattern))
	switch {
	case err == nil && info.IsDir():
		return nil, errors.New("is a directory: name the files in it, such as " + path.Join(pattern, "*"))
	case err == nil:
		return []string{pattern}, nil
	}
	if !doublestar.ValidatePattern(pattern) {
		return nil, doublestar.ErrBadPattern
	}
	base, rest := doublestar.SplitPattern(pattern)
	if rest == path.Base(pattern) && !hasMeta(rest) {
		return nil, err // a plain name: say what is wrong with it
	}
	if _, err := fsys.Stat(filepath.FromSlash(base)); err != nil {
		return nil, err
	}
	names, err := doublestar.Glob(globFS{fsys, base}, rest,
		doublestar.WithFilesOnly(), doublestar.WithFailOnIOErrors(), doublestar.WithNoHidden())
	for i, name := range names {
		names[i] = path.Join(base, name)
	}
	return names, err
}

func hasMeta(pattern string) bool {
	for i := range len(pattern) {
		switch pattern[i] {
		case '*', '?', '[', '{', '\\':
			return true
		}
	}
	return false
}

// globFS shows a directory of an env.FS to doublestar as an fs.FS.
type globFS struct {
	fsys env.FS
	base string
}

func (g globFS) name(name string) string { return filepath.FromSlash(path.Join(g.base, name)) }

func (g globFS) Open(name string) (fs.File, error)          { return g.fsys.Open(g.name(name)) }
func (g globFS) Stat(name string) (fs.FileInfo, error)      { return g.fsys.Stat(g.name(name)) }
func (g globFS) ReadDir(name string) ([]fs.DirEntry, error) { return g.fsys.ReadDir(g.name(name)) }
