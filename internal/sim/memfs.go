package sim

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailrace-io/tailrace/internal/env"
)

// MemFS is a file system in memory. What is written is there at once; it knows
// no crash. It belongs to the goroutine of the simulation.
type MemFS struct {
	files map[string]*memData
	dirs  map[string]bool
}

type memData struct {
	bytes []byte
	perm  fs.FileMode
}

// NewMemFS returns a file system with an empty root.
func NewMemFS() *MemFS {
	return &MemFS{files: map[string]*memData{}, dirs: map[string]bool{"/": true, ".": true}}
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Open implements env.FS.
func (m *MemFS) Open(name string) (env.File, error) {
	d := m.files[filepath.Clean(name)]
	if d == nil {
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	return &memFile{name: name, data: d}, nil
}

// Create implements env.FS.
func (m *MemFS) Create(name string, perm fs.FileMode) (env.File, error) {
	clean := filepath.Clean(name)
	switch {
	case m.files[clean] != nil || m.dirs[clean]:
		return nil, pathError("open", name, fs.ErrExist)
	case !m.dirs[filepath.Dir(clean)]:
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	d := &memData{perm: perm}
	m.files[clean] = d
	return &memFile{name: name, data: d, writes: true}, nil
}

// Rename implements env.FS, for files.
func (m *MemFS) Rename(from, to string) error {
	d := m.files[filepath.Clean(from)]
	switch {
	case d == nil:
		return pathError("rename", from, fs.ErrNotExist)
	case !m.dirs[filepath.Dir(filepath.Clean(to))]:
		return pathError("rename", to, fs.ErrNotExist)
	}
	delete(m.files, filepath.Clean(from))
	m.files[filepath.Clean(to)] = d
	return nil
}

// Remove implements env.FS.
func (m *MemFS) Remove(name string) error {
	clean := filepath.Clean(name)
	switch {
	case m.files[clean] != nil:
		delete(m.files, clean)
		return nil
	case !m.dirs[clean]:
		return pathError("remove", name, fs.ErrNotExist)
	case len(m.names(clean)) > 0:
		return pathError("remove", name, fs.ErrExist)
	}
	delete(m.dirs, clean)
	return nil
}

// MkdirAll implements env.FS.
func (m *MemFS) MkdirAll(name string, _ fs.FileMode) error {
	for dir := filepath.Clean(name); !m.dirs[dir]; dir = filepath.Dir(dir) {
		if m.files[dir] != nil {
			return pathError("mkdir", dir, fs.ErrExist)
		}
		m.dirs[dir] = true
	}
	return nil
}

// names lists the entries of a directory, sorted.
func (m *MemFS) names(dir string) (found []string) {
	for name := range m.files {
		if filepath.Dir(name) == dir {
			found = append(found, name)
		}
	}
	for name := range m.dirs {
		if name != dir && filepath.Dir(name) == dir {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// ReadDir implements env.FS.
func (m *MemFS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	clean := filepath.Clean(name)
	if !m.dirs[clean] {
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	for _, path := range m.names(clean) {
		info, err := m.Stat(path)
		if err != nil {
			return nil, err
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	return entries, nil
}

// Stat implements env.FS.
func (m *MemFS) Stat(name string) (fs.FileInfo, error) {
	clean := filepath.Clean(name)
	if m.dirs[clean] {
		return memInfo{name: filepath.Base(clean), dir: true}, nil
	}
	if d := m.files[clean]; d != nil {
		return memInfo{name: filepath.Base(clean), size: int64(len(d.bytes)), perm: d.perm}, nil
	}
	return nil, pathError("stat", name, fs.ErrNotExist)
}

// SyncDir implements env.FS: everything is durable.
func (m *MemFS) SyncDir(string) error { return nil }

// Files lists all files, sorted.
func (m *MemFS) Files() (names []string) {
	for name := range m.files {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

// memFile is an open file of a MemFS.
type memFile struct {
	name   string
	data   *memData
	at     int
	writes bool
	closed bool
}

func (f *memFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, int64(f.at))
	f.at += n
	if n > 0 {
		return n, nil
	}
	return 0, err
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if f.closed {
		return 0, pathError("read", f.name, fs.ErrClosed)
	}
	return bytes.NewReader(f.data.bytes).ReadAt(p, off)
}

func (f *memFile) Write(p []byte) (int, error) {
	switch {
	case f.closed:
		return 0, pathError("write", f.name, fs.ErrClosed)
	case !f.writes:
		return 0, pathError("write", f.name, fs.ErrPermission)
	}
	f.data.bytes = append(f.data.bytes, p...)
	return len(p), nil
}

func (f *memFile) Sync() error { return nil }

func (f *memFile) Close() error {
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	return nil
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	return memInfo{name: filepath.Base(f.name), size: int64(len(f.data.bytes)), perm: f.data.perm}, nil
}

var _ io.ReaderAt = (*memFile)(nil)

// memInfo implements fs.FileInfo. Times are not kept.
type memInfo struct {
	name string
	size int64
	perm fs.FileMode
	dir  bool
}

func (i memInfo) Name() string { return i.name }
func (i memInfo) Size() int64  { return i.size }
func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return i.perm
}
func (i memInfo) ModTime() time.Time { return epoch }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) Sys() any           { return nil }
