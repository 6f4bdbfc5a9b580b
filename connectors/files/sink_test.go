package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/env"
)

type keyValue[K, V any] struct {
	Key   K
	Value V
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCSVPartsLookAsUsersExpect(t *testing.T) {
	type route struct{ From, To string }
	type stats struct {
		Flights int64
		Mean    float64 `csv:"avg"`
		Secret  int     `csv:"-"`
	}
	for _, tt := range []struct {
		name  string
		write func(dir string) error
		want  string
	}{
		{"a count", func(d string) error {
			return writeAll(t, ToCSV[keyValue[string, int64]](d), []keyValue[string, int64]{{"a", 1}, {"b,c", 2}})
		}, "key,value\na,1\n\"b,c\",2\n"},
		{"nested structs", func(d string) error {
			return writeAll(t, ToCSV[keyValue[route, stats]](d), []keyValue[route, stats]{{route{"JFK", "SFO"}, stats{3, 1.5, 9}}})
		}, "key_from,key_to,value_flights,value_avg\nJFK,SFO,3,1.5\n"},
		{"structs tagged inline", func(d string) error {
			type flat struct {
				R route `csv:",inline"`
				N int
			}
			return writeAll(t, ToCSV[flat](d), []flat{{route{"a", "b"}, 1}})
		}, "from,to,n\na,b,1\n"},
		{"a scalar", func(d string) error { return writeAll(t, ToCSV[float64](d), []float64{1e6, 1e-7, 0.1}) },
			"value\n1000000\n1e-07\n0.1\n"},
		{"times", func(d string) error {
			at := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
			return writeAll(t, ToCSV[keyValue[time.Time, flow.Time]](d), []keyValue[time.Time, flow.Time]{{at, flow.TimeOf(at).Add(time.Microsecond)}})
		}, "key,value\n2001-02-03T04:05:06Z,2001-02-03T04:05:06.000001Z\n"},
		{"no header", func(d string) error {
			return writeAll(t, ToCSV[keyValue[string, *int]](d, NoHeader(), Nulls("NA"), Delimiter(';')), []keyValue[string, *int]{{"NA", nil}})
		}, "\"NA\";NA\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "made", "by", "the", "sink")
			if err := tt.write(dir); err != nil {
				t.Fatal(err)
			}
			if got := readFile(t, filepath.Join(dir, "part-00000-0000.csv")); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestPartsRollBySizeAndAge(t *testing.T) {
	t.Run("size", func(t *testing.T) {
		dir := t.TempDir()
		if err := writeAll(t, ToJSONLines[int](dir, RollBytes(4)), []int{1, 2, 3}, []int{4}, []int{5}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"part-00000-0000.jsonl": "1\n2\n3\n", "part-00000-0001.jsonl": "4\n5\n"}
		for name, content := range want {
			if got := readFile(t, filepath.Join(dir, name)); got != content {
				t.Errorf("%s has %q, want %q", name, got, content)
			}
		}
		if names := list(t, dir); len(names) != len(want) {
			t.Errorf("the directory has %q", names)
		}
	})
	t.Run("age", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			w, err := ToJSONLines[int](dir, RollEvery(time.Minute)).Open(ctx, flow.TaskInfo{Index: 3})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for i, pause := range []time.Duration{0, 59 * time.Second, time.Second, 0} {
				time.Sleep(pause)
				if err := w.Write(ctx, []int{i}); err != nil {
					t.Fatal(err)
				}
			}
			if got := readFile(t, filepath.Join(dir, "part-00003-0000.jsonl")); got != "0\n1\n2\n" {
				t.Errorf("the first part has %q", got)
			}
		})
	})
}

func TestOnlyCompletePartsHaveTheirName(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	sink := ToCSV[keyValue[string, int]](dir)
	w, err := sink.Open(ctx, flow.TaskInfo{Index: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, []keyValue[string, int]{{"a", 1}}); err != nil {
		t.Fatal(err)
	}
	if names := list(t, dir); len(names) != 1 || !temporaryName.MatchString(names[0]) {
		t.Errorf("while a part is written the directory has %q", names)
	}
	if _, err := Lines(filepath.Join(dir, "*")).Splits(ctx); err == nil {
		t.Error("a glob finds a part that is being written")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if names := list(t, dir); len(names) != 0 {
		t.Errorf("after Close without Flush the directory has %q", names)
	}
	if err := w.Write(ctx, []keyValue[string, int]{{"a", 1}}); err == nil {
		t.Error("a closed writer writes")
	}
}

func TestWhatIsInTheDirectoryAlready(t *testing.T) {
	const part, left = "part-00000-0007.csv", ".part-00000-0008.csv.inprogress-0"
	for _, tt := range []struct {
		name  string
		opts  []Option
		fails string
		want  []string
	}{
		{"is refused", nil, part, []string{left, "notes", part}},
		{"is added to", []Option{Append()}, "", []string{left, "notes", part, "part-00000-0008.csv"}},
		{"is replaced", []Option{Overwrite()}, "", []string{"notes", "part-00000-0000.csv"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{part, left, "notes"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := writeAll(t, ToCSV[int](dir, tt.opts...), []int{1})
			if tt.fails != "" {
				wantError(t, err, dir, tt.fails, "Append or Overwrite")
			} else if err != nil {
				t.Fatal(err)
			}
			if got := list(t, dir); strings.Join(got, " ") != strings.Join(tt.want, " ") {
				t.Errorf("the directory has %q, want %q", got, tt.want)
			}
			for _, name := range tt.want {
				if name == part || name == left || name == "notes" {
					if got := readFile(t, filepath.Join(dir, name)); got != "old" {
						t.Errorf("%s was written to: %q", name, got)
					}
				}
			}
		})
	}
}

func TestAForeignFileIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	w, err := ToCSV[int](dir).Open(ctx, flow.TaskInfo{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, []int{1}); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "part-00000-0000.csv")
	if err := os.WriteFile(foreign, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.Flush(ctx), foreign, "exist")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := list(t, dir); len(got) != 1 || readFile(t, foreign) != "theirs" {
		t.Errorf("the directory has %q", got)
	}
}

// faultFS is the operating system's file system with faults.
type faultFS struct {
	env.OS
	full                     int // bytes that fit into files
	syncErr, renameErr, dirs error
}

func (f *faultFS) Create(name string, perm fs.FileMode) (env.File, error) {
	file, err := f.OS.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, f}, nil
}

func (f *faultFS) Rename(from, to string) error {
	if f.renameErr != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: f.renameErr}
	}
	return f.OS.Rename(from, to)
}

func (f *faultFS) SyncDir(name string) error { return errors.Join(f.dirs, f.OS.SyncDir(name)) }

type faultFile struct {
	env.File
	fs *faultFS
}

func (f *faultFile) Write(b []byte) (int, error) {
	if len(b) > f.fs.full {
		n, _ := f.File.Write(b[:f.fs.full])
		f.fs.full -= n
		return n, &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	f.fs.full -= len(b)
	return f.File.Write(b)
}

func (f *faultFile) Sync() error { return errors.Join(f.fs.syncErr, f.File.Sync()) }

func TestFaultsOfTheDiskLeaveNothingBehind(t *testing.T) {
	const plenty = 1 << 30
	records := make([]row, 5000)
	for i := range records {
		records[i] = row{ID: int64(i), Name: strings.Repeat("name", i%40)}
	}
	for _, tt := range []struct {
		name string
		fs   faultFS
		says []string
		left int
	}{
		{"a full disk", faultFS{full: 1000}, []string{"part-00000-0000.", "at byte 1000", "no space left"}, 0},
		{"a sync that fails", faultFS{full: plenty, syncErr: syscall.EIO}, []string{"part-00000-0000.", "input/output error"}, 0},
		{"a rename that fails", faultFS{full: plenty, renameErr: syscall.EIO}, []string{"complete", "part-00000-0000.", "input/output error"}, 0},
		{"a directory that can't be synced", faultFS{full: plenty, dirs: syscall.EIO}, []string{"part-00000-0000.", "sync its directory"}, 1},
	} {
		for format, sink := range map[string]func(string) flow.Sink[row]{
			"CSV":        func(d string) flow.Sink[row] { return ToCSV[row](d) },
			"CSV, gzip":  func(d string) flow.Sink[row] { return ToCSV[row](d, Compress(Gzip)) },
			"JSON, zstd": func(d string) flow.Sink[row] { return ToJSONLines[row](d, Compress(Zstd)) },
			"Parquet":    func(d string) flow.Sink[row] { return ToParquet[row](d) },
		} {
			t.Run(tt.name+" "+format, func(t *testing.T) {
				dir := t.TempDir()
				faults := tt.fs
				ctx := env.WithFS(context.Background(), &faults)
				w, err := sink(dir).Open(ctx, flow.TaskInfo{})
				if err != nil {
					t.Fatal(err)
				}
				err = w.Write(ctx, records)
				if err == nil {
					err = w.Flush(ctx)
				}
				wantError(t, err, append(tt.says, dir)...)
				if again := w.Flush(ctx); again == nil {
					t.Error("a later Flush says that all is well")
				}
				if again := w.Write(ctx, records); again == nil {
					t.Error("a later Write says that all is well")
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
				if names := list(t, dir); len(names) != tt.left {
					t.Errorf("the directory has %q", names)
				}
			})
		}
	}
}

func TestADirectoryThatCannotBeWrittenIsAnErrorBeforeTheJob(t *testing.T) {
	inTheWay := writeFile(t, "file", "")
	ctx := context.Background()
	err := ToCSV[int](filepath.Join(inTheWay, "out")).(flow.Checker).Check(ctx)
	wantError(t, err, "create output directory", inTheWay)
	wantError(t, ToCSV[int](t.TempDir(), Lenient()).(flow.Checker).Check(ctx), "Lenient", "no meaning")
	wantError(t, ToCSV[[]int](t.TempDir()).(flow.Checker).Check(ctx), "[]int")

	full := &faultFS{full: 0}
	err = ToCSV[int](t.TempDir()).(flow.Checker).Check(env.WithFS(ctx, full))
	if err != nil {
		t.Errorf("the proof that files can be written needs room: %v", err)
	}
}
