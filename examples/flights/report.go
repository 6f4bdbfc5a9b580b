package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tailrace-io/tailrace/exec"
)

// printTables prints the results for people: the worst routes, and the
// airports with the most destinations with a bar chart of their delays.
func printTables(w io.Writer, t *tables) {
	fmt.Fprintf(w, "\nThe ten worst routes, of those with at least %d flights\n\n", daily)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "route\tflights\tmean delay\t90 % below\t")
	for _, r := range t.worst.Records() {
		fmt.Fprintf(tw, "%s-%s\t%s\t%.1f min\t%d min\t\n", r.Origin, r.Destination, grouped(r.Flights), r.Mean, r.P90)
	}
	tw.Flush()

	fmt.Fprintf(w, "\nThe ten airports with the most destinations\n\n")
	tw = tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "  airport\tname\troutes\tflights\tmean delay")
	hubs, most := t.hubs.Records(), 0.0
	for _, h := range hubs {
		most = max(most, h.Mean)
	}
	for _, h := range hubs {
		fmt.Fprintf(tw, "  %s\t%s\t%6d\t%7s\t%4.1f min %s\n", h.Origin, shortened(h.Name, 25), h.Destinations,
			grouped(h.Flights), h.Mean, bar(h.Mean, most, 12))
	}
	tw.Flush()
	printUnnamed(w, t.origins.Records())
}

// printUnnamed names the airports that have no name.
func printUnnamed(w io.Writer, origins []originRow) {
	var codes []string
	var flights int64
	for _, r := range origins {
		if r.Name == unnamed(r.Origin) {
			codes = append(codes, r.Origin)
			flights += r.Flights
		}
	}
	fmt.Fprintf(w, "\n%d airports have departures.\n", len(origins))
	if len(codes) > 0 {
		fmt.Fprintf(w, "%d of them, with %s flights, are not in the table: %s.\n", len(codes), grouped(flights), list(codes))
	}
}

// printOutcome says how much was done in what time, and where the results are.
func printOutcome(w io.Writer, res exec.Result, out string) {
	rows := readBy(res.Operators)
	fmt.Fprintf(w, "%s flights in %v (%s/s), %s of them more than an hour late.\n",
		grouped(int64(rows)), res.Duration.Round(time.Millisecond), grouped(int64(float64(rows)/res.Duration.Seconds())),
		grouped(int64(inputOf(res.Operators, "delayed"))))
	fmt.Fprintf(w, "Results: %s\n", filepath.Join(absolute(out), "{origins,routes,worst,hubs,delayed}"))
}

// printFailure says why there are no results.
func printFailure(w io.Writer, res exec.Result, err error, out string) {
	if res.Outcome == exec.Canceled {
		err = errors.New("canceled")
	}
	fmt.Fprintf(w, "flights: %v\nflights: stopped after %v, %s flights read: the results in %s are not complete\n",
		err, res.Duration.Round(time.Millisecond), grouped(int64(readBy(res.Operators))), absolute(out))
}

// progress is the text beside the progress bar.
func progress(current, total int64, since time.Duration) string {
	rate := float64(current) / max(since.Seconds(), 1e-3)
	left := "?"
	if current > 0 {
		left = time.Duration(float64(total-current) / rate * float64(time.Second)).Round(time.Second).String()
	}
	return fmt.Sprintf("%s of %s flights, %s/s, %s left", grouped(current), grouped(total), grouped(int64(rate)), left)
}

// readBy is the number of flights read.
func readBy(operators []exec.OperatorResult) uint64 { return inputOf(operators, "flights") }

func inputOf(operators []exec.OperatorResult, name string) uint64 {
	for _, o := range operators {
		if o.Name == name {
			return o.In
		}
	}
	return 0
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// list joins names, at most ten of them, in order.
func list(names []string) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return strings.Join(names, ", ")
}

// bar draws v on a scale where most fills width.
func bar(v, most float64, width int) string {
	if v <= 0 || most <= 0 {
		return ""
	}
	eighths := int(v / most * float64(width) * 8)
	return strings.Repeat("█", eighths/8) + []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}[eighths%8]
}

// grouped formats n with commas between thousands.
func grouped(n int64) string {
	digits := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func shortened(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
