package generate

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tailrace-io/tailrace/flow"
)

// DefaultSplits is how many splits a source has without the Splits option. It
// doesn't depend on the machine, for positions are kept by split.
const DefaultSplits = 8

// Option changes what Source makes.
type Option func(*options)

type options struct {
	splits  int
	strided bool
	rate    float64
}

// Splits divides the source into n splits instead of DefaultSplits. It is part
// of the positions: a job that resumes needs the same n.
func Splits(n int) Option { return func(o *options) { o.splits = n } }

// Strided deals the records out in turn: split s of n has records s, s+n,
// s+2n and so on, so that tasks that read at one speed are at about one record
// number. Without it a split of a bounded source is a range of neighbours. An
// unbounded source is always strided.
func Strided() Option { return func(o *options) { o.strided = true } }

// Rate limits the source, all its splits together, to that many records a
// second. The pace is counted from the Open of each split: a task that was held
// up catches up.
func Rate(perSecond float64) Option { return func(o *options) { o.rate = perSecond } }

// Source is a source of n records, or of records without end when n is
// negative. Record i, 0 <= i < n, is what f stores in out, which comes zeroed.
// f must depend on i alone and is called by several tasks at the same time.
func Source[T any](n int64, f func(i int64, out *T), opts ...Option) flow.Source[T] {
	s := &source[T]{n: n, f: f, opts: options{splits: DefaultSplits}}
	for _, opt := range opts {
		opt(&s.opts)
	}
	if n < 0 {
		s.n, s.unbounded, s.opts.strided = math.MaxInt64, true, true
	}
	return s
}

type source[T any] struct {
	n         int64
	unbounded bool
	f         func(i int64, out *T)
	opts      options
}

func (s *source[T]) Bounded() bool { return !s.unbounded }

// Immediate says that readers don't block, unless a rate makes them wait.
func (s *source[T]) Immediate() bool { return s.opts.rate == 0 }

// Check refuses options that make no sense.
func (s *source[T]) Check(context.Context) error {
	if s.opts.splits < 1 {
		return fmt.Errorf("generate: %d splits: there must be at least one", s.opts.splits)
	}
	if s.opts.rate < 0 || math.IsNaN(s.opts.rate) || math.IsInf(s.opts.rate, 0) {
		return fmt.Errorf("generate: a rate of %v records a second: it must be positive and finite", s.opts.rate)
	}
	return nil
}

func (s *source[T]) Splits(ctx context.Context) ([]flow.Split, error) {
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	splits := make([]flow.Split, s.opts.splits)
	for i := range splits {
		splits[i] = flow.Split{ID: s.splitID(i)}
	}
	return splits, nil
}

// splitID names the records of a split, so that a job whose number of records
// or splits was changed can't resume with positions that mean others.
func (s *source[T]) splitID(i int) string {
	if s.opts.strided {
		return strconv.Itoa(i) + "/" + strconv.Itoa(s.opts.splits)
	}
	begin, end := s.bounds(i)
	return strconv.FormatInt(begin, 10) + "-" + strconv.FormatInt(end, 10) + "#" + strconv.Itoa(i)
}

// bounds is the range of records of split i of a source that isn't strided.
func (s *source[T]) bounds(i int) (begin, end int64) {
	splits := int64(s.opts.splits)
	size, rest := s.n/splits, s.n%splits
	at := int64(i)
	begin = at*size + min(at, rest)
	end = begin + size
	if at < rest {
		end++
	}
	return begin, end
}

func (s *source[T]) Open(ctx context.Context, split flow.Split, from flow.Position) (flow.Reader[T], error) {
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	for i := range s.opts.splits {
		if s.splitID(i) == split.ID {
			return s.open(i, from)
		}
	}
	return nil, fmt.Errorf("generate: open split %q: this source of %d splits has none of that name", split.ID, s.opts.splits)
}

func (s *source[T]) open(i int, from flow.Position) (flow.Reader[T], error) {
	r := &reader[T]{f: s.f, next: int64(i), end: s.n, step: int64(s.opts.splits)}
	if !s.opts.strided {
		r.next, r.end = s.bounds(i)
		r.step = 1
	}
	if from != nil {
		next, size := binary.Uvarint(from)
		if size != len(from) || int64(next) < r.next || (int64(next)-r.next)%r.step != 0 {
			return nil, fmt.Errorf("generate: open split %q: position %x is not one of its records", s.splitID(i), []byte(from))
		}
		r.next = int64(next)
	}
	if s.opts.rate > 0 {
		r.pace = newPacer(s.opts.rate / float64(s.opts.splits))
	}
	return r, nil
}

type reader[T any] struct {
	f    func(i int64, out *T)
	next int64 // the record that Read computes next
	end  int64
	step int64
	pace *pacer // nil without a rate
}

func (r *reader[T]) Read(ctx context.Context, buf []T) (int, error) {
	if r.next >= r.end {
		return 0, io.EOF
	}
	n := len(buf)
	if left := (r.end-1-r.next)/r.step + 1; int64(n) > left {
		n = int(left)
	}
	if r.pace != nil {
		var err error
		if n, err = r.pace.wait(ctx, n); err != nil {
			return 0, err
		}
	}
	clear(buf[:n])
	next := r.next
	for i := range buf[:n] {
		r.f(next, &buf[i])
		next += r.step
	}
	r.next = next
	return n, nil
}

// Position is the number of the next record, as a varint.
func (r *reader[T]) Position() flow.Position { return binary.AppendUvarint(nil, uint64(r.next)) }
func (r *reader[T]) Close() error            { return nil }
