// Flights is the main job: it reads US flights from Parquet in parallel, joins
// airport names, and computes delays by origin and by route, while it writes
// every flight that was more than an hour late.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/exec"
)

// settings are the flags.
type settings struct {
	in, airports, out string
	workers           int
	rate              float64
	verbose, explain  bool
}

func main() {
	const data = "examples/flights/data"
	var s settings
	flag.StringVar(&s.in, "in", data+"/flights-2001-jan-feb.parquet", "Parquet file of flights, or a glob of several")
	flag.StringVar(&s.airports, "airports", data+"/airports.csv", "CSV file of airports")
	flag.StringVar(&s.out, "out", "out/flights", "directory for the results; earlier results in it are replaced")
	flag.IntVar(&s.workers, "workers", 0, "number of workers (default: one for each core)")
	flag.Float64Var(&s.rate, "rate", 0, "read at most that many rows a second (default: no limit)")
	flag.BoolVar(&s.verbose, "v", false, "log state transitions")
	flag.BoolVar(&s.explain, "explain", false, "describe the job instead of running it")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "Usage: flights [flags]\n\nDelays of US flights by origin and by route. Run it from the root of the repository, or name the files.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || s.rate < 0 {
		flag.Usage()
		os.Exit(2)
	}
	os.Exit(run(s))
}

func run(s settings) int {
	var shown tables
	g := build(paced(files.Parquet[flight](s.in), s.rate), s.airports, s.out, &shown)
	if s.explain {
		fmt.Print(g.Explain())
		return 0
	}
	o := exec.Options{Workers: s.workers}
	if s.verbose {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	job, err := exec.Start(context.Background(), g, o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "flights: not started: %v\n", err)
		return 1
	}
	done := showProgress(job, s.in)
	res, err, caught := exec.WaitOrSignal(job, signals, os.Stderr, os.Exit)
	done()
	if err != nil {
		fmt.Fprintf(os.Stderr, "flights: %v: %v\n", res.Outcome, err)
		return exec.ExitCode(err, caught)
	}
	printTables(os.Stdout, &shown)
	printOutcome(res, s.out)
	return 0
}

// printOutcome says how the job ended and where its results are.
func printOutcome(res exec.Result, out string) {
	var rows, late uint64
	for _, o := range res.Operators {
		switch o.Name {
		case "flights":
			rows = o.In
		case "delayed":
			late = o.In
		}
	}
	fmt.Printf("%v in %v: %s flights read (%s/s), %s of them over an hour late.\n", res.Outcome, res.Duration.Round(time.Millisecond),
		grouped(int64(rows)), grouped(int64(float64(rows)/res.Duration.Seconds())), grouped(int64(late)))
	where, err := filepath.Abs(out)
	if err != nil {
		where = out
	}
	fmt.Printf("Results: %s/{origins,routes,worst,hubs,delayed}\n", where)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
