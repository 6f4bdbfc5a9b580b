package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// witness notes every transition.
type witness struct {
	mu    sync.Mutex
	job   []string
	tasks map[string][]exec.TaskState
}

func (w *witness) JobChanged(job string, outcome string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.job = append(w.job, job+" "+outcome)
}

func (w *witness) TaskChanged(operator string, task int, state exec.TaskState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tasks == nil {
		w.tasks = map[string][]exec.TaskState{}
	}
	name := fmt.Sprint(operator, " ", task)
	w.tasks[name] = append(w.tasks[name], state)
}

// gated is a job whose sink waits: "in > time > op" in two tasks, and "out".
func gated(t *testing.T, ctx context.Context, fails bool, w *witness) (*exec.Job, *gate) {
	t.Helper()
	sink := newGate()
	g := flow.New("g")
	recs := make([]rec48, 20)
	for i := range recs {
		recs[i].Key = uint64(i)
	}
	in := flow.Read(g, "in", memory.FromSlice(recs, 2))
	at := flow.Timestamps(in, "time", func(r *rec48) flow.Time { return flow.Time(r.Key) }, flow.Ascending())
	op := flow.TryMap(at, "op", func(in, out *rec48) error {
		if *out = *in; in.Key == 15 && fails {
			return errBoom
		}
		return nil
	})
	flow.Write(op, "out", sink)
	job, err := exec.Start(ctx, g, exec.Options{Workers: 2, BatchSize: 10, Observer: w})
	if err != nil {
		t.Fatal(err)
	}
	return job, sink
}

func TestStatusOfARunningJob(t *testing.T) {
	job, sink := gated(t, context.Background(), false, &witness{})
	var s exec.Status
	for waiting := true; waiting; { // until all was read and nothing written
		s = job.Status()
		waiting = s.Operators[2].Out < 20
		for _, task := range s.Tasks {
			waiting = waiting || task.State == exec.Created
		}
	}
	if s.Job != "g" || s.Outcome != "running" || s.Running <= 0 || len(s.Tasks) != 4 {
		t.Errorf("status %+v", s)
	}
	waiting := 0
	for _, task := range s.Tasks {
		checkTask(t, task)
		if task.OffWorker != (task.Operators == "out") {
			t.Errorf("where it runs: %+v", task)
		}
		if task.Operators == "out" && task.State == exec.Running && task.Watermark != flow.MaxTime {
			waiting++ // the other one may have had nothing to write
		}
	}
	if waiting == 0 {
		t.Errorf("no sink waits: %+v", s.Tasks)
	}
	close(sink.open)
	res, err := job.Wait()
	if err != nil {
		t.Fatal(err)
	}
	s = job.Status()
	if s.Outcome != "finished" || s.Running != res.Duration || !slices.Equal(s.Operators, res.Operators) {
		t.Errorf("status %+v, result %+v", s, res)
	}
	sum := map[string]uint64{}
	for _, task := range s.Tasks {
		checkTask(t, task)
		if task.State != exec.Closed || task.Watermark != flow.MaxTime || task.QueueFill != 0 {
			t.Errorf("a task that has ended: %+v", task)
		}
		sum[task.Operators] += task.In
	}
	if sum["in > time > op"] != 20 || sum["out"] != 20 {
		t.Errorf("records by task: %v", sum)
	}
}

// checkTask checks what holds for a task at any moment.
func checkTask(t *testing.T, s exec.TaskStatus) {
	t.Helper()
	for _, share := range []float64{s.Busy, s.Blocked, s.Idle, s.QueueFill} {
		if share < 0 || share > 1 {
			t.Errorf("a share of %v: %+v", share, s)
		}
	}
	if sum := s.Busy + s.Blocked + s.Idle; sum != 0 && math.Abs(sum-1) > 1e-9 {
		t.Errorf("the shares of time add up to %v", sum)
	}
	if s.InRate < 0 || s.In > 0 && s.InRate == 0 || s.Out > s.In {
		t.Errorf("rates and counts: %+v", s)
	}
}

func TestAnObserverSeesEachTaskGoItsWay(t *testing.T) {
	all := []exec.TaskState{exec.Running, exec.Ending, exec.Ended, exec.Closed}
	cases := map[string]struct {
		end  func(job *exec.Job, sink *gate)
		want string
	}{
		"finished": {func(_ *exec.Job, sink *gate) { close(sink.open) }, "g finished"},
		"canceled": {func(job *exec.Job, _ *gate) { job.Cancel() }, "g canceled"},
		"failed":   {func(*exec.Job, *gate) {}, "g failed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := &witness{}
			job, sink := gated(t, context.Background(), name == "failed", w)
			c.end(job, sink)
			_, err := job.Wait()
			if (err == nil) != (name == "finished") {
				t.Errorf("error %v", err)
			}
			if !slices.Equal(w.job, []string{"g running", c.want}) {
				t.Errorf("the job went %v", w.job)
			}
			if len(w.tasks) != 4 {
				t.Errorf("%d tasks", len(w.tasks))
			}
			for task, states := range w.tasks {
				want := all
				if name != "finished" { // cut short anywhere, and closed once
					want = append(slices.Clone(all[:min(len(states)-1, 3)]), exec.Closed)
				}
				if !slices.Equal(states, want) {
					t.Errorf("task %s went %v, want %v", task, states, want)
				}
			}
		})
	}
}

// Whatever the job is doing, its methods can be called from anywhere.
func TestMethodsOfAJobAreSafeAtAnyTime(t *testing.T) {
	for _, cancels := range []bool{false, true} {
		job, sink := gated(t, context.Background(), false, &witness{})
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				for range 100 {
					_ = job.Status()
				}
				if cancels {
					job.Cancel()
				}
				if _, err := job.Wait(); cancels != errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				job.Cancel() // of a job that has ended: nothing
				_ = job.Status()
			})
		}
		if !cancels {
			close(sink.open)
		}
		calls.Wait()
		res, err := job.Wait()
		if want := map[bool]exec.Outcome{false: exec.Finished, true: exec.Canceled}[cancels]; res.Outcome != want {
			t.Errorf("outcome %v, error %v", res.Outcome, err)
		}
	}
}
