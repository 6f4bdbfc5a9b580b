package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/cmd/bench/internal/report"
)

// childArg is the first argument of a child: the name of one program and a
// number of records follow.
const childArg = "-in-child"

// memoryCase measures the peak of resident memory, in a process for each
// program. engine or twin is empty if there is none.
type memoryCase struct {
	name    string
	records int
	row     string // of the engine
	engine  string
	twin    string
}

// playMemory runs each program of c alone and compares their answers.
func playMemory(ctx context.Context, r *runner, c memoryCase) error {
	m := r.newCase(c.name, c.records)
	var want *harness.ChildResult
	var reference string
	for _, name := range []string{c.twin, c.engine} {
		if name == "" {
			continue
		}
		got, err := harness.InChild(ctx, childArg, r.out.Name+"/"+name, strconv.Itoa(c.records))
		if err != nil {
			return fmt.Errorf("%s/%s: %w", r.out.Name, c.name, err)
		}
		if want == nil {
			want, reference = &got, name
		}
		if got.Answer != want.Answer {
			return &harness.WrongAnswer{Program: name, Reference: reference, Got: got.Answer, Want: want.Answer}
		}
		line := report.LineOf(harness.Program{Name: name}, c.records, []harness.Sample{got.Sample})
		line.PeakRSS = got.PeakRSS
		m.out.Lines = append(m.out.Lines, line)
		if name == c.engine {
			m.row(c.row, "MB", single(megabytes(got.PeakRSS)), "")
		}
	}
	r.done(m)
	return nil
}

// runChild is the main of a child.
func runChild(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("run child: want a program and a number of records, got %q", args)
	}
	p, ok := memoryPrograms()[args[0]]
	if !ok {
		return fmt.Errorf("run child: no program %q", args[0])
	}
	records, err := strconv.Atoi(args[1])
	if err != nil {
		return fmt.Errorf("run child %s: number of records: %w", args[0], err)
	}
	return harness.WriteChild(ctx, out, p, harness.Load{Records: records})
}
