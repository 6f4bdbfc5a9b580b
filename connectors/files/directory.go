package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/tailrace-io/tailrace/internal/env"
)

// directory is where a sink puts its parts.
type directory struct {
	path      string
	extension string
}

var (
	partName      = regexp.MustCompile(`^part-(\d{5,})-(\d{4,})\.`)
	temporaryName = regexp.MustCompile(`^\.part-\d{5,}-\d{4,}\..*\.inprogress-\d+$`)
)

// check creates the directory, does away with old parts as the options say, and
// proves that files can be written.
func (d directory) check(fsys env.FS, existing existingParts) error {
	if err := fsys.MkdirAll(d.path, 0o755); err != nil {
		return fmt.Errorf("create output directory: %w", err)
	}
	entries, err := fsys.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("list output directory: %w", err)
	}
	removed := false
	for _, e := range entries {
		name := e.Name()
		switch {
		case partName.MatchString(name) && existing == refuseParts:
			return fmt.Errorf("output directory %s has %s from before: remove it, or use Append or Overwrite", d.path, name)
		case existing == removeParts && (partName.MatchString(name) || temporaryName.MatchString(name)):
			if err := fsys.Remove(filepath.Join(d.path, name)); err != nil {
				return fmt.Errorf("remove what was written before: %w", err)
			}
			removed = true
		}
	}
	if removed {
		if err := fsys.SyncDir(d.path); err != nil {
			return fmt.Errorf("remove what was written before: %w", err)
		}
	}
	return d.probe(fsys)
}

func (d directory) probe(fsys env.FS) error {
	f, name, err := createFresh(fsys, filepath.Join(d.path, ".writable-"))
	if err == nil {
		err = errors.Join(f.Close(), fsys.Remove(name))
	}
	if err != nil {
		return fmt.Errorf("output directory cannot be written to: %w", err)
	}
	return nil
}

// maxFresh bounds the search for a free temporary name.
const maxFresh = 10000

// createFresh creates the file prefix0, or with the next number that is free:
// what a dead run left is never written into.
func createFresh(fsys env.FS, prefix string) (f env.File, name string, err error) {
	for i := range maxFresh {
		name = prefix + strconv.Itoa(i)
		f, err = fsys.Create(name, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, name, err
		}
	}
	return nil, "", err
}

// nextSequence is the number after the last part of a task.
func (d directory) nextSequence(fsys env.FS, task int) (int, error) {
	if err := fsys.MkdirAll(d.path, 0o755); err != nil {
		return 0, err
	}
	entries, err := fsys.ReadDir(d.path)
	if err != nil {
		return 0, err
	}
	next := 0
	for _, e := range entries {
		m := partName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		owner, err1 := strconv.Atoi(m[1])
		sequence, err2 := strconv.Atoi(m[2])
		if err1 == nil && err2 == nil && owner == task {
			next = max(next, sequence+1)
		}
	}
	return next, nil
}

// newPart begins the part of that task and sequence number.
func (d directory) newPart(fsys env.FS, task, sequence int, c Compression) (*part, error) {
	base := fmt.Sprintf("part-%05d-%04d%s", task, sequence, d.extension)
	f, temporary, err := createFresh(fsys, filepath.Join(d.path, "."+base+".inprogress-"))
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", filepath.Join(d.path, base), err)
	}
	p := &part{fsys: fsys, dir: d.path, temporary: temporary, name: filepath.Join(d.path, base), begun: time.Now(), file: f}
	if err := p.open(c); err != nil {
		return nil, errors.Join(p.failure(err), p.discard())
	}
	return p, nil
}
