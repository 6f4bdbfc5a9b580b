//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// The test binary is also the program: as a child with this variable it runs
// flights, or flights with an input that never answers.
const childMode = "FLIGHTS_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case "flights":
		main()
	case "stuck":
		s, err := parse(os.Args[1:], os.Stdout, os.Stderr)
		if err != nil {
			os.Exit(2)
		}
		os.Exit(run(stuck{}, s, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// stuck is a source whose Read neither returns nor minds its context.
type stuck struct{}

func (stuck) Splits(context.Context) ([]flow.Split, error) { return []flow.Split{{ID: "stuck"}}, nil }
func (stuck) Bounded() bool                                { return true }
func (stuck) Position() flow.Position                      { return nil }
func (stuck) Close() error                                 { return nil }
func (stuck) Read(context.Context, []flight) (int, error) {
	os.Stderr.WriteString("stuck\n")
	select {}
}
func (s stuck) Open(context.Context, flow.Split, flow.Position) (flow.Reader[flight], error) {
	return s, nil
}

// child is a running program.
type child struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
}

// startChild starts the program in a mode, on the shipped data unless args say otherwise.
func startChild(t *testing.T, mode string, args ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], slices.Concat([]string{"-in", shipped, "-airports", shippedAirports}, args)...)}
	c.Env = append(os.Environ(), childMode+"="+mode)
	c.Stdout, c.Stderr = &c.stdout, &c.stderr
	c.launch(t)
	return c
}

func (c *child) launch(t *testing.T) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	c.ended = make(chan struct{})
	go func() {
		defer close(c.ended)
		_ = c.Wait() // its exit code says what there is to know
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-c.ended
	})
}

// until waits for something that the running program does.
func (c *child) until(t *testing.T, done func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !done() {
		select {
		case <-c.ended:
			t.Fatalf("the program ended too early: %s", c.stderr.String())
		case <-ticker.C:
		}
	}
}

func (c *child) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the end and returns the exit code; -1 when a signal did it.
func (c *child) exit() int {
	<-c.ended
	return c.ProcessState.ExitCode()
}

func flights(t *testing.T, args ...string) *child {
	t.Helper()
	c := startChild(t, "flights", args...)
	<-c.ended
	return c
}

// found lists the files below dir that match.
func found(t *testing.T, dir string, match func(name string) bool) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil // not there yet, or removed meanwhile
		case err != nil:
			return err
		case !d.IsDir() && match(d.Name()):
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return names
}

func temporary(name string) bool { return strings.HasPrefix(name, ".") }
func final(name string) bool     { return !temporary(name) }

// halfway starts the program slowly with one worker, and waits until it has
// completed a first part and begun another.
func halfway(t *testing.T, out string) *child {
	t.Helper()
	c := startChild(t, "flights", "-workers", "1", "-rate", "150000", "-out", out)
	c.until(t, func() bool { return len(found(t, out, final)) > 0 && len(found(t, out, temporary)) > 0 })
	return c
}

func TestASignalStopsTheJobAndLeavesNothingHalf(t *testing.T) {
	for _, s := range []struct {
		signal os.Signal
		code   int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}} {
		t.Run(s.signal.String(), func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			c := halfway(t, out)
			c.signal(t, s.signal)
			if code := c.exit(); code != s.code {
				t.Errorf("exit code %d, wanted %d", code, s.code)
			}
			wantText(t, c.stderr.String(), `^flights: `+s.signal.String()+`: canceling; once more to exit at once
flights: canceled
flights: stopped after \d+\.\d+s, [1-9]\d\d,\d\d\d flights read: the results in `+regexp.QuoteMeta(out)+` are not complete
$`)
			wantText(t, c.stdout.String(), `^$`)

			if left := found(t, out, temporary); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			got, want := written(t, out), wanted(t)
			if n := len(got.origins) + len(got.routes) + len(got.worst) + len(got.hubs); n > 0 {
				t.Errorf("%d rows of totals, though the input was not read to its end", n)
			}
			if len(got.delayed) == 0 || len(got.delayed) >= len(want.delayed) || !within(got.delayed, want.delayed) {
				t.Errorf("%d delayed flights, wanted some of %d", len(got.delayed), len(want.delayed))
			}
		})
	}
}

// within says whether the sorted rows are all in the sorted rows of all, no row
// more often than there.
func within(rows, all []string) bool {
	for _, row := range rows {
		i, ok := slices.BinarySearch(all, row)
		if !ok {
			return false
		}
		all = all[i+1:]
	}
	return true
}

func wantText(t *testing.T, got, pattern string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(got) {
		t.Errorf("got:\n%s\nwanted what matches:\n%s", got, pattern)
	}
}

func TestASecondSignalDoesNotWaitForTheJob(t *testing.T) {
	t.Parallel()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	said := func(text string) func() bool {
		return func() bool {
			b, err := os.ReadFile(stderr.Name())
			return err == nil && strings.Contains(string(b), text)
		}
	}
	c := &child{Cmd: exec.Command(os.Args[0], "-airports", shippedAirports, "-out", t.TempDir())}
	c.Env, c.Stderr = append(os.Environ(), childMode+"=stuck"), stderr
	c.launch(t)
	c.until(t, said("stuck"))
	c.signal(t, os.Interrupt)
	c.until(t, said("canceling; once more to exit at once"))
	c.signal(t, os.Interrupt)
	if code := c.exit(); code != 130 {
		t.Errorf("exit code %d, wanted 130", code)
	}
	if said("not stopped cleanly")() {
		t.Error("the program waited until the job was given up")
	}
}

func TestARunReplacesWhatIsThere(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	c := halfway(t, out)
	c.signal(t, os.Kill)
	if code := c.exit(); code != -1 || len(found(t, out, temporary)) == 0 {
		t.Fatalf("exit code %d, and files of %v", code, found(t, out, temporary))
	}
	for range 2 {
		if c := flights(t, "-out", out); c.exit() != 0 {
			t.Fatal(c.stderr.String())
		}
		compare(t, written(t, out), wanted(t))
	}
}
