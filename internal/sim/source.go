package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/tailrace-io/tailrace/flow"
)

// testSource delivers the records of a sourceSpec in its style.
type testSource struct {
	run *run
	op  *op
}

func (s testSource) Bounded() bool   { return true }
func (s testSource) Immediate() bool { return s.op.source.immediate }

func (s testSource) Splits(context.Context) (splits []flow.Split, err error) {
	for i := range s.op.source.splits {
		splits = append(splits, flow.Split{ID: strconv.Itoa(i)})
	}
	return splits, nil
}

func (s testSource) Open(_ context.Context, split flow.Split, from flow.Position) (flow.Reader[Rec], error) {
	i, err := strconv.Atoi(split.ID)
	if err != nil || from != nil {
		return nil, fmt.Errorf("open split %q from position %x", split.ID, from)
	}
	if s.run.opened[[2]int{s.op.id, i}]++; s.run.opened[[2]int{s.op.id, i}] > 1 {
		s.run.wrong("%s: split %d is read twice", s.op.name(), i)
	}
	if err := s.run.use(s.op); err != nil {
		return nil, err
	}
	s.run.readers++
	return &testReader{source: s, recs: s.op.source.splits[i], r: rand.New(rand.NewPCG(s.op.salt, uint64(i)))}, nil
}

// testReader reads one split.
type testReader struct {
	source testSource
	recs   []Rec
	at     int
	r      *rand.Rand
	closed bool
}

func (r *testReader) Read(_ context.Context, buf []Rec) (int, error) {
	o := r.source.op
	if err := r.source.run.use(o); err != nil {
		return 0, err
	}
	if r.closed || len(buf) == 0 {
		r.source.run.wrong("%s: read into %d records, closed %v", o.name(), len(buf), r.closed)
	}
	want, style := len(buf), o.source.style
	if style == readShort {
		want = r.r.IntN(len(buf) + 1)
	}
	n := 0
	for ; n < want && r.at < len(r.recs); r.at++ {
		if rec := &r.recs[r.at]; o.unreadable(rec) {
			r.at++
			return n, &flow.RecordError{Raw: raw(rec), Err: errors.New("not readable")}
		}
		buf[n] = r.recs[r.at]
		n++
	}
	if r.at == len(r.recs) && (n == 0 || style == readWithEOF || style == readShort && r.r.IntN(2) == 0) {
		return n, io.EOF
	}
	return n, nil
}

func (r *testReader) Position() flow.Position { return strconv.AppendInt(nil, int64(r.at), 10) }

func (r *testReader) Close() error {
	if r.closed {
		r.source.run.wrong("%s: a reader is closed twice", r.source.op.name())
	}
	r.closed = true
	r.source.run.readers--
	return nil
}
