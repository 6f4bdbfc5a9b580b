package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
)

// readers opens all splits of a source.
func readers(t *testing.T, src flow.Source[flight]) (all []flow.Reader[flight]) {
	t.Helper()
	splits, err := src.Splits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range splits {
		r, err := src.Open(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestAPacedSourceReadsAllRowsAtTheRateOfAllItsTasks(t *testing.T) {
	for _, c := range []struct {
		rows int
		rate float64
		want time.Duration
	}{
		{1000, 100, 10 * time.Second},
		{30, 0.5, time.Minute},
		{100_000, 1e6, 100 * time.Millisecond},
		{1000, 1e300, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			var mu sync.Mutex
			seen := map[int32]bool{}
			var reading sync.WaitGroup
			for _, r := range readers(t, paced(memory.FromSlice(numbered(c.rows), 3), c.rate)) {
				reading.Go(func() {
					buf := make([]flight, 512)
					for {
						n, err := r.Read(t.Context(), buf)
						mu.Lock()
						for _, f := range buf[:n] {
							seen[f.Delay] = true
						}
						mu.Unlock()
						if err == io.EOF {
							return
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			reading.Wait()
			if took := time.Since(begun); took != c.want || len(seen) != c.rows {
				t.Errorf("%d of %d rows at %v/s in %v, wanted %v", len(seen), c.rows, c.rate, took, c.want)
			}
		})
	}
}

func numbered(n int) []flight {
	rows := make([]flight, n)
	for i := range rows {
		rows[i].Delay = int32(i)
	}
	return rows
}

func TestAPacedReadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readers(t, paced(memory.From(numbered(10)...), 0.001))[0]
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := r.Read(ctx, make([]flight, 10))
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Read: %v, wanted that it was canceled", err)
		}
	})
}

func TestAPacedSourceIsCheckedLikeTheSourceItself(t *testing.T) {
	src := files.Parquet[flight]("nowhere.parquet")
	if paced(src, 0) != src {
		t.Error("a source without a rate is changed")
	}
	if err := paced(src, 1).(flow.Checker).Check(t.Context()); err == nil {
		t.Error("a missing file was not found")
	}
	if err := paced(memory.From[flight](), 1).(flow.Checker).Check(t.Context()); err != nil {
		t.Error(err)
	}
}
