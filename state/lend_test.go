//go:build race || invariants

package state_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// misuse is a keeper that does one thing to each of two records.
type misuse struct {
	*keeper
	do  [2]func(*keeper)
	now int
}

func (m *misuse) Process(flow.Ctx[string], *record, *flow.Out[string]) error {
	m.do[m.now](m.keeper)
	m.now++
	return nil
}

// TestADebugBuildNoticesMisuseOfWhatWasLent: the first step sets up, the second
// does the forbidden.
func TestADebugBuildNoticesMisuseOfWhatWasLent(t *testing.T) {
	set := func(k *keeper) {
		k.point.Set(point{1, 1})
		k.tale.Set(tale{"t", []string{"a", "b"}})
		k.list.Replace([]string{"a", "b"})
		k.many.Set(1, tale{"t", []string{"a"}})
		k.table.Set("x", 1)
	}
	for name, c := range map[string]struct {
		do   func(k *keeper)
		want string // "" for nothing
	}{
		"reading and editing in their order": {func(k *keeper) {
			_ = *k.point.Peek()
			k.point.Edit().X = 3
			k.point.Edit().Y = 4
			if *k.point.Peek() != (point{3, 4}) || k.tale.Peek().Words[1] != "b" || k.list.Peek()[1] != "b" {
				panic("lost")
			}
			for _, v := range k.table.All() {
				_ = *v
			}
		}, ""},
		"a write to what Peek of a value gave": {func(k *keeper) { k.point.Peek().X = 2 }, `state "point": what Peek`},
		"a write behind a pointer of it":       {func(k *keeper) { k.tale.Peek().Words[0] = "c" }, `state "tale": what Peek`},
		"a write to what Peek of a list gave":  {func(k *keeper) { k.list.Peek()[0] = "c" }, `state "list": what Peek`},
		"a write to what Peek of a map gave":   {func(k *keeper) { k.many.Peek(1).Title = "c" }, `state "many": what Peek`},
		"a write to what All of a map gave": {func(k *keeper) {
			func() {
				for _, v := range k.table.All() {
					*v = 2
				}
			}()
		}, `state "table": what Peek or All`},
		"the same noticed at the next call on the handle": {func(k *keeper) { k.point.Peek().X = 2; k.point.Get(); panic("too late") }, `state "point": what Peek`},
		"a pointer that is read after the next call sees rubbish": {func(k *keeper) {
			p := k.point.Peek()
			k.point.Edit()
			if p.X == 1 {
				panic("still there")
			}
		}, ""},
		"a pointer to change that is used after the next call changes nothing": {func(k *keeper) {
			p := k.point.Edit()
			k.point.Peek()
			p.X = 77
			if k.point.Peek().X != 1 {
				panic("changed")
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := flow.New("g")
			keyed := flow.KeyBy(flow.Read(g, "in", memory.From(record{}, record{})), func(*record) string { return "k" })
			s := flow.Process[string, record, string](keyed, "op", func(s flow.Scope[string]) *misuse {
				return &misuse{keeper: newKeeper(s), do: [2]func(*keeper){set, c.do}}
			})
			flow.Write(s, "out", new(memory.Collected[string]).Sink())
			_, err := exec.Run(context.Background(), g, exec.Options{Workers: 1})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
