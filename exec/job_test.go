package exec_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/generate"
	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

// gate is a sink that lets nothing through until it is opened.
type gate struct {
	open    chan struct{}
	written atomic.Int64
	flushed atomic.Int64
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) Open(context.Context, flow.TaskInfo) (flow.Writer[rec48], error) { return g, nil }
func (g *gate) Write(ctx context.Context, batch []rec48) error {
	select {
	case <-g.open:
		g.written.Add(int64(len(batch)))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
func (g *gate) Flush(context.Context) error { g.flushed.Add(1); return nil }
func (g *gate) Close() error                { return nil }

func TestABlockedSinkBoundsWhatIsInFlight(t *testing.T) {
	sink := newGate()
	g := flow.New("g")
	const inFlight, batch = 64 << 10, 64
	var emitted atomic.Int64
	s := flow.Read(g, "in", generate.Source(-1, func(int64, *rec48) { emitted.Add(1) }, generate.Splits(1)), flow.Parallelism(1))
	flow.Write(s, "out", sink)
	job, err := exec.Start(context.Background(), g, exec.Options{Workers: 1, InFlight: inFlight, BatchSize: batch})
	if err != nil {
		t.Fatal(err)
	}
	// The ring is full when the source task says that it is held up.
	for full := false; !full; {
		for _, task := range job.Status().Tasks {
			full = full || task.Operators == "out" && task.QueueFill == 1
		}
	}
	// The ring, the batch in the writer's hands, what the task emitted in one
	// step, and what its reader is ahead (4 batches and one being filled).
	most := int64(inFlight/48 + batch*(1+4+5))
	if n := emitted.Load(); n > most {
		t.Errorf("%d records were generated against a sink that takes none, want at most %d", n, most)
	}
	job.Cancel()
	if _, err := job.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if sink.flushed.Load() != 0 {
		t.Error("the sink of a canceled job was flushed")
	}
}

func TestCancelByContext(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ctx, cancel := context.WithCancelCause(context.Background())
		g := flow.New("g")
		seen := make(chan struct{}, 1)
		s := flow.MapInto(flow.Read(g, "in", generate.Source(-1, func(i int64, r *rec48) { r.A = uint64(i) })), "see", func(in, out *rec48) {
			select {
			case seen <- struct{}{}:
			default:
			}
		})
		flow.Write(s, "out", nullSink[rec48]{})
		job, err := exec.Start(ctx, g, exec.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		<-seen
		cancel(errors.New("lunch"))
		res, err := job.Wait()
		if res.Outcome != exec.Canceled || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "lunch") {
			t.Errorf("outcome %v, error %v", res.Outcome, err)
		}
	}
}

func TestACanceledContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g := flow.New("g")
	flow.Write(flow.Read(g, "in", memory.From(rec48{})), "out", newGate())
	if _, err := exec.Run(ctx, g, exec.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestStateOverTheLimitFailsTheJob(t *testing.T) {
	g := flow.New("g")
	var got memory.Collected[flow.KeyValue[uint64, int64]]
	s := flow.Read(g, "in", generate.Source(2_000_000, func(i int64, r *rec48) { r.Key = uint64(i) }))
	flow.Write(flow.Total(flow.KeyBy(s, func(r *rec48) uint64 { return r.Key }), "count", agg.Count[rec48]()), "out", got.Sink())
	_, err := exec.Run(context.Background(), g, exec.Options{Workers: 2, MaxState: 8 << 20})
	var te *exec.TaskError
	var size *exec.StateTooLargeError
	if !errors.As(err, &te) || !errors.As(err, &size) || te.Operator != "count" || size.Limit != 8<<20 || size.Bytes <= size.Limit {
		t.Errorf("error %v", err)
	}
	if len(got.Records()) != 0 {
		t.Error("a job that failed has written results")
	}
}

func TestBadOptionsAreErrors(t *testing.T) {
	g := flow.New("g")
	flow.Write(flow.Read(g, "in", memory.From(1)), "out", (&memory.Collected[int]{}).Sink())
	for _, o := range []exec.Options{{Workers: -1}, {BatchSize: -1}, {InFlight: -1}, {MaxState: -1}, {Pin: 9}, {BatchSize: 1<<20 + 1}} {
		if _, err := exec.Run(context.Background(), g, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// endless is an unbounded source whose splits end after three records.
type endless struct{}

func (s *endless) Bounded() bool { return false }
func (s *endless) Splits(context.Context) ([]flow.Split, error) {
	return []flow.Split{{ID: "a"}, {ID: "b"}, {ID: "c"}}, nil
}
func (s *endless) Open(_ context.Context, split flow.Split, _ flow.Position) (flow.Reader[string], error) {
	return &threeRecords{id: split.ID}, nil
}

type threeRecords struct {
	id string
	n  int
}

func (r *threeRecords) Read(_ context.Context, buf []string) (int, error) {
	if r.n == 3 {
		return 0, io.EOF
	}
	r.n++
	buf[0] = r.id
	return 1, nil
}
func (r *threeRecords) Position() flow.Position { return nil }
func (r *threeRecords) Close() error            { return nil }

func TestAnUnboundedSourceReadsAllSplitsAndGoesOnUntilCanceled(t *testing.T) {
	g := flow.New("g")
	var got memory.Collected[string]
	flow.Write(flow.Read(g, "in", &endless{}), "out", got.Sink())
	job, err := exec.Start(context.Background(), g, exec.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for len(got.Records()) < 9 {
	}
	job.Cancel()
	if res, _ := job.Wait(); res.Outcome != exec.Canceled {
		t.Errorf("outcome %v", res.Outcome)
	}
	if n := len(got.Records()); n != 9 {
		t.Errorf("%d records, want 9", n)
	}
}
