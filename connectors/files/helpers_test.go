package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tailrace-io/tailrace/flow"
)

// writeFile makes a file in a new directory and returns its path.
func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(t testing.TB, members ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, m := range members {
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(m)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func zstded(t testing.TB, frames ...string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, f := range frames {
		b = z.EncodeAll([]byte(f), b)
	}
	return string(b)
}

// outcome is what reading gave: records, and the bad ones' errors.
type outcome[T any] struct {
	records []T
	bad     []string
}

// readSplit reads a split from a position on, in batches of that size.
func readSplit[T any](src flow.Source[T], s flow.Split, from flow.Position, batch int) (outcome[T], error) {
	ctx := context.Background()
	var got outcome[T]
	r, err := src.Open(ctx, s, from)
	if err != nil {
		return got, err
	}
	for {
		buf := make([]T, batch)
		n, err := r.Read(ctx, buf)
		got.records = append(got.records, buf[:n]...)
		if bad, ok := errors.AsType[*flow.RecordError](err); ok {
			got.bad = append(got.bad, bad.Err.Error())
			continue
		}
		if err == io.EOF {
			return got, r.Close()
		}
		if err != nil {
			return got, errors.Join(err, r.Close())
		}
	}
}

// readSource reads all splits of a source.
func readSource[T any](src flow.Source[T], batch int) (outcome[T], error) {
	var all outcome[T]
	if c, ok := src.(flow.Checker); ok {
		if err := c.Check(context.Background()); err != nil {
			return all, err
		}
	}
	splits, err := src.Splits(context.Background())
	if err != nil {
		return all, err
	}
	for _, s := range splits {
		got, err := readSplit(src, s, nil, batch)
		all.records = append(all.records, got.records...)
		all.bad = append(all.bad, got.bad...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func mustRead[T any](t testing.TB, src flow.Source[T]) []T {
	t.Helper()
	got, err := readSource(src, 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.bad) > 0 {
		t.Fatalf("bad records: %q", got.bad)
	}
	return got.records
}

// wantError checks that err says all of the given.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q doesn't say %q", err, part)
		}
	}
}

// writeAll writes records through a sink, as one task, in batches.
func writeAll[T any](t testing.TB, sink flow.Sink[T], batches ...[]T) error {
	t.Helper()
	ctx := context.Background()
	if err := sink.(flow.Checker).Check(ctx); err != nil {
		return err
	}
	w, err := sink.Open(ctx, flow.TaskInfo{Operator: "out", Index: 0, Parallelism: 1})
	if err != nil {
		return err
	}
	for _, b := range batches {
		if err := w.Write(ctx, b); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	if err := w.Flush(ctx); err != nil {
		return errors.Join(err, w.Close())
	}
	return w.Close()
}

// list returns the names in a directory.
func list(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func splitCount[T any](t testing.TB, src flow.Source[T]) int {
	t.Helper()
	splits, err := src.Splits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range splits {
		if seen[s.ID] {
			t.Errorf("two splits have the ID %q", s.ID)
		}
		seen[s.ID] = true
	}
	return len(splits)
}

func sinkOf[T any](opts []Option) func(dir string) flow.Sink[T] {
	return func(dir string) flow.Sink[T] { return ToCSV[T](dir, opts...) }
}
