//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestARunSaysWhatItFoundAndNothingElse(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	c := flights(t, "-out", out)
	if c.exit() != 0 || c.stderr.Len() > 0 {
		t.Errorf("exit code %d, standard error %q, wanted 0 and nothing", c.exit(), c.stderr.String())
	}
	if strings.Contains(c.stdout.String(), "\x1b") || strings.Contains(c.stdout.String(), "\r") {
		t.Error("there are escape codes in the output of a program that is not on a terminal")
	}
	wantText(t, c.stdout.String(), `
The ten worst routes, of those with at least 50 flights

    route  flights  mean delay  90 % below
  HNL-MSP       63    84\.3 min      60 min
  PHX-DTW      480    59\.7 min      50 min
(  .*\n){8}
The ten airports with the most destinations

  airport  name                       routes  flights  mean delay
  DFW      Dallas Fort Worth Intl        116   50,906   9\.3 min ███████████▋
(  .*\n){9}
223 airports have departures\.
5 of them, with 5,930 flights, are not in the table: BQN, ILE, SJU, STT, STX\.
966,409 flights in [\d.]+m?s \([\d,]+/s\), 52,216 of them more than an hour late\.
Results: `+regexp.QuoteMeta(out)+`/\{origins,routes,worst,hubs,delayed\}
$`)
	for _, line := range strings.Split(c.stdout.String(), "\n") {
		if n := len([]rune(line)); n > 80 && !strings.HasPrefix(line, "Results: ") {
			t.Errorf("%d columns, wanted at most 80: %s", n, line)
		}
		if line != strings.TrimRight(line, " ") {
			t.Errorf("a line ends with spaces: %q", line)
		}
	}
}

func TestWhatCannotWorkSaysWhereAndWritesNothing(t *testing.T) {
	whole, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, b []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	damaged := append([]byte(nil), whole...)
	for i := range 400 {
		damaged[len(damaged)/2+i] ^= 0x5a
	}
	for _, c := range []struct {
		claim string
		args  []string
		want  string // of the standard error
	}{
		{"a missing input is named",
			[]string{"-in", "nowhere.parquet"}, `not started: read "flights": .*nowhere\.parquet: no such file`},
		{"a glob without files is named",
			[]string{"-in", dir + "/*.pq"}, `not started: read "flights": .*\*\.pq": no file matches`},
		{"a directory is no input",
			[]string{"-in", dir}, `not started: read "flights": .*is a directory: name the files in it`},
		{"an input that is cut is named",
			[]string{"-in", file("cut.parquet", whole[:len(whole)/2])}, `not started: read "flights": open Parquet file .*cut\.parquet: `},
		{"an input that is empty is named",
			[]string{"-in", file("empty.parquet", nil)}, `not started: read "flights": open Parquet file .*empty\.parquet: `},
		{"a damaged input is named, with the row group and the column",
			[]string{"-in", file("damaged.parquet", damaged)}, `job "flights" failed: operator "flights", .*damaged\.parquet, row group \d: column "\w+": .*\nflights: stopped after .* are not complete\n$`},
		{"a missing table of airports is named",
			[]string{"-airports", "nowhere.csv"}, `not started: read "airports": .*nowhere\.csv: no such file`},
		{"a table of airports without the columns is named",
			[]string{"-airports", file("wrong.csv", []byte("code,title\nORD,Ohare\n"))}, `not started: read "airports": .*wrong\.csv.*"faa"`},
		{"an output that is no directory is named",
			[]string{"-out", file("file", nil)}, `not started: write "\w+": create output directory: .*not a directory`},
		{"an unknown flag is one line",
			[]string{"-fast"}, `^flights: flag provided but not defined: -fast \(flights -help lists the flags\)\n$`},
		{"an argument is one line",
			[]string{"all"}, `^flights: "all" is no flag \(flights -help lists the flags\)\n$`},
		{"a rate is a number",
			[]string{"-rate", "NaN"}, `^flights: -rate NaN: must be a number of rows, 0 for no limit \(`},
		{"workers are not negative",
			[]string{"-workers", "-1"}, `^flights: -workers -1: must not be negative \(`},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			got := flights(t, append([]string{"-workers", "1", "-out", out}, c.args...)...)
			code := 1
			if strings.Contains(c.want, "-help") || strings.HasPrefix(c.want, "^flights: -") {
				code = 2
			}
			if got.exit() != code {
				t.Errorf("exit code %d, wanted %d", got.exit(), code)
			}
			wantText(t, got.stderr.String(), c.want)
			wantText(t, got.stdout.String(), `^$`)
			for _, name := range found(t, out, func(string) bool { return true }) {
				if temporary(filepath.Base(name)) || filepath.Base(filepath.Dir(name)) != "delayed" {
					t.Errorf("%s was written", name)
				}
			}
		})
	}
}

func TestExplainDescribesTheJobAndRunsNothing(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	c := flights(t, "-explain", "-out", out)
	if c.exit() != 0 || c.stderr.Len() > 0 {
		t.Errorf("exit code %d, standard error %q", c.exit(), c.stderr.String())
	}
	for _, line := range []string{
		`graph "flights": 21 operators`,
		`\d+ +flights +read, bounded .*`,
		`\d+ +name +lookup join .*1 flights.*`,
		` +2 airports, broadcast .*`,
		`\d+ +by route +total .*6 name, key \(aggregated before it is sent\) .*`,
		`state`,
		` +by origin / total +value +key string .*`,
	} {
		wantText(t, c.stdout.String(), `(?m)^ *`+line+`$`)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the output directory: %v, wanted that there is none", err)
	}
}

func TestHelpListsEveryFlag(t *testing.T) {
	t.Parallel()
	c := flights(t, "--help")
	if c.exit() != 0 || c.stderr.Len() > 0 {
		t.Errorf("exit code %d, standard error %q", c.exit(), c.stderr.String())
	}
	wantText(t, c.stdout.String(), `^Usage: flights \[flags\]\n\nReads `)
	for _, flag := range []string{"in", "airports", "out", "workers", "rate", "v", "explain"} {
		wantText(t, c.stdout.String(), `(?m)^  -`+flag+`\b`)
	}
}
