package files

import (
	"encoding/csv"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkSplits compares reading in ranges of any size with reading at once.
func checkSplits[T any](t *rapid.T, path string, read func(opts ...Option) (outcome[T], error)) {
	whole, err := read()
	if err != nil {
		t.Fatal(err)
	}
	size := rapid.Int64Range(1, 200).Draw(t, "size")
	parts, err := read(SplitSize(size))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", parts) != fmt.Sprintf("%+v", whole) {
		t.Fatalf("in ranges of %d bytes:\n got %+v\nwant %+v", size, parts, whole)
	}
}

func TestRangesOfAnySizeGiveTheSameRecords(t *testing.T) {
	type cells struct{ A, B string }
	dir := t.TempDir()
	file := func(t *rapid.T, content string) string {
		f, err := os.CreateTemp(dir, "*")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(content); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return f.Name()
	}
	t.Run("lines", rapid.MakeCheck(func(t *rapid.T) {
		path := file(t, rapid.StringOf(rapid.RuneFrom([]rune("ab\n\r\xff"))).Draw(t, "text"))
		checkSplits(t, path, func(opts ...Option) (outcome[Line], error) { return readSource(Lines(path, opts...), 3) })
	}))
	t.Run("JSON lines", rapid.MakeCheck(func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{`{"A":"x"}`, `{"B":"é"}`, "", " ", "{", `{"A":1}`, "\xff"})).Draw(t, "lines")
		path := file(t, strings.Join(lines, "\n"))
		checkSplits(t, path, func(opts ...Option) (outcome[cells], error) { return readSource(JSONLines[cells](path, opts...), 3) })
	}))
	t.Run("CSV, well formed and not", rapid.MakeCheck(func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab,\"\"\n\r"))).Draw(t, "text")
		path := file(t, "a,b\n"+text)
		checkSplits(t, path, func(opts ...Option) (outcome[cells], error) { return readSource(CSV[cells](path, opts...), 3) })
	}))
	t.Run("CSV with quoted line ends", rapid.MakeCheck(func(t *rapid.T) {
		records := rapid.SliceOf(rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("ab,\" \n"))), 2, 2)).Draw(t, "records")
		var b strings.Builder
		w := csv.NewWriter(&b)
		if err := w.WriteAll(append([][]string{{"a", "b"}}, records...)); err != nil {
			t.Fatal(err)
		}
		path := file(t, b.String())
		size := rapid.Int64Range(1, 200).Draw(t, "size")
		got, err := readSource(CSV[cells](path, SplitSize(size)), 3)
		if err != nil || len(got.bad) > 0 {
			t.Fatal(err, got.bad)
		}
		var want []cells
		for _, r := range records {
			want = append(want, cells{r[0], r[1]})
		}
		if !reflect.DeepEqual(got.records, want) {
			t.Fatalf("got %+v\nwant %+v", got.records, want)
		}
	}))
}

func TestLargePlainFilesAreDivided(t *testing.T) {
	type cells struct{ A, B string }
	lines := writeFile(t, "a.txt", strings.Repeat("0123456789\n", 1000))
	records := writeFile(t, "a.csv", "a,b\n"+strings.Repeat("\"0\n2\",6789\n", 1000))
	for name, splits := range map[string]int{"lines": splitCount(t, Lines(lines, SplitSize(1100))), "CSV": splitCount(t, CSV[cells](records, SplitSize(1100)))} {
		if splits != 10 {
			t.Errorf("%s: %d splits, want 10", name, splits)
		}
	}
}
