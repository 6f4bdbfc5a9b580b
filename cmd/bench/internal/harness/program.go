// Package harness runs an engine and its hand-written twins side by side and
// compares them honestly.
//
// Programs are interleaved (A B C A B C ...), so that a change of the host's
// mood meets all of them; ratios are taken within a round, and the median of
// those is what counts. Every answer is checked against the others. What the
// host does by itself is measured too: a program against itself ([Ratio] of
// A/A), the gaps of an idle pinned thread ([Gaps]), and two independent copies
// of one program ([Copies]), which is the most that a second core can give.
package harness

import (
	"context"
	"fmt"
	"time"
)

// Answer is what a program computed, in a form in which two programs can be
// compared whatever the order of their results.
type Answer struct {
	Records int64  // records that went in
	Results int64  // results that came out
	Sum     uint64 // sum, modulo 2^64, of one hash for each result
}

// String formats a for an error message.
func (a Answer) String() string {
	return fmt.Sprintf("%d records, %d results, sum %016x", a.Records, a.Results, a.Sum)
}

// Load is what one run has to do.
type Load struct {
	Records int      // records over all splits
	Pace    *Pace    // when records become due; nil: as fast as they are taken
	Latency *Latency // where the sink records latencies; nil: nowhere
}

// Program is one way to do a job.
type Program struct {
	Name string
	// Copies is how many times the job is done in one run; 0 means once. It
	// only matters for the time per record.
	Copies int
	// Run does the job. It returns when everything it started has ended.
	Run func(ctx context.Context, load Load) (Answer, error)
}

// Copies is the program that runs n independent copies of p at the same time:
// how many times faster n cores can be at all, when the copies share nothing
// but the machine. All copies must give the same answer, which is the result.
func Copies(p Program, n int) Program {
	run := func(ctx context.Context, load Load) (Answer, error) {
		type outcome struct {
			answer Answer
			err    error
		}
		done := make(chan outcome, n)
		for range n {
			go func() {
				a, err := p.Run(ctx, load)
				done <- outcome{a, err}
			}()
		}
		first := <-done
		for range n - 1 {
			next := <-done
			if first.err == nil {
				first.err = next.err
			}
			if first.err == nil && next.answer != first.answer {
				first.err = fmt.Errorf("copies of %s disagree: %v and %v", p.Name, first.answer, next.answer)
			}
		}
		return first.answer, first.err
	}
	return Program{Name: fmt.Sprintf("%d copies of %s", n, p.Name), Copies: n, Run: run}
}

// epoch makes Now monotonic and small.
var epoch = time.Now()

// Now is a monotonic clock in nanoseconds. It costs about 50 ns: read it for a
// batch, never for a record.
func Now() int64 { return int64(time.Since(epoch)) }
