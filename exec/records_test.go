package exec_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// badRecords has one split of the numbers 0 to 99. Those that end in 7 can't be
// decoded: they come with the records before them, or alone, wrapped or not.
type badRecords struct{ immediate bool }

func (s badRecords) Bounded() bool   { return true }
func (s badRecords) Immediate() bool { return s.immediate }
func (s badRecords) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "numbers"}}, nil
}
func (s badRecords) Open(context.Context, flow.Split, flow.Position) (flow.Reader[int], error) {
	return &badReader{}, nil
}

type badReader struct{ n int }

func (r *badReader) Read(_ context.Context, buf []int) (n int, err error) {
	for ; n < len(buf) && r.n < 100; n++ {
		buf[n] = r.n
		r.n++
		if r.n%10 == 8 {
			err = &flow.RecordError{Raw: fmt.Append(nil, "raw ", r.n-1), Err: errBoom}
			if r.n%20 == 8 {
				err = fmt.Errorf("line %d: %w", r.n-1, err)
			}
			return n, err
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *badReader) Position() flow.Position { return flow.Position(fmt.Sprint(r.n)) }
func (r *badReader) Close() error            { return nil }

func TestABadRecordIsTreatedByTheSourcesPolicy(t *testing.T) {
	var good []int
	for n := range 100 {
		if n%10 != 7 {
			good = append(good, n)
		}
	}
	for _, immediate := range []bool{false, true} {
		for _, batch := range []int{1, 3, 64, 0} {
			t.Run(fmt.Sprint("immediate ", immediate, " batch ", batch), func(t *testing.T) {
				//lint:ignore ST1008 the records are what the checks read
				read := func(p flow.ErrorPolicy, letters bool) (exec.Result, error, []int, []flow.Failed[int]) {
					g := flow.New("g")
					var got memory.Collected[int]
					var lost memory.Collected[flow.Failed[int]]
					flow.Write(flow.Read[int](g, "in", badRecords{immediate}, flow.OnError(p)), "out", got.Sink())
					if letters {
						flow.Write(flow.DeadLetters[int](g, "lost"), "lost", lost.Sink())
					}
					res, err := exec.Run(context.Background(), g, exec.Options{Workers: 1, BatchSize: batch})
					return res, err, got.Records(), lost.Records()
				}
				checkPolicies(t, read, good)
			})
		}
	}
}

func checkPolicies(t *testing.T, read func(flow.ErrorPolicy, bool) (exec.Result, error, []int, []flow.Failed[int]), good []int) {
	res, err, got, _ := read(flow.Skip(10), false)
	if err != nil || !slices.Equal(got, good) {
		t.Errorf("Skip(10): error %v, %d records", err, len(got))
	}
	if o := res.Operators[0]; o.Skipped != 10 || o.Failed != 10 || o.Out != 90 {
		t.Errorf("Skip(10): counts %+v", o)
	}
	_, err, _, _ = read(flow.Skip(9), false)
	atBad(t, err, "100", "more than the 9 bad records")
	_, err, _, _ = read(flow.Fail(), false)
	atBad(t, err, "8", "")
	_, err, got, lost := read(flow.DeadLetter("lost"), true)
	if err != nil || !slices.Equal(got, good) || len(lost) != 10 {
		t.Fatalf("DeadLetter: error %v, %d records, %d letters", err, len(got), len(lost))
	}
	for i, l := range lost {
		if n := 10*i + 7; l.Record != 0 || string(l.Raw) != fmt.Sprint("raw ", n) || l.Operator != "in" || l.Err != "bad record: boom" {
			t.Errorf("letter %+v", l)
		}
	}
}

// atBad checks an error of a record that could not be decoded: the position is
// that after the batch it came with, at or after its own.
func atBad(t *testing.T, err error, last, want string) {
	t.Helper()
	var te *exec.TaskError
	var bad *flow.RecordError
	if !errors.As(err, &te) || !errors.As(err, &bad) || !errors.Is(err, errBoom) || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v", err)
	}
	if te.Operator != "in" || te.Split != "numbers" || len(te.Position) == 0 || len(te.Position) > len(last) || len(te.Position) == len(last) && string(te.Position) > last {
		t.Errorf("operator %q, split %q, position %s, want one up to %s", te.Operator, te.Split, te.Position, last)
	}
}

// A function that fails behind a source says in which split, and where at the
// latest.
func TestAnErrorBehindASourceHasItsPosition(t *testing.T) {
	for _, immediate := range []bool{false, true} {
		g := flow.New("g")
		in := flow.Read[int](g, "in", badRecords{immediate}, flow.OnError(flow.Skip(-1)))
		s := flow.TryMap(in, "op", func(in, _ *int) error {
			if *in == 45 {
				return errBoom
			}
			return nil
		})
		flow.Write(s, "out", nullSink[int]{})
		_, err := exec.Run(context.Background(), g, exec.Options{Workers: 1, BatchSize: 4})
		var te *exec.TaskError
		if !errors.As(err, &te) || te.Operator != "op" || te.Split != "numbers" || string(te.Position) != "46" {
			t.Errorf("immediate %v: error %v", immediate, err)
		}
	}
}
