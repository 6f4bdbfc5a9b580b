package exec_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// sessions sets a timer relative to the time of each record.
type sessions struct{}

func (sessions) Process(ctx flow.Ctx[int], _ *int, _ *flow.Out[int]) error {
	ctx.SetTimer(ctx.Timestamp().Add(time.Hour), "gap")
	return nil
}

func (sessions) OnTimer(flow.Ctx[int], string, *flow.Out[int]) error { return nil }

func TestATimerOfARecordWithoutEventTimeIsRefused(t *testing.T) {
	g := flow.New("g")
	var got memory.Collected[int]
	keyed := flow.KeyBy(flow.Read(g, "in", memory.From(1, 2, 3)), func(n *int) int { return *n })
	flow.Write(flow.Process(keyed, "sessions", func(flow.Scope[int]) sessions { return sessions{} }), "out", got.Sink())
	_, err := exec.Run(context.Background(), g, exec.Options{Workers: 2})
	var te *exec.TaskError
	if !errors.As(err, &te) || te.Operator != "sessions" || !strings.Contains(err.Error(), "flow.Timestamps") {
		t.Errorf("error %v", err)
	}
}
