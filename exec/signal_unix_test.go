//go:build unix

package exec_test

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

func TestASignalCancelsAndSetsTheExitCode(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		var said bytes.Buffer
		second := make(chan int, 1)
		ctx, code, stop := exec.Interruptible("job", &said, func(code int) { second <- code })
		g := flow.New("g")
		flow.Write(flow.Read(g, "in", memory.From(rec48{})), "out", newGate())
		job, err := exec.Start(ctx, g, exec.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), c.signal); err != nil {
			t.Fatal(err)
		}
		res, err := job.Wait()
		if res.Outcome != exec.Canceled || code(err) != c.code {
			t.Errorf("outcome %v, error %v, exit code %d, want %d", res.Outcome, err, code(err), c.code)
		}
		stop()
		if code(nil) != 0 || code(errors.New("other")) != 1 {
			t.Error("exit codes of no error and of another one")
		}
		select {
		case n := <-second:
			t.Errorf("exited with %d after one signal", n)
		default:
		}
	}
}
