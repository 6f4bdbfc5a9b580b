package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

// TableHead prints what is said once, before the suites.
func TableHead(w io.Writer, h Host) error {
	_, err := fmt.Fprintf(w, "%s/%s, %s, %d usable cores, %s; work(20 ns) takes %.1f ns\n",
		h.OS, h.Arch, h.CPU, h.Cores, h.Go, h.WorkNs)
	return err
}

// busy is the share of time that an idle thread may lose before the reader is
// warned. A quiet virtual machine takes well under one percent.
const busy = 0.03

// Table prints a suite for people.
func Table(w io.Writer, s *Suite) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n=== %s: %s\n", s.Name, s.About)
	g := s.Gaps
	fmt.Fprintf(&b, "idle pinned thread: gaps p50 %s, p99.9 %s, max %s; %d over 10us, %d over 100us, %d over 1ms; %.2f%% of the time lost\n",
		duration(g.P50), duration(g.P999), duration(g.Max), g.Over10us, g.Over100us, g.Over1ms, 100*g.Lost)
	if g.Lost > busy {
		b.WriteString("WARNING: others use this host; wall times, ratios and verdicts mean little, cpu ns/rec less so\n")
	}
	for i := range s.Cases {
		tableCase(&b, &s.Cases[i])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tableCase(b *strings.Builder, c *Case) {
	fmt.Fprintf(b, "\n--- %s (%s records)\n", c.Name, count(float64(c.Records)))
	if len(c.Lines) > 0 {
		tableLines(b, c.Lines)
	}
	if len(c.Rows) > 0 || c.AA != nil {
		b.WriteByte('\n')
		tableRows(b, c)
	}
	for _, n := range c.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
}

func tableLines(b *strings.Builder, lines []Line) {
	latency, rss := false, false
	for _, l := range lines {
		latency = latency || l.Latency != nil
		rss = rss || l.PeakRSS > 0
	}
	head := []string{"program", "ns/rec", "range", "cpu ns/rec", "rec/s", "allocs/rec", "wall s", "cpu s"}
	if latency {
		head = append(head, "p50", "p99", "p99.9", "max")
	}
	if rss {
		head = append(head, "peak RSS")
	}
	rows := [][]string{head}
	for _, l := range lines {
		row := []string{l.Program, fmt.Sprintf("%.2f", l.Nanos.Median), between(l.Nanos, "%.2f"), fmt.Sprintf("%.2f", l.CPUNanos), count(l.PerSecond),
			fmt.Sprintf("%.6f", l.Allocs), fmt.Sprintf("%.3f", l.WallSeconds), fmt.Sprintf("%.3f", l.CPUSeconds)}
		if latency {
			row = append(row, latencyCells(l.Latency)...)
		}
		if rss {
			row = append(row, megabytes(l.PeakRSS))
		}
		rows = append(rows, row)
	}
	align(b, rows)
}

// megabytes formats bytes; nothing if they were not measured.
func megabytes(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
}

func latencyCells(q *harness.Quantiles) []string {
	if q == nil {
		return []string{"", "", "", ""}
	}
	return []string{duration(q.P50), duration(q.P99), duration(q.P999), duration(q.Max)}
}

func tableRows(b *strings.Builder, c *Case) {
	rows := [][]string{{"comparison", "median", "range", "must", "aim", "verdict"}}
	if c.AA != nil {
		rows = append(rows, []string{"A/A: " + c.Lines[0].Program + " vs itself",
			quantity(c.AA.Median, "x"), between(*c.AA, "%.3f"), "", "", ""})
	}
	for _, r := range c.Rows {
		row := []string{r.Name, quantity(r.Value.Median, r.Unit), between(r.Value, "%.3g"), "", "", string(r.Verdict())}
		if r.Limit != nil {
			sign := ">="
			if r.Limit.Below {
				sign = "<="
			}
			row[3] = sign + " " + quantity(r.Limit.Must, r.Unit)
			row[4] = quantity(r.Limit.Aim, r.Unit)
		}
		if r.Same {
			row[5] = join(row[5], "not distinguishable")
		}
		row[5] = join(row[5], r.Note)
		rows = append(rows, row)
	}
	align(b, rows)
}

// join puts a note behind a verdict, either of which may be empty.
func join(verdict, note string) string {
	if verdict == "" || note == "" {
		return verdict + note
	}
	return verdict + "; " + note
}

// quantity formats a value with its unit: ratios to three decimals below 10.
func quantity(v float64, unit string) string {
	if unit == "x" && v < 10 {
		return fmt.Sprintf("%.3fx", v)
	}
	if unit == "x" {
		return fmt.Sprintf("%.1fx", v)
	}
	format := "%.4g %s"
	if v >= 1e4 {
		format = "%.0f %s" // no exponents for people
	}
	return strings.TrimSpace(fmt.Sprintf(format, v, unit))
}

// between formats the range of r; nothing if it was measured once.
func between(r harness.Ratio, format string) string {
	if r.N < 2 {
		return ""
	}
	return fmt.Sprintf(format+"-"+format, r.Lo, r.Hi)
}

// duration formats nanoseconds with three significant digits.
func duration(ns int64) string {
	v := float64(ns)
	switch {
	case v < 1e3:
		return fmt.Sprintf("%.0fns", v)
	case v < 1e6:
		return fmt.Sprintf("%.3gus", v/1e3)
	case v < 1e9:
		return fmt.Sprintf("%.3gms", v/1e6)
	}
	return fmt.Sprintf("%.3gs", v/1e9)
}

// count formats a large number with a suffix.
func count(v float64) string {
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%.3g G", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}

// align prints rows in columns: the first and the last column to the left if
// they hold text, the others to the right.
func align(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0:
				line.WriteString("  " + cell + space)
			case rows[0][i] == "verdict":
				line.WriteString("  " + cell)
			default:
				line.WriteString("  " + space + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
