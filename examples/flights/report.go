package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// printTables prints the results for people: the worst routes, the airports
// with the most destinations, and a bar chart of mean delays.
func printTables(w io.Writer, t *tables) {
	fmt.Fprintf(w, "\nThe ten worst routes, of those with at least 50 flights\n\n")
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "route\tflights\tmean delay\t90 % below\t")
	for _, r := range t.worst.Records() {
		fmt.Fprintf(tw, "%s-%s\t%s\t%.1f min\t%d min\t\n", r.Origin, r.Destination, grouped(r.Flights), r.Mean, r.P90)
	}
	tw.Flush()

	fmt.Fprintf(w, "\nThe ten airports with the most destinations\n\n")
	hubs := t.hubs.Records()
	tw = tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "  airport\tname\tdestinations\tflights\t90 % below\tmean delay\t")
	most := 0.0
	for _, h := range hubs {
		most = max(most, h.Mean)
	}
	for _, h := range hubs {
		fmt.Fprintf(tw, "  %s\t%s\t%12d\t%7s\t%6d min\t%4.1f min %s\t\n", h.Origin, shortened(h.Name, 32), h.Destinations,
			grouped(h.Flights), h.P90, h.Mean, bar(h.Mean, most, 20))
	}
	tw.Flush()

	all := t.origins.Records()
	unnamed := slices.DeleteFunc(slices.Clone(all), func(r originRow) bool { return !strings.HasPrefix(r.Name, "(") })
	fmt.Fprintf(w, "\n%d airports with departures, %d of them not in the airports table.\n", len(all), len(unnamed))
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
