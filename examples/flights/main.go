// Command flights is the main job: it reads US flights from Parquet in
// parallel, joins airport names, and computes delays by origin and by route,
// while it writes every flight that was more than an hour late.
//
// Reading order: graph.go (the job), records.go (its types), main.go (how it
// is run), display.go and report.go (what is shown), paced.go (a slower source).
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// settings are the flags.
type settings struct {
	in, airports, out string
	workers           int
	rate              float64
	verbose, explain  bool
}

func main() { os.Exit(start(os.Args[1:], os.Stdout, os.Stderr)) }

// start is the program with its outside passed in. It returns the exit code.
func start(args []string, stdout, stderr *os.File) int {
	s, err := parse(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	return run(paced(files.Parquet[flight](s.in), s.rate), s, stdout, stderr)
}

const usage = `Usage: flights [flags]

Reads US flights from Parquet, joins the names of airports, and computes delays.
Into the directory -out go
  origins/  CSV      flights, mean and 90th percentile of the delay, by airport
  routes/   Parquet  the same by pair of airports
  worst/    CSV      the ten routes with the longest delays
  hubs/     CSV      the ten airports with the most destinations
  delayed/  CSV      every flight that was more than an hour late
Run it from the root of the repository, or name the files with -in and -airports.

`

// parse reads the flags. Its error has been printed.
func parse(args []string, stdout, stderr io.Writer) (s settings, err error) {
	const data = "examples/flights/data"
	f := flag.NewFlagSet("flights", flag.ContinueOnError)
	f.StringVar(&s.in, "in", data+"/flights-2001-jan-feb.parquet", "Parquet `files` of flights, as a name or a glob")
	f.StringVar(&s.airports, "airports", data+"/airports.csv", "CSV `file` of airports")
	f.StringVar(&s.out, "out", "out/flights", "`directory` for the results; those of an earlier run are replaced")
	f.IntVar(&s.workers, "workers", 0, "how many workers, 0 for one for each core")
	f.Float64Var(&s.rate, "rate", 0, "how many `rows` to read a second, at most; 0 for no limit")
	f.BoolVar(&s.verbose, "v", false, "log state transitions")
	f.BoolVar(&s.explain, "explain", false, "describe the job instead of running it")
	f.SetOutput(io.Discard)
	err = f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		f.SetOutput(stdout)
		f.PrintDefaults()
		return s, err
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("%q is no flag", f.Arg(0))
	case s.workers < 0:
		err = fmt.Errorf("-workers %d: must not be negative", s.workers)
	case !(s.rate >= 0) || math.IsInf(s.rate, 0):
		err = fmt.Errorf("-rate %v: must be a number of rows, 0 for no limit", s.rate)
	}
	if err != nil {
		fmt.Fprintf(stderr, "flights: %v (flights -help lists the flags)\n", err)
	}
	return s, err
}

// run runs the job on the flights of in, and shows how it goes.
func run(in flow.Source[flight], s settings, stdout, stderr *os.File) int {
	var shown tables
	g := build(in, s.airports, s.out, &shown)
	if s.explain {
		fmt.Fprint(stdout, g.Explain())
		return 0
	}
	d := &display{file: stderr}
	o := exec.Options{Workers: s.workers}
	if s.verbose {
		o.Logger = slog.New(slog.NewTextHandler(d, nil))
	}
	ctx, code, stop := exec.Interruptible(g.Name(), d, func(code int) {
		d.close()
		os.Exit(code)
	})
	defer stop()
	job, err := exec.Start(ctx, g, o)
	if err != nil {
		fmt.Fprintf(stderr, "flights: not started: %v\n", err)
		return code(err)
	}
	d.follow(job, s.in)
	res, err := job.Wait()
	d.close()
	if err != nil {
		printFailure(stderr, res, err, s.out)
		return code(err)
	}
	printTables(stdout, &shown)
	printOutcome(stdout, res, s.out)
	return 0
}
