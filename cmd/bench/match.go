package main

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/cmd/bench/internal/report"
)

// gapTime is how long the idle thread is watched before a suite.
const gapTime = 300 * time.Millisecond

// runner runs one suite and collects its cases.
type runner struct {
	rounds  int
	scale   float64 // of the suites' own numbers of records
	records int     // instead of them; 0: none
	only    *regexp.Regexp
	flights string // a Parquet file of flights; "" makes one
	out     report.Suite
}

// wants says whether a case of this suite was asked for.
func (r *runner) wants(name string) bool {
	return r.only == nil || r.only.MatchString(r.out.Name+"/"+name)
}

// size is the number of records of a case whose own number is n: at least
// 1,000, and even, so that two splits are equally long.
func (r *runner) size(n int) int {
	if r.records > 0 {
		n = r.records
	}
	return max(1000, int(float64(n)*r.scale)) &^ 1
}

// match is one case in which programs were measured against each other.
type match struct {
	*harness.Rounds
	suite string
	aa    harness.Ratio
	out   *report.Case
}

// newCase starts a case without rounds, to which rows are added.
func (r *runner) newCase(name string, records int) *match {
	return &match{suite: r.out.Name, out: &report.Case{Name: name, Records: records, Rows: []report.Row{}, Lines: []report.Line{}}}
}

// play runs the programs against each other in interleaved rounds.
func (r *runner) play(ctx context.Context, name string, programs []harness.Program, makeLoad func() harness.Load) (*match, error) {
	rounds, err := harness.Interleave(ctx, programs, r.rounds, makeLoad)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", r.out.Name, name, err)
	}
	m := r.newCase(name, rounds.Records)
	m.Rounds, m.aa = rounds, rounds.AAOf(rounds.Wall)
	m.out.AA = &m.aa
	for i, p := range programs {
		m.out.Lines = append(m.out.Lines, report.LineOf(p, rounds.Records, rounds.Samples[i]))
	}
	return m, nil
}

// done files the case.
func (r *runner) done(m *match) { r.out.Cases = append(r.out.Cases, *m.out) }

// row adds a row, with the limit that belongs to it.
func (m *match) row(name, unit string, value harness.Ratio, note string) {
	row := report.Row{Name: name, Value: value, Unit: unit, Note: note}
	if l, ok := limits[m.suite+"/"+m.out.Name+"/"+name]; ok {
		row.Limit = &l
	}
	if unit == "x" && m.aa.N > 0 {
		row.Same = !value.Distinguishable(m.aa)
	}
	m.out.Rows = append(m.out.Rows, row)
}

// has says whether a program of that name took part.
func (m *match) has(name string) bool {
	return slices.ContainsFunc(m.Programs, func(p harness.Program) bool { return p.Name == name })
}

// faster adds a row that says how many times faster a is than the fastest
// program whose name starts with twins, if both took part.
func (m *match) faster(name, a, twins string) {
	if !m.has(a) {
		return
	}
	b := m.Least(m.Wall, func(p harness.Program) bool { return strings.HasPrefix(p.Name, twins) && p.Name != a })
	if b < 0 {
		return
	}
	m.row(name, "x", harness.Paired(m.Wall(b), m.Wall(m.Find(a))), "vs "+m.Programs[b].Name)
}

// ceiling adds a row that says how many times as much two copies of one get
// done as one alone: what two workers can reach at best.
func (m *match) ceiling(one string) {
	copies := "2 copies of " + one
	if m.has(one) && m.has(copies) {
		m.row("ceiling: "+copies+" vs one", "x", harness.Summary(m.ceilings(one)), "")
	}
}

// ceilings is, by round, the work of two copies over that of one in equal time.
func (m *match) ceilings(one string) []float64 {
	alone, both := m.Wall(m.Find(one)), m.Wall(m.Find("2 copies of "+one))
	out := make([]float64, len(alone))
	for i := range out {
		out[i] = 2 * alone[i] / both[i]
	}
	return out
}

// ofCeiling adds a row with the speed-up of two over base, as a share of the
// ceiling of one.
func (m *match) ofCeiling(name, two, base, one string) {
	if !m.has(two) || !m.has(base) || !m.has("2 copies of "+one) {
		return
	}
	fast, slow := m.Wall(m.Find(two)), m.Wall(m.Find(base))
	shares := m.ceilings(one)
	for i := range shares {
		shares[i] = slow[i] / fast[i] / shares[i]
	}
	value := harness.Summary(shares)
	m.row(name, "x", value, fmt.Sprintf("speed-up %.2fx", harness.Paired(slow, fast).Median))
}

// allocations adds a row with the allocations per record of p under way, if p exists.
func (m *match) allocations(ctx context.Context, p harness.Program, load harness.Load) error {
	if p.Run == nil {
		return nil
	}
	v, err := harness.Steady(ctx, p, load)
	if err != nil {
		return err
	}
	m.row("allocations per record", "", harness.Ratio{Median: v, Lo: v, Hi: v, N: 1}, "of "+p.Name+", under way")
	return nil
}

// single is a value that was measured once.
func single(v float64) harness.Ratio { return harness.Ratio{Median: v, Lo: v, Hi: v, N: 1} }

// megabytes converts bytes.
func megabytes(bytes int64) float64 { return math.Round(float64(bytes)/1e5) / 10 }

// exists drops the programs that there are none of, for a part of a suite that has only twins.
func exists(programs ...harness.Program) []harness.Program {
	return slices.DeleteFunc(programs, func(p harness.Program) bool { return p.Run == nil })
}

// fastestOf is the name of the fastest program whose name starts with prefix.
func fastestOf(m *match, prefix string) string {
	i := m.Least(m.Wall, func(p harness.Program) bool { return strings.HasPrefix(p.Name, prefix) })
	if i < 0 {
		return ""
	}
	return m.Programs[i].Name
}
