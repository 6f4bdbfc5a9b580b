package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

type row struct {
	ID   int64
	Name string
	Note *string
}

// rowsOf makes n rows whose texts are a trial for CSV, in a fixed order.
func rowsOf(n int) []row {
	pieces := []string{"a", "b,", "\"", "\n", "ü", "", "x y", "\"\"", "\r", "1"}
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, n)
	for i := range rows {
		text := func() string {
			var b strings.Builder
			for range rng.IntN(6) {
				b.WriteString(pieces[rng.IntN(len(pieces))])
			}
			return strings.ReplaceAll(b.String(), "\r\n", "\n")
		}
		rows[i] = row{ID: int64(i), Name: text()}
		if rng.IntN(3) > 0 {
			note := text()
			rows[i].Note = &note
		}
	}
	return rows
}

// written makes one file by a sink and returns its path.
func written[T any](t testing.TB, sink func(dir string) flow.Sink[T], records []T) string {
	t.Helper()
	dir := t.TempDir()
	if err := writeAll(t, sink(dir), records); err != nil {
		t.Fatal(err)
	}
	names := list(t, dir)
	if len(names) != 1 {
		t.Fatalf("the sink wrote %q, want one file", names)
	}
	return filepath.Join(dir, names[0])
}

// checkPositions reads every split and, from each position on the way, its rest.
func checkPositions[T any](t *testing.T, src flow.Source[T]) {
	t.Helper()
	ctx := context.Background()
	splits, err := src.Splits(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range splits {
		want, err := readSplit(src, s, nil, 1000)
		if err != nil {
			t.Fatal(err)
		}
		r, err := src.Open(ctx, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		records, bad := 0, 0
		for ended := false; !ended; {
			rest, err := readSplit(src, s, r.Position(), 3)
			if err != nil {
				t.Fatalf("split %s from record %d: %v", s.ID, records, err)
			}
			if !reflect.DeepEqual(rest.records, want.records[records:]) && len(rest.records)+len(want.records[records:]) > 0 {
				t.Fatalf("split %s from record %d:\n got %+v\nwant %+v", s.ID, records, rest.records, want.records[records:])
			}
			if len(rest.bad) != len(want.bad[bad:]) || len(rest.bad) > 0 && !reflect.DeepEqual(rest.bad, want.bad[bad:]) {
				t.Fatalf("split %s from record %d: bad records\n got %q\nwant %q", s.ID, records, rest.bad, want.bad[bad:])
			}
			n, err := r.Read(ctx, make([]T, 1))
			records += n
			if _, isBad := errors.AsType[*flow.RecordError](err); isBad {
				bad++
			} else if err == io.EOF {
				ended = true
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if records != len(want.records) || bad != len(want.bad) {
			t.Fatalf("split %s one by one: %d records, %d bad; want %d, %d", s.ID, records, bad, len(want.records), len(want.bad))
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadingFromEveryPositionGivesTheRest(t *testing.T) {
	rows := rowsOf(40)
	csv := written(t, func(d string) flow.Sink[row] { return ToCSV[row](d) }, rows)
	json := written(t, func(d string) flow.Sink[row] { return ToJSONLines[row](d) }, rows)
	badLines := "{\"ID\":1}\nnot json\n\n{\"ID\":2}\r\n{\"ID\":true}\n{\"ID\":3}"
	badCSV := "\xef\xbb\xbfid,name,note\n1,a,b\n2,a\n\n3,\"x\ny\",z\n4,x\"y,z\nfive,a,b\n6,\xff,c\n7,\"q\"r\n8,\"a\r\nb\",\"\"\n"
	pack := func(name, content string) string {
		if strings.HasSuffix(name, ".gz") {
			half := len(content) / 2
			return writeFile(t, name, gzipped(t, content[:half], content[half:]))
		}
		return writeFile(t, name, zstded(t, content))
	}
	content := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, size := range []int64{1, 10, 100, 1 << 20} {
		small := SplitSize(size)
		t.Run(fmt.Sprintf("splits of %d bytes", size), func(t *testing.T) {
			t.Run("CSV", func(t *testing.T) { checkPositions(t, CSV[row](csv, small)) })
			t.Run("JSON lines", func(t *testing.T) { checkPositions(t, JSONLines[row](json, small)) })
			t.Run("lines", func(t *testing.T) { checkPositions(t, Lines(csv, small)) })
			t.Run("bad JSON lines", func(t *testing.T) { checkPositions(t, JSONLines[row](writeFile(t, "a", badLines), small)) })
			t.Run("bad CSV", func(t *testing.T) { checkPositions(t, CSV[row](writeFile(t, "a", badCSV), small)) })
		})
	}
	for _, name := range []string{"a.gz", "a.zst"} {
		t.Run(name, func(t *testing.T) {
			t.Run("CSV", func(t *testing.T) { checkPositions(t, CSV[row](pack(name, content(csv)))) })
			t.Run("JSON lines", func(t *testing.T) { checkPositions(t, JSONLines[row](pack(name, content(json)))) })
			t.Run("lines", func(t *testing.T) { checkPositions(t, Lines(pack(name, content(csv)))) })
			t.Run("bad JSON lines", func(t *testing.T) { checkPositions(t, JSONLines[row](pack(name, badLines))) })
			t.Run("bad CSV", func(t *testing.T) { checkPositions(t, CSV[row](pack(name, badCSV))) })
		})
	}
	t.Run("Parquet", func(t *testing.T) {
		checkPositions(t, Parquet[row](written(t, func(d string) flow.Sink[row] { return ToParquet[row](d) }, rows)))
	})
	t.Run("Parquet of all types", func(t *testing.T) {
		all := append(someOfEverything(), someOfEverything()...)
		checkPositions(t, Parquet[everything](written(t, func(d string) flow.Sink[everything] { return ToParquet[everything](d) }, all)))
	})
}

func TestAChangedFileIsRefused(t *testing.T) {
	const before = "{\"ID\":1}\n{\"ID\":2}\n{\"ID\":3}\n"
	old := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name   string
		after  string
		mtime  time.Time
		reason string
	}{
		{"longer", before + "{}\n", old, "it had 27 bytes and now has 30"},
		{"other content of the same size", strings.ReplaceAll(before, "3", "4"), old, "its first bytes are others"},
		{"touched", before, old.Add(time.Second), "its modification time is another"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := writeFile(t, "a.jsonl", before)
			set := func(content string, at time.Time) {
				t.Helper()
				if err := errors.Join(os.WriteFile(path, []byte(content), 0o644), os.Chtimes(path, at, at)); err != nil {
					t.Fatal(err)
				}
			}
			set(before, old)
			src := JSONLines[row](path)
			ctx := context.Background()
			splits, err := src.Splits(ctx)
			if err != nil {
				t.Fatal(err)
			}
			r, err := src.Open(ctx, splits[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := r.Read(ctx, make([]row, 1)); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			from := r.Position()

			set(tt.after, tt.mtime)
			_, err = readSplit(src, splits[0], nil, 10)
			wantError(t, err, path, tt.reason)
			fresh, err := src.Splits(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_, err = readSplit(src, fresh[0], from, 10)
			wantError(t, err, path, tt.reason)
			_, err = readRest(ctx, r)
			wantError(t, err, path, "changed")

			got, err := readSplit(JSONLines[row](path, AllowChanged()), fresh[0], from, 10)
			if err != nil || len(got.records) != strings.Count(tt.after, "\n")-1 {
				t.Errorf("with AllowChanged: %+v, %v", got, err)
			}
		})
	}
}

func readRest[T any](ctx context.Context, r flow.Reader[T]) (n int, err error) {
	for err == nil {
		var more int
		more, err = r.Read(ctx, make([]T, 1))
		n += more
	}
	if err == io.EOF {
		err = nil
	}
	return n, errors.Join(err, r.Close())
}

func TestAFileThatIsCutWhileItIsReadIsAnError(t *testing.T) {
	path := writeFile(t, "a.txt", strings.Repeat("a line of text\n", 100_000))
	ctx := context.Background()
	src := Lines(path)
	splits, err := src.Splits(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(ctx, splits[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(ctx, make([]Line, 10)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 15*50_000); err != nil {
		t.Fatal(err)
	}
	_, err = readRest(ctx, r)
	wantError(t, err, path, "it ends at byte 750000 instead of 1500000")
}
