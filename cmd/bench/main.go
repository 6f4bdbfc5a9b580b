// Command bench measures the engine against hand-written programs that do the
// same jobs, in the same run, and says which of its limits it keeps.
//
//	go run ./cmd/bench all
//	go run ./cmd/bench -quick -only 'pipeline/lat' pipeline
//	go run ./cmd/bench -format gobench ring > new.txt   # for benchstat
//
// It exits with 1 if two programs give different answers or something failed,
// with 2 if it was called wrongly, and with 3 if -strict is given and a limit was missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/cmd/bench/internal/report"
)

const (
	exitFailed = 1
	exitUsage  = 2
	exitMissed = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command is the parsed command line.
type command struct {
	runner // what each suite's runner starts from
	format string
	strict bool
	quick  bool
	suites []suite
	profiles
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) > 0 && args[0] == childArg {
		return status(errs, runChild(ctx, args[1:], out))
	}
	c, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(errs, "bench:", err)
		return exitUsage
	}
	stopProfiles, err := c.profiles.start()
	missed := 0
	if err == nil {
		missed, err = c.play(ctx, out)
	}
	if code := status(errs, errors.Join(err, stopProfiles())); code != 0 {
		return code
	}
	if missed > 0 && c.strict {
		fmt.Fprintf(errs, "bench: %d limits missed\n", missed)
		return exitMissed
	}
	return 0
}

// status is the exit code for err, which it prints.
func status(errs io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(errs, "bench:", err)
	return exitFailed
}

func parse(args []string, errs io.Writer) (*command, error) {
	c := &command{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(errs)
	f.Usage = func() {
		fmt.Fprintln(errs, "usage: bench [flags] all|SUITE...\n\nsuites:")
		for _, s := range suites {
			fmt.Fprintf(errs, "  %-9s %s\n", s.name, s.about)
		}
		fmt.Fprintln(errs, "\nflags:")
		f.PrintDefaults()
	}
	only := ""
	f.IntVar(&c.rounds, "rounds", 9, "rounds, in each of which every program runs once")
	f.IntVar(&c.records, "records", 0, "records of each case; 0: its own number")
	f.Float64Var(&c.scale, "scale", 1, "factor for the numbers of records")
	f.BoolVar(&c.quick, "quick", false, "a tenth of the records and 3 rounds, unless -scale or -rounds is given: a look, not a measurement")
	f.StringVar(&only, "only", "", "play only cases whose suite/case matches this `regexp`")
	f.StringVar(&c.flights, "flights", "", "Parquet `file` with columns delay, distance, origin, destination")
	f.StringVar(&c.format, "format", "table", "table, json or gobench")
	f.BoolVar(&c.strict, "strict", false, "exit with 3 if a limit was missed")
	c.profiles.flags(f)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if c.quick && !given["scale"] {
		c.scale = 0.1
	}
	if c.quick && !given["rounds"] {
		c.rounds = 3
	}
	return c, c.check(f.Args(), only)
}

// check completes a command whose flags were parsed.
func (c *command) check(names []string, only string) error {
	if !slices.Contains([]string{"table", "json", "gobench"}, c.format) {
		return fmt.Errorf("-format %q: want table, json or gobench", c.format)
	}
	if c.rounds < 1 || c.scale <= 0 || c.records < 0 {
		return errors.New("-rounds, -scale and -records must be positive")
	}
	if only != "" {
		expr, err := regexp.Compile(only)
		if err != nil {
			return fmt.Errorf("-only: %w", err)
		}
		c.only = expr
	}
	if len(names) == 0 {
		return errors.New("name a suite, or all (-h lists them)")
	}
	if slices.Contains(names, "all") {
		c.suites = suites
		return nil
	}
	for _, name := range names {
		i := slices.IndexFunc(suites, func(s suite) bool { return s.name == strings.TrimSpace(name) })
		if i < 0 {
			return fmt.Errorf("no suite %q (-h lists them)", name)
		}
		c.suites = append(c.suites, suites[i])
	}
	return nil
}

// play runs the suites and prints each when it is done (JSON: all at the end).
// It returns how many limits were missed.
func (c *command) play(ctx context.Context, out io.Writer) (missed int, err error) {
	full := report.Report{Host: host()}
	head, body := report.TableHead, report.Table
	if c.format == "gobench" {
		head, body = report.GoBenchHead, report.GoBench
	}
	if c.format != "json" {
		if err := head(out, full.Host); err != nil {
			return 0, err
		}
	}
	for _, s := range c.suites {
		r := c.runner
		r.out = report.Suite{Name: s.name, About: s.about, Gaps: harness.MeasureGaps(gapTime)}
		if err := s.run(ctx, &r); err != nil {
			return missed, err
		}
		missed += r.out.Missed()
		full.Suites = append(full.Suites, r.out)
		if c.format != "json" {
			if err := body(out, &r.out); err != nil {
				return missed, err
			}
		}
	}
	if c.format == "json" {
		return missed, report.JSON(out, &full)
	}
	return missed, nil
}
