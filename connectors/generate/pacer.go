package generate

import (
	"context"
	"time"
)

// paceSlice is how long a pacer lets records gather before it hands them out:
// long enough that a fast source isn't woken for every record, and short
// against any window.
const paceSlice = 5 * time.Millisecond

// pacer says how many records are due. It is used by one goroutine.
type pacer struct {
	rate  float64 // records a second
	begin time.Time
	given int64 // records handed out since begin
}

func newPacer(rate float64) *pacer { return &pacer{rate: rate, begin: time.Now()} }

// wait waits until at least one record is due and returns how many are, at most
// most.
func (p *pacer) wait(ctx context.Context, most int) (int, error) {
	if most == 0 {
		return 0, ctx.Err()
	}
	if n := p.due(most); n > 0 {
		return n, ctx.Err()
	}
	nextAt := time.Duration(float64(p.given+1) / p.rate * float64(time.Second))
	timer := time.NewTimer(max(nextAt-time.Since(p.begin)+1, paceSlice))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-timer.C:
	}
	if n := p.due(most); n > 0 {
		return n, nil
	}
	p.given++ // the timer cannot fire early, but the product in due may round down
	return 1, nil
}

// due hands out up to most records that are due now.
func (p *pacer) due(most int) int {
	n := int64(time.Since(p.begin).Seconds()*p.rate) - p.given
	n = min(max(n, 0), int64(most))
	p.given += n
	return int(n)
}
