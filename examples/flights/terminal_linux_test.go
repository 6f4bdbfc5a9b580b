package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo terminal of 100 columns: what is written to slave can
// be read from master.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func TestATerminalShowsProgressAndMessagesAboveIt(t *testing.T) {
	t.Parallel()
	master, slave := terminal(t)
	var mu sync.Mutex
	var screen strings.Builder
	c := &child{Cmd: exec.Command(os.Args[0], "-in", shipped, "-airports", shippedAirports, "-rate", "100000", "-out", t.TempDir())}
	c.Env, c.Stderr = append(os.Environ(), childMode+"=flights"), slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	c.launch(t)
	slave.Close()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(writer(func(b []byte) {
			mu.Lock()
			defer mu.Unlock()
			screen.Write(b)
		}), master) // ends with an error when the program has closed the terminal
	}()
	shown := func(pattern string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return regexp.MustCompile(pattern).MatchString(screen.String())
		}
	}
	// A line that is drawn over the one before it.
	line := `\d+ % +█+░+ +[\d,]+ of 966,409 flights, [\d,]+/s, \d+s left`
	c.until(t, shown(line+`\s+\x1b\[[^\n]*`+line))
	if _, err := master.WriteString("\x03"); err != nil { // what the key sends
		t.Fatal(err)
	}
	if code := c.exit(); code != 130 {
		t.Errorf("exit code %d, wanted 130", code)
	}
	<-drained
	// The terminal echoes the key, so the bar must be cleared from column 0.
	if !shown(`\^C(?s:.*)\r\x1b\[1A\x1b\[J`)() {
		t.Errorf("got %q, wanted a carriage return before the bar is cleared", screen.String())
	}
	// The bar may be drawn in between, as often as there is time; then it is
	// cleared.
	if end := `\x1b\[Jflights: interrupt: canceling; once more to exit at once\r\n(?:` + line + `\s+\x1b[^\n]*\x1b\[J)*flights: canceled\r\nflights: stopped after `; !shown(end)() {
		t.Errorf("got %q, wanted at its end %s", screen.String(), end)
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}
