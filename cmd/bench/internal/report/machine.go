package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// JSON prints the whole report as one indented JSON object.
func JSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// GoBenchHead prints the configuration lines of the Go benchmark format.
func GoBenchHead(w io.Writer, h Host) error {
	_, err := fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: github.com/tailrace-io/tailrace/cmd/bench\ncpu: %s\n", h.OS, h.Arch, h.CPU)
	return err
}

// GoBench prints a suite in the Go benchmark format
// (golang.org/x/perf/benchfmt): a line for each round of each program, so that
// benchstat sees the spread, and one for each row.
func GoBench(w io.Writer, s *Suite) error {
	var b strings.Builder
	for _, c := range s.Cases {
		for _, l := range c.Lines {
			name := "Benchmark" + benchName(s.Name, true) + "/" + benchName(c.Name, false) + "/" + benchName(l.Program, false)
			for _, ns := range l.Samples {
				fmt.Fprintf(&b, "%s %d %.4g ns/record %.4g cpu-ns/record %.4g allocs/record", name, c.Records, ns, l.CPUNanos, l.Allocs)
				if l.PeakRSS > 0 {
					fmt.Fprintf(&b, " %d peak-RSS-bytes", l.PeakRSS)
				}
				if q := l.Latency; q != nil {
					fmt.Fprintf(&b, " %d p50-ns %d p99-ns %d p99.9-ns", q.P50, q.P99, q.P999)
				}
				b.WriteByte('\n')
			}
		}
		for _, r := range c.Rows {
			fmt.Fprintf(&b, "Benchmark%s/%s/row=%s 1 %.4g %s\n", benchName(s.Name, true), benchName(c.Name, false),
				benchName(r.Name, false), r.Value.Median, benchUnit(r.Unit))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// benchName makes s a part of a benchmark's name: no spaces, no slashes.
func benchName(s string, first bool) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '/', '\t':
			return '_'
		}
		return r
	}, s)
	if first && s != "" {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// benchUnit names units so that benchstat takes them for what they are.
func benchUnit(unit string) string {
	switch unit {
	case "x":
		return "ratio"
	case "":
		return "value"
	}
	return strings.ReplaceAll(unit, " ", "-")
}
