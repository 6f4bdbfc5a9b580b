package harness

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Sample is one run of one program.
type Sample struct {
	Wall    time.Duration
	CPU     time.Duration // of the whole process, user and system: more than Wall means that cores worked in parallel
	Mallocs uint64        // heap allocations
	Answer  Answer
	Latency Quantiles // Count is 0 when latencies were not recorded
}

// Measure runs p once. The collector runs before the clock starts, so that p
// doesn't pay for what others left behind.
func Measure(ctx context.Context, p Program, load Load) (Sample, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	answer, err := p.Run(ctx, load)
	s := Sample{Wall: time.Since(start), CPU: cpuTime() - cpu, Answer: answer}
	if err != nil {
		return s, fmt.Errorf("run %s: %w", p.Name, err)
	}
	runtime.ReadMemStats(&after)
	s.Mallocs = after.Mallocs - before.Mallocs
	if load.Latency != nil {
		s.Latency = load.Latency.Quantiles()
	}
	return s, nil
}

// Steady is the number of allocations per record once p is under way: the
// difference between a run of load and one of three times as many records, so
// that what p allocates to start does not count.
func Steady(ctx context.Context, p Program, load Load) (float64, error) {
	short, err := Measure(ctx, p, load)
	if err != nil {
		return 0, err
	}
	longer := load
	longer.Records *= 3
	long, err := Measure(ctx, p, longer)
	if err != nil {
		return 0, err
	}
	more := float64(long.Mallocs) - float64(short.Mallocs)
	return max(0, more) / float64(longer.Records-load.Records), nil
}

// WrongAnswer says that two programs that do the same job disagree.
type WrongAnswer struct {
	Program, Reference string
	Got, Want          Answer
}

func (e *WrongAnswer) Error() string {
	return fmt.Sprintf("wrong answer: %s says %v, %s says %v", e.Program, e.Got, e.Reference, e.Want)
}
