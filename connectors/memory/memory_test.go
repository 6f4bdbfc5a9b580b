package memory

import (
	"context"
	"errors"
	"io"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/tailrace-io/tailrace/flow"
)

func ints(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func open[T any](t testing.TB, src flow.Source[T], s flow.Split, from flow.Position) flow.Reader[T] {
	t.Helper()
	r, err := src.Open(context.Background(), s, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// rest reads what is left of a split in batches of that size.
func rest[T any](t testing.TB, r flow.Reader[T], batch int) (all []T) {
	t.Helper()
	buf := make([]T, batch)
	for {
		n, err := r.Read(context.Background(), buf)
		all = append(all, buf[:n]...)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func splitsOf[T any](t testing.TB, src flow.Source[T]) []flow.Split {
	t.Helper()
	splits, err := src.Splits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return splits
}

func seqOf(records []int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for _, v := range records {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func TestReadingFromEveryPositionGivesTheRest(t *testing.T) {
	for name, src := range map[string]flow.Source[int]{
		"From":            From(ints(10)...),
		"From nothing":    From[int](),
		"FromSlice":       FromSlice(ints(10), 3),
		"more splits":     FromSlice(ints(2), 5),
		"no splits asked": FromSlice(ints(2), 0),
		"FromSplits":      FromSplits([]int{1, 2}, nil, []int{3}),
		"FromSeq":         FromSeq(seqOf(ints(10))),
	} {
		t.Run(name, func(t *testing.T) {
			if !src.Bounded() {
				t.Error("the source isn't bounded")
			}
			for _, s := range splitsOf(t, src) {
				want := rest(t, open(t, src, s, nil), 4)
				r := open(t, src, s, nil)
				for i := range want {
					if got := rest(t, open(t, src, s, r.Position()), 3); !slices.Equal(got, want[i:]) {
						t.Errorf("split %s from record %d: got %v, want %v", s.ID, i, got, want[i:])
					}
					if n, err := r.Read(context.Background(), make([]int, 1)); n != 1 || err != nil && err != io.EOF {
						t.Fatal(n, err)
					}
				}
				if got := rest(t, open(t, src, s, r.Position()), 3); len(got) != 0 {
					t.Errorf("split %s from its end: got %v", s.ID, got)
				}
			}
		})
	}
}

func TestSplitsHaveAllRecordsInOrder(t *testing.T) {
	for splits := 1; splits < 13; splits++ {
		src := FromSlice(ints(10), splits)
		var got []int
		for _, s := range splitsOf(t, src) {
			got = append(got, rest(t, open(t, src, s, nil), 4)...)
		}
		if !slices.Equal(got, ints(10)) {
			t.Errorf("%d splits: got %v", splits, got)
		}
	}
}

func TestPositionsOfOtherSourcesAreRefused(t *testing.T) {
	ctx := context.Background()
	for name, open := range map[string]func() error{
		"a position after the end": func() error { _, err := From(1).Open(ctx, flow.Split{ID: "0"}, formatCount(2)); return err },
		"no position":              func() error { _, err := From(1).Open(ctx, flow.Split{ID: "0"}, flow.Position{0xff}); return err },
		"an empty position":        func() error { _, err := From(1).Open(ctx, flow.Split{ID: "0"}, flow.Position{}); return err },
		"a split of another":       func() error { _, err := From(1).Open(ctx, flow.Split{ID: "1"}, nil); return err },
		"no split":                 func() error { _, err := From(1).Open(ctx, flow.Split{ID: "x"}, nil); return err },
		"a shorter sequence": func() error {
			_, err := FromSeq(seqOf(ints(3))).Open(ctx, flow.Split{ID: "0"}, formatCount(4))
			return err
		},
		"no position in a sequence": func() error { _, err := FromSeq(seqOf(nil)).Open(ctx, flow.Split{}, flow.Position{0xff}); return err },
		"no position in a channel":  func() error { _, err := FromChan[int](nil).Open(ctx, flow.Split{}, flow.Position{0xff}); return err },
	} {
		if open() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestASequencesErrors(t *testing.T) {
	boom := errors.New("boom")
	bad := &flow.RecordError{Err: errors.New("bad")}
	seq := func(yield func(int, error) bool) {
		_ = yield(1, nil) && yield(0, bad) && yield(2, nil) && yield(0, boom)
	}
	ctx := context.Background()
	src := FromSeq(seq)
	r := open(t, src, splitsOf(t, src)[0], nil)
	buf := make([]int, 5)
	if n, err := r.Read(ctx, buf); n != 1 || err != bad {
		t.Errorf("got %d, %v; want 1 record and the bad one's error", n, err)
	}
	again := open(t, src, splitsOf(t, src)[0], r.Position())
	if n, err := again.Read(ctx, buf); n != 1 || buf[0] != 2 || !errors.Is(err, boom) {
		t.Errorf("after the bad record: got %d, %v; want record 2 and the sequence's error", n, err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Read(canceled, buf); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled Read returns %v", err)
	}
}

func TestAChannelIsReadUntilItIsClosed(t *testing.T) {
	ch := make(chan int, 10)
	src := FromChan(ch)
	if !src.Bounded() || FromChan(ch, Unbounded()).Bounded() {
		t.Error("Bounded is wrong")
	}
	ctx := context.Background()
	r := open(t, src, splitsOf(t, src)[0], nil)
	buf := make([]int, 3)
	ch <- 1
	ch <- 2
	if n, err := r.Read(ctx, buf); n != 2 || err != nil || buf[0] != 1 || buf[1] != 2 {
		t.Errorf("got %d, %v, %v; want what is there", n, err, buf)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Read(canceled, buf); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled Read returns %v", err)
	}
	for i := range 4 {
		ch <- i
	}
	close(ch)
	if got := rest(t, r, 3); !slices.Equal(got, ints(4)) {
		t.Errorf("got %v, want %v", got, ints(4))
	}
}

func TestOnlySlicesAreImmediate(t *testing.T) {
	for _, tt := range []struct {
		name string
		src  flow.Source[int]
		want bool
	}{
		{"a slice", From(1), true},
		{"a sequence, which may block", FromSeq(seqOf(nil)), false},
		{"a channel", FromChan(make(<-chan int)), false},
	} {
		i, ok := tt.src.(flow.Immediate)
		if got := ok && i.Immediate(); got != tt.want {
			t.Errorf("%s: Immediate is %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestCollectedKeepsWhatAllTasksWrite(t *testing.T) {
	var c Collected[int]
	var tasks sync.WaitGroup
	for task := range 4 {
		tasks.Go(func() {
			w, err := c.Sink().Open(context.Background(), flow.TaskInfo{Index: task})
			if err != nil {
				t.Error(err)
				return
			}
			batch := make([]int, 2)
			for i := 0; i < 100; i += 2 {
				batch[0], batch[1] = 1000*task+i, 1000*task+i+1
				if err := w.Write(context.Background(), batch); err != nil {
					t.Error(err)
				}
				_ = c.Records()
			}
			if err := errors.Join(w.Flush(context.Background()), w.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	tasks.Wait()
	got := c.Records()
	perTask := map[int][]int{}
	for _, v := range got {
		perTask[v/1000] = append(perTask[v/1000], v%1000)
	}
	want := map[int][]int{0: ints(100), 1: ints(100), 2: ints(100), 3: ints(100)}
	if !reflect.DeepEqual(perTask, want) {
		t.Errorf("got %v", perTask)
	}
	got[0] = -1
	if c.Records()[0] == -1 {
		t.Error("Records isn't a copy")
	}
	if c.Reset(); len(c.Records()) != 0 {
		t.Error("Reset keeps records")
	}
}
