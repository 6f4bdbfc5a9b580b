package harness

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// talker is a program that writes its name down and gives a fixed answer.
func talker(log *[]string, name string, sum uint64) Program {
	return Program{Name: name, Run: func(_ context.Context, load Load) (Answer, error) {
		*log = append(*log, name)
		return Answer{Records: int64(load.Records), Sum: sum}, nil
	}}
}

func tenRecords() Load { return Load{Records: 10} }

func TestProgramsTakeTurns(t *testing.T) {
	var log []string
	r, err := Interleave(t.Context(), []Program{talker(&log, "a", 1), talker(&log, "b", 1)}, 2, tenRecords)
	if err != nil {
		t.Fatal(err)
	}
	// The warm-up, then two rounds that end with the first program again.
	if want := []string{"a", "b", "a", "b", "a", "a", "b", "a"}; !slices.Equal(log, want) {
		t.Errorf("ran %v, want %v", log, want)
	}
	if len(r.Samples[0]) != 2 || len(r.Samples[1]) != 2 || len(r.Again) != 2 {
		t.Errorf("got %d, %d and %d samples, want 2 of each", len(r.Samples[0]), len(r.Samples[1]), len(r.Again))
	}
}

func TestAWrongAnswerNamesBothPrograms(t *testing.T) {
	var log []string
	_, err := Interleave(t.Context(), []Program{talker(&log, "good one", 1), talker(&log, "bad one", 2)}, 1, tenRecords)
	if _, ok := errors.AsType[*WrongAnswer](err); !ok {
		t.Fatalf("got %v, want a *WrongAnswer", err)
	}
	if !strings.Contains(err.Error(), "good one") || !strings.Contains(err.Error(), "bad one") {
		t.Errorf("%q does not name both", err)
	}
}

func TestCopiesThatDisagreeFail(t *testing.T) {
	sums := make(chan uint64, 2)
	sums <- 1
	sums <- 2
	p := Program{Name: "p", Run: func(context.Context, Load) (Answer, error) { return Answer{Sum: <-sums}, nil }}
	if _, err := Copies(p, 2).Run(t.Context(), Load{}); err == nil {
		t.Error("two different answers passed as one")
	}
}

func TestCopiesFailWhenOneFails(t *testing.T) {
	broken := errors.New("broken")
	turns := make(chan error, 2)
	turns <- nil
	turns <- broken
	p := Program{Name: "p", Run: func(context.Context, Load) (Answer, error) { return Answer{}, <-turns }}
	if _, err := Copies(p, 2).Run(t.Context(), Load{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestSteadyAllocationsLeaveTheStartOut(t *testing.T) {
	var keep []*[64]byte
	p := Program{Name: "p", Run: func(_ context.Context, load Load) (Answer, error) {
		keep = make([]*[64]byte, 0, 5000)
		for range 1000 + load.Records/10 { // 1,000 to start, then one for ten records
			keep = append(keep, new([64]byte))
		}
		return Answer{}, nil
	}}
	got, err := Steady(t.Context(), p, Load{Records: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if got < 0.099 || got > 0.102 { // the runtime may add a few of its own
		t.Errorf("got %v allocations per record, want 0.1", got)
	}
}

func TestPeakMemoryIsThatOfThisProcess(t *testing.T) {
	before := peakRSS()
	if before == 0 {
		t.Logf("this system does not tell the peak of resident memory")
		return
	}
	grown := make([]byte, before+64<<20)
	for i := 0; i < len(grown); i += 4096 {
		grown[i] = 1
	}
	if after := peakRSS(); after < before+32<<20 {
		t.Errorf("%d bytes before and %d after touching %d", before, after, len(grown))
	}
}
