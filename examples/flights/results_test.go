package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/exec"
)

func wanted(t *testing.T) results {
	t.Helper()
	want, err := expected()
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// compare tells the first difference of each kind of result.
func compare(t *testing.T, got, want results) {
	t.Helper()
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"origins", got.origins, want.origins},
		{"routes", got.routes, want.routes},
		{"worst", got.worst, want.worst},
		{"hubs", got.hubs, want.hubs},
		{"delayed", got.delayed, want.delayed},
	} {
		if slices.Equal(c.got, c.want) {
			continue
		}
		at := 0
		for at < min(len(c.got), len(c.want)) && c.got[at] == c.want[at] {
			at++
		}
		t.Errorf("%s: %d rows, wanted %d; at %d: got %q, wanted %q", c.name, len(c.got), len(c.want), at,
			c.got[at:min(at+1, len(c.got))], c.want[at:min(at+1, len(c.want))])
	}
}

func TestAnyNumberOfWorkersGivesWhatPlainLoopsGive(t *testing.T) {
	want := wanted(t)
	for _, workers := range []int{1, 2, 3} {
		t.Run(strconv.Itoa(workers), func(t *testing.T) {
			out := t.TempDir()
			var shown tables
			res, err := exec.Run(context.Background(), build(files.Parquet[flight](shipped), shippedAirports, out, &shown),
				exec.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if got := readBy(res.Operators); got != shippedRows {
				t.Errorf("%d rows read, wanted %d", got, shippedRows)
			}
			got := written(t, out)
			compare(t, got, want)
			everyFlightIsAccountedFor(t, got, &shown)
		})
	}
}

// everyFlightIsAccountedFor adds up what was written and shown: each flight is
// in one origin and in one route, also those from airports without a name.
func everyFlightIsAccountedFor(t *testing.T, got results, shown *tables) {
	t.Helper()
	column := func(row string, fromEnd int) int {
		fields := strings.Split(row, ",")
		n, err := strconv.Atoi(fields[len(fields)-fromEnd])
		if err != nil {
			t.Error(err)
		}
		return n
	}
	byOrigin, byRoute, byShown := 0, 0, 0
	var unnamed []string
	for _, row := range got.origins {
		byOrigin += column(row, 3)
		if code, name, _ := strings.Cut(row, ","); strings.HasPrefix(name, "("+code+")") {
			unnamed = append(unnamed, code)
		}
	}
	for _, row := range got.routes {
		byRoute += column(row, 3)
	}
	for _, row := range shown.origins.Records() {
		byShown += int(row.Flights)
	}
	if byOrigin != shippedRows || byRoute != shippedRows || byShown != shippedRows {
		t.Errorf("origins have %d flights, routes %d, the origins shown %d, wanted %d", byOrigin, byRoute, byShown, shippedRows)
	}
	if want := []string{"BQN", "ILE", "SJU", "STT", "STX"}; !slices.Equal(unnamed, want) {
		t.Errorf("without a name are %v, wanted %v", unnamed, want)
	}
	if len(shown.worst.Records()) != 10 || len(shown.hubs.Records()) != 10 {
		t.Errorf("%d worst routes and %d hubs are shown, wanted 10", len(shown.worst.Records()), len(shown.hubs.Records()))
	}
}
