//go:build unix

package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What says that it has no bytes and gives some all the same must not be read
// as empty, and what waits for a writer must not be opened.
func TestWhatIsNoRegularFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.txt")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.txt")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for name, glob := range map[string]string{
		"a named pipe":              pipe,
		"a named pipe that matches": filepath.Join(dir, "*.txt"),
		"a link to a named pipe":    link,
		"a device":                  "/dev/zero",
	} {
		splits, err := Lines(glob).Splits(context.Background())
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: splits %v, error %v", name, splits, err)
		}
	}
	if _, err := Lines(os.DevNull).Splits(context.Background()); err != nil {
		t.Errorf("the null device, which is empty: %v", err)
	}
}
