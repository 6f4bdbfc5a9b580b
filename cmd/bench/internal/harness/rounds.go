package harness

import (
	"context"
	"fmt"
	"math"
)

// Rounds are the samples of programs that took turns.
type Rounds struct {
	Programs []Program
	Records  int        // of one run of one copy
	Samples  [][]Sample // by program, then by round
	// Again has a second run of the first program at the end of each round:
	// with the first, the A/A pair.
	Again []Sample
}

// Interleave runs a warm-up round and then rounds rounds, in each of which
// every program runs once, in order, and the first once more. makeLoad makes
// the load of one run. A program that answers unlike the first is a
// *WrongAnswer.
func Interleave(ctx context.Context, programs []Program, rounds int, makeLoad func() Load) (*Rounds, error) {
	r := &Rounds{Programs: programs, Samples: make([][]Sample, len(programs))}
	var want *Answer
	run := func(p Program) (Sample, error) {
		load := makeLoad()
		r.Records = load.Records
		s, err := Measure(ctx, p, load)
		if err != nil {
			return s, err
		}
		if want == nil {
			want = &s.Answer
		}
		if s.Answer != *want {
			return s, &WrongAnswer{p.Name, programs[0].Name, s.Answer, *want}
		}
		return s, nil
	}
	for round := -1; round < rounds; round++ { // round -1 is the warm-up
		for i, p := range programs {
			s, err := run(p)
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				r.Samples[i] = append(r.Samples[i], s)
			}
		}
		if round < 0 {
			continue
		}
		s, err := run(programs[0])
		if err != nil {
			return nil, err
		}
		r.Again = append(r.Again, s)
	}
	return r, nil
}

// Wall is the wall time of each round of program i, in seconds per job: a run
// of two copies in one second counts as one second.
func (r *Rounds) Wall(i int) []float64 {
	return r.values(i, func(s Sample) float64 { return s.Wall.Seconds() })
}

// P99 is the 99th percentile of the latency in each round of program i, in
// nanoseconds.
func (r *Rounds) P99(i int) []float64 {
	return r.values(i, func(s Sample) float64 { return float64(s.Latency.P99) })
}

func (r *Rounds) values(i int, of func(Sample) float64) []float64 {
	samples := r.Again
	if i != again {
		samples = r.Samples[i]
	}
	out := make([]float64, len(samples))
	for j, s := range samples {
		out[j] = of(s)
	}
	return out
}

// again stands for the second run of the first program.
const again = -1

// AAOf is the first program against itself by that measure (Wall or P99): what
// this host can't tell apart.
func (r *Rounds) AAOf(measure func(i int) []float64) Ratio { return Paired(measure(again), measure(0)) }

// Find is the index of the program of that name. It panics if there is none:
// names are constants of the caller.
func (r *Rounds) Find(name string) int {
	for i, p := range r.Programs {
		if p.Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("no program %q among the rounds", name))
}

// Least is the program, among those for which in holds, whose median of
// measure is the least; -1 if in holds for none.
func (r *Rounds) Least(measure func(i int) []float64, in func(Program) bool) int {
	best, least := -1, math.Inf(1)
	for i, p := range r.Programs {
		if !in(p) {
			continue
		}
		if m := Median(measure(i)); m < least || best < 0 {
			best, least = i, m
		}
	}
	return best
}

// Best runs each program tries times and returns the one with the shortest
// run: how variants of one twin (sizes of a batch) are chosen before the
// rounds.
func Best(ctx context.Context, programs []Program, tries int, load Load) (Program, error) {
	best, least := 0, math.Inf(1)
	for range tries {
		for i, p := range programs {
			s, err := Measure(ctx, p, load)
			if err != nil {
				return Program{}, err
			}
			if w := s.Wall.Seconds(); w < least {
				best, least = i, w
			}
		}
	}
	return programs[best], nil
}
