package flow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
)

// A rig is the kernel of one task, driven by hand.
type rig struct {
	node   *flow.Node
	kernel flow.Kernel
	inst   *flow.Instance
	now    time.Time
}

// newRig makes the kernel of the operator called "op", which wants batches of
// that many results.
func newRig(t testing.TB, g *flow.Graph, batch int) *rig {
	t.Helper()
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	nodes := g.Nodes()
	r := &rig{node: nodes[slices.IndexFunc(nodes, func(n *flow.Node) bool { return n.Name == "op" })], now: time.Unix(1000, 0)}
	r.inst = &flow.Instance{
		Task: flow.TaskInfo{Operator: "op", Parallelism: 1}, Groups: 128, Hi: 128, BatchSize: batch,
		Now: func() time.Time { return r.now }, Shared: new(flow.OperatorStats), Watermark: flow.MinTime,
		WakeTask: func() {}, WakeCaller: func(int) {},
	}
	var err error
	if r.kernel, err = r.node.NewKernel(r.inst); err != nil {
		t.Fatal(err)
	}
	if s, ok := r.kernel.(flow.Stateful); ok {
		t.Cleanup(s.CloseState)
	}
	return r
}

// pass gives the kernel a batch, as often as it wants it, and moves the clock to
// where it wants to be asked again.
func (r *rig) pass(b flow.Batch) error {
	for {
		err := r.kernel.OnBatch(0, b)
		if err != flow.ErrPending {
			return err
		}
		if due, ok := r.kernel.(flow.Waiting).Due(); ok {
			r.now = due
		}
	}
}

// taken keeps copies of what it receives: a batch is only lent.
type taken[T any] struct {
	recs    []T
	times   []flow.Time // MinTime for a record without
	batches []int       // their lengths
	first   *T          // of the last batch
	fail    error
}

func (r *taken[T]) OnBatch(_ int, b flow.Batch) error {
	in := b.(*flow.BatchOf[T])
	if n := len(in.Head.Times); n != 0 && n != len(in.Recs) {
		panic(fmt.Sprintf("%d times for %d records", n, len(in.Recs)))
	}
	r.batches = append(r.batches, len(in.Recs))
	r.recs = append(r.recs, in.Recs...)
	r.times = append(r.times, in.Head.Times...)
	for len(r.times) < len(r.recs) {
		r.times = append(r.times, flow.MinTime)
	}
	r.first = &in.Recs[0]
	return r.fail
}

// stamped makes a batch; without times, of a stream without.
func stamped[T any](recs []T, times ...flow.Time) *flow.BatchOf[T] {
	b := flow.NewBatch[T](len(recs))
	b.Recs, b.Head.Times = append(b.Recs, recs...), times
	return b
}

// result is a result of a script, and its time.
type result struct {
	N  int
	At flow.Time
}

// script is what a function does with one record: letters for calls of Out.
//
//	e Emit   s Slot   u Undo   t SetTime   x error return
type script struct {
	N  int
	Do string
}

// playScript does what a script says and checks that slots come zeroed.
func playScript(in *script, out *flow.Out[int]) error {
	made := 0
	for i, c := range in.Do {
		v := in.N*100 + i + 1
		switch c {
		case 'e':
			out.Emit(v)
			made++
		case 's':
			p := out.Slot()
			if *p != 0 {
				panic(fmt.Sprintf("a slot comes with %d in it", *p))
			}
			*p = v
			made++
		case 'u':
			out.Undo()
		case 't':
			out.SetTime(flow.Time(v))
		case 'x':
			return fmt.Errorf("script %d", in.N)
		}
	}
	return nil
}

// expect is the model of playScript: what of a script remains.
func (s script) expect(at flow.Time) (out []result, failed bool) {
	for i, c := range s.Do {
		v := s.N*100 + i + 1
		switch c {
		case 'e', 's':
			out = append(out, result{N: v})
		case 'u':
			out = out[:max(len(out)-1, 0)]
		case 't':
			at = flow.Time(v)
		case 'x':
			return nil, true
		}
	}
	for i := range out {
		out[i].At = at
	}
	return out, false
}

func randomScript(rnd *rand.Rand, n int) script {
	var do strings.Builder
	letters := "eeessssu"
	if rnd.IntN(4) == 0 {
		letters += "t"
	}
	for range rnd.IntN(12) * rnd.IntN(4) {
		do.WriteByte(letters[rnd.IntN(len(letters))])
	}
	if rnd.IntN(5) == 0 {
		do.WriteByte('x')
	}
	return script{n, do.String()}
}

// Scripts of all lengths meet batches of all sizes: results of one call cross
// the end of a batch, and a call fills several batches by itself.
func TestOutKeepsWhatCallsLeaveAndNothingElse(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		g := flow.New("job")
		s := flow.FlatMap(flow.Read(g, "in", memory.From[script]()), "op", playScript, flow.OnError(flow.DeadLetter("lost")))
		end(s)
		flow.Write(flow.DeadLetters[script](g, "lost"), "letters", (&memory.Collected[flow.Failed[script]]{}).Sink())
		r := newRig(t, g, 1+rnd.IntN(9))
		var got taken[int]
		var lost taken[flow.Failed[script]]
		r.kernel.Connect(0, &got)
		r.kernel.Connect(1, &lost)
		var want, wantLost []result
		n := 0
		for range 1 + rnd.IntN(8) {
			var in []script
			var times []flow.Time
			timed := rnd.IntN(2) == 0
			for range 1 + rnd.IntN(10) {
				n++
				in = append(in, randomScript(rnd, n))
				at := flow.MinTime
				if timed {
					at = flow.Time(rnd.IntN(1000))
					times = append(times, at)
				}
				out, failed := in[len(in)-1].expect(at)
				want = append(want, out...)
				if failed {
					wantLost = append(wantLost, result{n, at})
				}
			}
			if err := r.pass(stamped(in, times...)); err != nil {
				t.Fatal(err)
			}
		}
		if have := results(got.recs, got.times); !slices.Equal(have, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, have, want)
		}
		var letters []int
		for _, f := range lost.recs {
			letters = append(letters, f.Record.N)
			if f.Operator != "op" || f.Err != fmt.Sprintf("script %d", f.Record.N) {
				t.Errorf("seed %d: letter %+v", seed, f)
			}
		}
		if have := results(letters, lost.times); !slices.Equal(have, wantLost) {
			t.Fatalf("seed %d: dead letters %v, want %v", seed, have, wantLost)
		}
	}
}

func results(recs []int, times []flow.Time) (all []result) {
	for i, n := range recs {
		all = append(all, result{n, times[i]})
	}
	return all
}
