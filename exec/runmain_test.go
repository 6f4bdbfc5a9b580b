//go:build unix

package exec_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/tailrace-io/tailrace/connectors/memory"
	tailrace "github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// TestMain runs the tests, or in a process that TestRunMain has started, the job
// of one case.
func TestMain(m *testing.M) {
	if job := os.Getenv(jobVariable); job != "" {
		tailrace.RunMain(mainJob(job), tailrace.Options{Workers: 2})
	}
	goleak.VerifyTestMain(m)
}

const jobVariable = "TAILRACE_TEST_JOB"

// mainJob is a job that says "ready" on the standard output and then does what
// its name says.
func mainJob(name string) *flow.Graph {
	g := flow.New("main")
	s := flow.AsyncMap(flow.Read(g, "in", memory.From(1, 2, 3)), "op", 1, func(ctx context.Context, in, out *int) error {
		if *in == 1 {
			fmt.Println("ready")
		}
		*out = *in
		switch name {
		case "fails":
			return errBoom
		case "waits":
			<-ctx.Done()
			return ctx.Err()
		case "hangs":
			select {}
		}
		return nil
	})
	if name == "mistaken" {
		return g // nothing reads s
	}
	flow.Write(s, "out", nullSink[int]{})
	return g
}

func TestRunMainExitsWithTheCodeOfTheOutcome(t *testing.T) {
	cases := map[string]struct {
		job     string
		signals []os.Signal
		code    int
		says    []string
	}{
		"finished":                        {"finishes", nil, 0, []string{`main: finished in`, `"in" read 3, "out" wrote 3`}},
		"failed":                          {"fails", nil, 1, []string{`main: job "main" failed: operator "op", task`, "boom"}},
		"not started":                     {"mistaken", nil, 1, []string{"nothing reads its output"}},
		"interrupted":                     {"waits", []os.Signal{syscall.SIGINT}, 130, []string{"main: interrupt: canceling", "main: canceled after"}},
		"terminated":                      {"waits", []os.Signal{syscall.SIGTERM}, 143, []string{"main: terminated: canceling", "main: canceled after"}},
		"interrupted twice when it hangs": {"hangs", []os.Signal{syscall.SIGINT, syscall.SIGINT}, 130, []string{"interrupt again: exiting at once"}},
		"another signal when it hangs":    {"hangs", []os.Signal{syscall.SIGINT, syscall.SIGTERM}, 143, []string{"terminated again: exiting at once"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), jobVariable+"="+c.job)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			said := tell(t, cmd.Process, bufio.NewReader(stdout), bufio.NewReader(stderr), c.signals)
			err = cmd.Wait()
			var exit *exec.ExitError
			if code := cmd.ProcessState.ExitCode(); code != c.code || err != nil && !errors.As(err, &exit) {
				t.Errorf("exit code %d, want %d; error %v", code, c.code, err)
			}
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("it said\n%swithout %q", said, want)
				}
			}
		})
	}
}

// tell sends the signals: the first when the job is ready, each other when the
// one before was heard. It returns what the process said on its standard error.
func tell(t *testing.T, p *os.Process, stdout, stderr *bufio.Reader, signals []os.Signal) string {
	t.Helper()
	var said bytes.Buffer
	for i, s := range signals {
		from := stdout
		if i > 0 {
			from = stderr
		}
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatalf("before signal %d: %v", i, err)
		}
		if i > 0 {
			said.WriteString(line)
		}
		if err := p.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.Copy(&said, stderr); err != nil {
		t.Fatal(err)
	}
	return said.String()
}
