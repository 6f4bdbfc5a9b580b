package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

// Exit codes of RunMain. A job canceled by a signal has 128 and the signal's
// number: 130 for SIGINT, 143 for SIGTERM.
const (
	exitFinished = 0
	exitFailed   = 1
)

// RunMain is a ready-made main function: it runs g, prints one line about how
// it ended to the standard error, and exits the process. The first SIGINT or
// SIGTERM cancels the job, a second one exits at once. Exit codes: 0 finished,
// 1 failed, 130 or 143 canceled by a signal.
func RunMain(g *flow.Graph, o Options) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(runMain(g, o, signals, os.Stderr, os.Exit))
}

// runMain is RunMain with its outside passed in.
func runMain(g *flow.Graph, o Options, signals <-chan os.Signal, stderr io.Writer, exit func(int)) int {
	job, err := Start(context.Background(), g, o)
	if err != nil {
		fmt.Fprintf(stderr, "%s: not started: %v\n", g.Name(), err)
		return exitFailed
	}
	res, err, caught := WaitOrSignal(job, signals, stderr, exit)
	return report(g.Name(), res, err, caught, stderr)
}

// WaitOrSignal waits for job. The first signal cancels it, a second one calls exit at
// once. It returns the signal that canceled the job, nil if none did. Programs
// that print more than RunMain does use it.
func WaitOrSignal(job *Job, signals <-chan os.Signal, stderr io.Writer, exit func(int)) (Result, error, os.Signal) {
	var caught os.Signal
	for {
		select {
		case s := <-signals:
			if caught != nil {
				fmt.Fprintf(stderr, "%s: %v again: exiting at once\n", job.graph.Name(), s)
				exit(signalCode(s))
			}
			caught = s
			fmt.Fprintf(stderr, "%s: %v: canceling; once more to exit at once\n", job.graph.Name(), s)
			job.Cancel()
		case <-job.ctx.Done():
			res, err := job.waitAnd(signals, exit)
			return res, err, caught
		}
	}
}

// waitAnd is Wait that a signal cuts short.
func (j *Job) waitAnd(signals <-chan os.Signal, exit func(int)) (Result, error) {
	watched := make(chan struct{})
	defer close(watched)
	stop := context.AfterFunc(j.ctx, func() {
		select {
		case s := <-signals:
			exit(signalCode(s))
		case <-watched:
		}
	})
	defer stop()
	return j.Wait()
}

// report prints how the job ended and returns the exit code.
func report(name string, res Result, err error, caught os.Signal, stderr io.Writer) int {
	switch res.Outcome {
	case Finished:
		fmt.Fprintf(stderr, "%s: finished in %v: %s\n", name, res.Duration.Round(time.Millisecond), res.summary())
		return exitFinished
	case Canceled:
		fmt.Fprintf(stderr, "%s: canceled after %v: output that was not complete is not kept\n", name, res.Duration.Round(time.Millisecond))
		if caught != nil {
			return signalCode(caught)
		}
	default:
		fmt.Fprintf(stderr, "%v\n", err)
	}
	return exitFailed
}

func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitFailed
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

// ExitCode is the exit code that RunMain gives a result: for programs that
// print more than it does.
func ExitCode(err error, caught os.Signal) int {
	switch {
	case err == nil:
		return exitFinished
	case caught != nil && errors.Is(err, context.Canceled):
		return signalCode(caught)
	}
	return exitFailed
}
