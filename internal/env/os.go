package env

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// OS is the operating system's file system.
type OS struct{}

func (OS) Open(name string) (File, error) { return wrapFile(os.Open(name)) }
func (OS) Create(name string, perm fs.FileMode) (File, error) {
	return wrapFile(os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm))
}
func (OS) Rename(from, to string) error                 { return os.Rename(from, to) }
func (OS) Remove(name string) error                     { return os.Remove(name) }
func (OS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (OS) ReadDir(name string) ([]fs.DirEntry, error)   { return os.ReadDir(name) }
func (OS) Stat(name string) (fs.FileInfo, error)        { return os.Stat(name) }

func (OS) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be opened for sync there; NTFS journals renames
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// wrapFile keeps a nil *os.File from becoming a non-nil File.
func wrapFile(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}
