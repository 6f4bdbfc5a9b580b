package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/cmd/bench/internal/report"
)

// TestMain plays the child of the memory cases.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// playSmall runs the command on as little as possible.
func playSmall(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), append([]string{"-rounds", "1", "-scale", "0.001"}, args...), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestAllProgramsAgreeAndEveryLimitHasItsRow(t *testing.T) {
	code, out, errs := playSmall(t, "-format", "json", "all")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			if len(c.Rows) == 0 && s.Name+"/"+c.Name != "pipeline/"+ownLatency {
				t.Errorf("%s/%s says nothing", s.Name, c.Name)
			}
			for _, row := range c.Rows {
				rows[s.Name+"/"+c.Name+"/"+row.Name] = true
			}
		}
	}
	for name := range limits {
		if !rows[name] {
			t.Errorf("no row for the limit %q", name)
		}
	}
	if len(r.Suites) != len(suites) {
		t.Errorf("%d suites reported, want %d", len(r.Suites), len(suites))
	}
}

func TestAnswersAreThoseOfASimpleModel(t *testing.T) {
	load := harness.Load{Records: 5000}
	counts, total := map[uint64]int64{}, map[uint64]int64{}
	var sum uint64
	sink := eventSink(load)
	for split := range twinLanes {
		for _, e := range readAll(t, eventSource(load, twinLanes), split) {
			counts[e.Key]++
			total[e.Key] += e.Value*3 + 1
			e.Value, e.Count, e.Total = e.Value*3+1, counts[e.Key], total[e.Key]
			e.Tag ^= uint64(e.Total)
			sum += sink.check(0, []event{e})
		}
	}
	got, err := pipelineLoop().Run(t.Context(), load)
	if want := (harness.Answer{Records: 5000, Results: 5000, Sum: sum}); err != nil || got != want {
		t.Errorf("pipeline: got %v, %v, want %v", got, err, want)
	}

	hits := map[uint64]int64{}
	for split := range twinLanes {
		for _, h := range readAll(t, hitSource(load, 300), split) {
			hits[h.Key]++
		}
	}
	sum = 0
	for k, n := range hits {
		sum += countSink().check(0, []keyCount{{Key: k, Value: n}})
	}
	got, err = keyedLoop(300).Run(t.Context(), load)
	if want := (harness.Answer{Records: 5000, Results: int64(len(hits)), Sum: sum}); err != nil || got != want {
		t.Errorf("keyed: got %v, %v, want %v", got, err, want)
	}
}

// readAll reads a whole split.
func readAll[T any](t *testing.T, src *source[T], split int) (all []T) {
	t.Helper()
	in, buf := mustOpen(src, split), make([]T, 7)
	for {
		n, err := in.Read(t.Context(), buf)
		all = append(all, buf[:n]...)
		if drained(err) {
			return all
		}
	}
}

func TestTheCheckSeesEveryField(t *testing.T) {
	check := eventSink(harness.Load{}).check
	e := event{Key: 1, Value: 2, Count: 3, Total: 4, Tag: 5}
	for name, change := range map[string]func(*event){
		"Key": func(e *event) { e.Key++ }, "Value": func(e *event) { e.Value++ }, "Count": func(e *event) { e.Count++ },
		"Total": func(e *event) { e.Total++ }, "Tag": func(e *event) { e.Tag++ },
	} {
		changed := e
		change(&changed)
		if check(0, []event{e}) == check(0, []event{changed}) {
			t.Errorf("a wrong %s passes", name)
		}
	}
}

func TestAWrongAnswerOfTheEngineFailsTheRun(t *testing.T) {
	right := engines.chain
	defer func() { engines.chain = right }()
	engines.chain = func(whole bool, workers int) harness.Program {
		p := right(whole, workers)
		return harness.Program{Name: "lying engine", Run: func(ctx context.Context, load harness.Load) (harness.Answer, error) {
			a, err := p.Run(ctx, load)
			a.Sum++
			return a, err
		}}
	}
	code, _, errs := playSmall(t, "chain")
	if code != exitFailed || !strings.Contains(errs, "lying engine") || !strings.Contains(errs, "one loop") {
		t.Errorf("exit code %d, message %q", code, errs)
	}
}

func TestAMissedLimitOnlyFailsAStrictRun(t *testing.T) {
	name := "chain/20 ns a step/allocations per record"
	right := limits[name]
	defer func() { limits[name] = right }()
	limits[name] = report.Limit{Must: -1, Aim: -1, Below: true} // nothing is so low
	if code, out, errs := playSmall(t, "chain"); code != 0 || !strings.Contains(out, "MISSED") {
		t.Errorf("exit code %d: %s\n%s", code, errs, out)
	}
	if code, _, _ := playSmall(t, "-strict", "chain"); code != exitMissed {
		t.Errorf("exit code %d with -strict, want %d", code, exitMissed)
	}
}

func TestWrongUseIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{}, {"unknown"}, {"-format", "xml", "ring"}, {"-rounds", "0", "ring"}, {"-only", "(", "ring"}, {"-scale", "0", "ring"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != exitUsage || errs.Len() == 0 {
			t.Errorf("%q: exit code %d, message %q", args, code, errs.String())
		}
	}
}

func TestQuickIsSmallUnlessTold(t *testing.T) {
	c, err := parse([]string{"-quick", "-rounds", "5", "ring"}, os.Stderr)
	if err != nil || c.scale != 0.1 || c.rounds != 5 {
		t.Errorf("got scale %v, %d rounds, %v", c.scale, c.rounds, err)
	}
}

func TestOnlyPicksCases(t *testing.T) {
	code, out, errs := playSmall(t, "-only", "keyed/growth", "-format", "gobench", "keyed")
	if code != 0 || !strings.Contains(out, "BenchmarkKeyed/growth/engine's_table") || strings.Contains(out, "10_k_keys") {
		t.Errorf("exit code %d: %s\n%s", code, errs, out)
	}
}
