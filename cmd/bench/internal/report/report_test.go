package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestJudge(t *testing.T) {
	atLeast, atMost := Limit{Must: 2, Aim: 3}, Limit{Must: 150, Aim: 60, Below: true}
	for _, c := range []struct {
		claim string
		limit Limit
		value float64
		want  Verdict
	}{
		{"below the must", atLeast, 1.99, Missed},
		{"the must is enough", atLeast, 2, OK},
		{"the aim is enough", atLeast, 3, Aimed},
		{"above an upper must", atMost, 151, Missed},
		{"an upper must is enough", atMost, 150, OK},
		{"below an upper aim", atMost, 1, Aimed},
		{"what was not measured is missed", atMost, math.NaN(), Missed},
	} {
		if got := c.limit.Judge(c.value); got != c.want {
			t.Errorf("%s: got %q, want %q", c.claim, got, c.want)
		}
	}
}

func TestLineCountsTheRecordsOfAllCopies(t *testing.T) {
	samples := []harness.Sample{{Wall: time.Second, CPU: 2 * time.Second, Mallocs: 200}}
	l := LineOf(harness.Program{Name: "2 copies", Copies: 2}, 1000, samples)
	if l.Nanos.Median != 5e5 || l.PerSecond != 2000 || l.Allocs != 0.1 || l.CPUSeconds != 2 || l.CPUNanos != 1e6 {
		t.Errorf("got %+v", l)
	}
}

// sample is a report with a bit of everything.
func sample() *Report {
	aa := harness.Ratio{Median: 1.002, Lo: 0.97, Hi: 1.04, N: 3}
	q := harness.Quantiles{Count: 1000, P50: 4500, P99: 17_000, P999: 42_000, Max: 1_250_000}
	lines := []Line{
		{Program: "engine, 2 workers", Nanos: harness.Ratio{Median: 11.9, Lo: 11.5, Hi: 12.7, N: 3}, PerSecond: 84e6, Allocs: 0.0001,
			WallSeconds: 0.0238, CPUSeconds: 0.047, CPUNanos: 23.5, PeakRSS: 52_000_000, Latency: &q, Samples: []float64{11.9, 11.5, 12.7}},
		{Program: "chan []T, free, b=1024", Nanos: harness.Ratio{Median: 20.25, Lo: 19, Hi: 22, N: 3}, PerSecond: 49.4e6,
			WallSeconds: 0.0405, CPUSeconds: 0.079, CPUNanos: 39.5, Samples: []float64{20.25, 19, 22}},
	}
	rows := []Row{
		{Name: "engine vs chan []T", Value: harness.Ratio{Median: 1.702, Lo: 1.6, Hi: 1.8, N: 3}, Unit: "x",
			Limit: &Limit{Must: 1.4, Aim: 2}, Note: "vs chan []T, free, b=1024"},
		{Name: "engine vs loop", Value: harness.Ratio{Median: 1.01, Lo: 0.99, Hi: 1.1, N: 3}, Unit: "x", Limit: &Limit{Must: 1.2, Aim: 2}, Same: true},
		{Name: "peak RSS", Value: harness.Ratio{Median: 52, Lo: 52, Hi: 52, N: 1}, Unit: "MB", Limit: &Limit{Must: 150, Aim: 60, Below: true}},
	}
	return &Report{
		Host: Host{OS: "linux", Arch: "amd64", Go: "go1.26", CPU: "Some CPU", Cores: 2, WorkNs: 20.04},
		Suites: []Suite{{
			Name: "pipeline", About: "five stages",
			Gaps:  harness.Gaps{Quantiles: harness.Quantiles{Count: 9, P50: 38, P99: 60, P999: 400, Max: 81_000}, Over10us: 3, Lost: 0.0012},
			Cases: []Case{{Name: "throughput, 48 B", Records: 2_000_000, Lines: lines, AA: &aa, Rows: rows, Notes: []string{"a note"}}},
		}},
	}
}

func TestFormatsMatchTheirGoldenFiles(t *testing.T) {
	r := sample()
	for _, c := range []struct {
		file  string
		print func(io.Writer) error
	}{
		{"table.txt", func(w io.Writer) error {
			if err := TableHead(w, r.Host); err != nil {
				return err
			}
			return Table(w, &r.Suites[0])
		}},
		{"gobench.txt", func(w io.Writer) error {
			if err := GoBenchHead(w, r.Host); err != nil {
				return err
			}
			return GoBench(w, &r.Suites[0])
		}},
		{"report.json", func(w io.Writer) error { return JSON(w, r) }},
	} {
		var got bytes.Buffer
		if err := c.print(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", c.file)
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
			t.Errorf("%s differs; got:\n%s", c.file, got.Bytes())
		}
	}
}

func TestABusyHostIsSaid(t *testing.T) {
	for _, c := range []struct {
		lost float64
		want bool
	}{{0.01, false}, {0.5, true}} {
		s := sample().Suites[0]
		s.Gaps.Lost = c.lost
		var got bytes.Buffer
		if err := Table(&got, &s); err != nil {
			t.Fatal(err)
		}
		if warned := bytes.Contains(got.Bytes(), []byte("WARNING")); warned != c.want {
			t.Errorf("%.0f%% of the time lost: warned %v, want %v", 100*c.lost, warned, c.want)
		}
	}
}

func TestJSONCanBeReadBack(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Suites[0].Missed() != 1 {
		t.Errorf("%d limits missed, want 1", got.Suites[0].Missed())
	}
}
