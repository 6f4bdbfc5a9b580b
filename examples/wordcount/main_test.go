package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
)

// countAgain counts the words of the shipped files in another way.
func countAgain(t *testing.T) map[string]int64 {
	t.Helper()
	word := regexp.MustCompile(`\pL+(?:'+\pL+)*`)
	counts := map[string]int64{}
	names, err := filepath.Glob("data/*.jsonl.gz")
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		unzipped, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unzipped)
		for lines.Scan() {
			var row map[string]any
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			for _, w := range word.FindAllString(strings.ToLower(row["text"].(string)), -1) {
				counts[w]++
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return counts
}

// written reads what the job wrote.
func written(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "part-") {
			t.Errorf("%s was left behind", e.Name())
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil || !slices.Equal(rows[0], []string{"key", "value"}) {
			t.Fatalf("%s begins with %v: %v", e.Name(), rows[0], err)
		}
		f.Close()
		for _, r := range rows[1:] {
			if _, twice := counts[r[0]]; twice {
				t.Errorf("%q is there twice", r[0])
			}
			if counts[r[0]], err = strconv.ParseInt(r[1], 10, 64); err != nil {
				t.Error(err)
			}
		}
	}
	return counts
}

func TestEveryWordIsCounted(t *testing.T) {
	want := countAgain(t)
	if len(want) < 4000 || want["light"] < 800 {
		t.Fatalf("the data is not what it was: %d words, light %d times", len(want), want["light"])
	}
	ranking := slices.SortedFunc(maps.Keys(want), func(a, b string) int {
		return cmp.Or(cmp.Compare(want[b], want[a]), strings.Compare(a, b))
	})
	out := t.TempDir()
	for _, workers := range []int{1, 2, 3} {
		var top memory.Collected[ranked]
		if _, err := exec.Run(context.Background(), build("data/*.jsonl.gz", out, top.Sink()), exec.Options{Workers: workers}); err != nil {
			t.Fatal(err)
		}
		if got := written(t, out); !maps.Equal(got, want) {
			t.Errorf("%d workers: %d words, wanted %d, or other counts", workers, len(got), len(want))
		}
		if got := top.Records(); len(got) != 1 || len(got[0].Value) != 20 {
			t.Fatalf("%d workers: the most frequent are %v", workers, got)
		}
		for i, c := range top.Records()[0].Value {
			if c.Key != ranking[i] || c.Value != want[c.Key] {
				t.Errorf("%d workers: number %d is %v, wanted %s", workers, i, c, ranking[i])
			}
		}
	}
}
