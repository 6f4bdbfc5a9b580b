package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// Exit codes of RunMain. A job canceled by a signal has 128 and the signal's
// number: 130 for SIGINT, 143 for SIGTERM.
const (
	exitFinished   = 0
	exitFailed     = 1
	exitInterrupt  = 128 + 2
	exitTerminated = 128 + 15
)

// RunMain is a ready-made main function: it runs g, prints one line about how
// it ended to the standard error, and exits the process. The first SIGINT or
// SIGTERM cancels the job, a second one exits at once. Exit codes: 0 finished,
// 1 failed, 130 or 143 canceled by a signal.
func RunMain(g *flow.Graph, o Options) {
	ctx, code, stop := Interruptible(g.Name(), os.Stderr, os.Exit)
	res, err := Run(ctx, g, o)
	stop()
	report(g.Name(), res, err, os.Stderr)
	os.Exit(code(err))
}

// Interruptible is for programs that print more than RunMain does. It returns a
// context that the first SIGINT or SIGTERM cancels, which is said on w; a
// second one calls exit with the exit code. code is the exit code that RunMain
// gives the error of a job that ran under the context. stop ends the watch.
func Interruptible(name string, w io.Writer, exit func(code int)) (ctx context.Context, code func(err error) int, stop func()) {
	interrupt, stopInterrupt := signal.NotifyContext(context.Background(), os.Interrupt)
	both, stopTerm := signal.NotifyContext(interrupt, syscall.SIGTERM)
	// caught is the first signal. It is looked up once: stop ends both contexts.
	caught := sync.OnceValues(func() (os.Signal, int) {
		if interrupt.Err() != nil {
			return os.Interrupt, exitInterrupt
		}
		return syscall.SIGTERM, exitTerminated
	})
	// What the job runs under ends once the signal has been said, not before.
	ctx, cancel := context.WithCancel(context.Background())
	stopped, watched := make(chan struct{}), make(chan struct{})
	var quiet atomic.Bool
	unwatch := context.AfterFunc(both, func() {
		defer close(watched)
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(again)
		first, _ := caught()
		fmt.Fprintf(w, "%s: %v: canceling; once more to exit at once\n", name, first)
		cancel()
		select {
		case s := <-again:
			fmt.Fprintf(w, "%s: %v again: exiting at once\n", name, s)
			if s == os.Interrupt {
				exit(exitInterrupt)
			} else {
				exit(exitTerminated)
			}
		case <-stopped:
		}
	})
	code = func(err error) int {
		switch {
		case err == nil:
			return exitFinished
		case errors.Is(err, context.Canceled) && !quiet.Load() && both.Err() != nil:
			_, n := caught()
			return n
		}
		return exitFailed
	}
	stop = func() {
		if unwatch() {
			quiet.Store(true) // no signal came: the end of the contexts is no sign of one
		} else {
			caught()
			close(stopped)
			<-watched // it is said before the process ends
		}
		stopTerm()
		stopInterrupt()
		cancel()
	}
	return ctx, code, stop
}

// report prints how the job ended.
func report(name string, res Result, err error, stderr io.Writer) {
	took := res.Duration.Round(time.Millisecond)
	switch {
	case err == nil:
		fmt.Fprintf(stderr, "%s: finished in %v: %s\n", name, took, res.summary())
	case res.Outcome == Canceled:
		fmt.Fprintf(stderr, "%s: canceled after %v: output that was not complete is not kept\n", name, took)
		if stuck := (*stuckError)(nil); errors.As(err, &stuck) {
			fmt.Fprintf(stderr, "%s: %v\n", name, stuck)
		}
	default:
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
	}
}

// summary says how many records were read, written and lost to errors.
func (r Result) summary() string {
	var parts []string
	var skipped int64
	for _, o := range r.Operators {
		switch o.Kind {
		case "read":
			parts = append(parts, fmt.Sprintf("%q read %d", o.Name, o.In))
		case "write":
			parts = append(parts, fmt.Sprintf("%q wrote %d", o.Name, o.In))
		}
		skipped += o.Skipped
	}
	if skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d bad records skipped", skipped))
	}
	return strings.Join(parts, ", ")
}
