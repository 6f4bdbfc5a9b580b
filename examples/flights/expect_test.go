package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

const (
	shipped         = "data/flights-2001-jan-feb.parquet"
	shippedAirports = "data/airports.csv"
	shippedRows     = 966_409
)

// results are all rows of the five directories, each as text: those of origins,
// routes and delayed sorted, those of worst and hubs in their order.
type results struct {
	origins, routes, worst, hubs, delayed []string
}

// inputRow is a row of the input as this test reads it.
type inputRow struct {
	Date        int64  `parquet:"date"`
	Delay       int32  `parquet:"delay"`
	Origin      string `parquet:"origin"`
	Destination string `parquet:"destination"`
}

// expected computes the results of the shipped data again, with plain loops.
var expected = sync.OnceValues(func() (results, error) {
	rows, err := parquet.ReadFile[inputRow](shipped)
	if err != nil {
		return results{}, err
	}
	names, err := readNames()
	if err != nil {
		return results{}, err
	}
	if len(rows) != shippedRows {
		return results{}, fmt.Errorf("the data is not what it was: %d rows", len(rows))
	}
	return compute(rows, names), nil
})

func readNames() (map[string]string, error) {
	f, err := os.Open(shippedAirports)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	code, name := slices.Index(records[0], "faa"), slices.Index(records[0], "name")
	for _, rec := range records[1:] {
		names[rec[code]] = rec[name]
	}
	return names, nil
}

// summed is a group of flights.
type summed struct {
	key          string
	delays       []int32
	destinations int
}

func compute(rows []inputRow, names map[string]string) (want results) {
	byRoute := map[[2]string]*summed{}
	for _, r := range rows {
		route := group(byRoute, [2]string{r.Origin, r.Destination})
		route.delays = append(route.delays, r.Delay)
		if r.Delay > 60 {
			date := time.UnixMicro(r.Date).UTC().Format("2006-01-02T15:04:05Z")
			want.delayed = append(want.delayed, fmt.Sprintf("%s,%s,%s,%d", date, r.Origin, r.Destination, r.Delay))
		}
	}
	byOrigin := map[string]*summed{}
	for places, route := range byRoute {
		route.key = places[0] + "," + places[1]
		origin := group(byOrigin, places[0])
		origin.key = places[0]
		origin.delays = append(origin.delays, route.delays...)
		origin.destinations++
	}
	originText := func(s *summed) string {
		name, ok := names[s.key]
		if !ok {
			name = "(" + s.key + ")"
		}
		return fmt.Sprintf("%s,%s,%d,%s", s.key, name, s.destinations, s.text())
	}
	routeText := func(s *summed) string { return s.key + "," + s.text() }
	for _, s := range byOrigin {
		want.origins = append(want.origins, originText(s))
	}
	for _, s := range byRoute {
		want.routes = append(want.routes, routeText(s))
	}
	want.worst = firstTen(maps.Values(byRoute), routeText, func(s *summed) []float64 {
		return []float64{min(float64(len(s.delays)), 50), s.mean()}
	})
	want.hubs = firstTen(maps.Values(byOrigin), originText, func(s *summed) []float64 {
		return []float64{float64(s.destinations), float64(len(s.delays))}
	})
	slices.Sort(want.origins)
	slices.Sort(want.routes)
	slices.Sort(want.delayed)
	return want
}

func group[K comparable](all map[K]*summed, key K) *summed {
	if all[key] == nil {
		all[key] = &summed{}
	}
	return all[key]
}

func (s *summed) mean() float64 {
	sum := 0
	for _, d := range s.delays {
		sum += int(d)
	}
	return float64(sum) / float64(len(s.delays))
}

// text is the columns of delays. The percentile is that of the nearest rank:
// the smallest delay with at least nine in ten at or below it.
func (s *summed) text() string {
	sorted := slices.Sorted(slices.Values(s.delays))
	rank := (9*len(sorted) + 9) / 10
	return fmt.Sprintf("%d,%s,%d", len(sorted), strconv.FormatFloat(s.mean(), 'f', -1, 64), sorted[rank-1])
}

// firstTen sorts by the numbers of by, the largest first, then by key.
func firstTen(all iter.Seq[*summed], text func(*summed) string, by func(*summed) []float64) (rows []string) {
	sorted := slices.SortedFunc(all, func(a, b *summed) int {
		return cmp.Or(slices.Compare(by(b), by(a)), strings.Compare(a.key, b.key))
	})
	for _, s := range sorted[:10] {
		rows = append(rows, text(s))
	}
	return rows
}

// written reads everything that a run wrote below out. What is not a complete
// part is an error.
func written(t *testing.T, out string) results {
	t.Helper()
	var got results
	got.origins = csvRows(t, out, "origins", "origin,name,destinations,flights,mean_delay,p90_delay")
	got.routes = parquetRows(t, out, "routes")
	got.worst = csvRows(t, out, "worst", "origin,destination,flights,mean_delay,p90_delay")
	got.hubs = csvRows(t, out, "hubs", "origin,name,destinations,flights,mean_delay,p90_delay")
	got.delayed = csvRows(t, out, "delayed", "date,origin,destination,delay")
	slices.Sort(got.origins)
	slices.Sort(got.routes)
	slices.Sort(got.delayed)
	return got
}

// parts are the files in a directory of results.
func parts(t *testing.T, out, dir, extension string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(out, dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "part-") || filepath.Ext(e.Name()) != extension {
			t.Errorf("%s is in %s: wanted nothing but parts", e.Name(), dir)
			continue
		}
		names = append(names, filepath.Join(out, dir, e.Name()))
	}
	return names
}

func csvRows(t *testing.T, out, dir, header string) (rows []string) {
	t.Helper()
	for _, name := range parts(t, out, dir, ".csv") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(b), "\n") {
			t.Errorf("%s ends within a line", name)
		}
		r := csv.NewReader(strings.NewReader(string(b)))
		for first := true; ; first = false {
			record, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			row := strings.Join(record, ",")
			if !first {
				rows = append(rows, row)
			} else if row != header {
				t.Errorf("%s begins with %s, wanted %s", name, row, header)
			}
		}
	}
	return rows
}

func parquetRows(t *testing.T, out, dir string) (rows []string) {
	t.Helper()
	type row struct {
		Origin      string  `parquet:"origin"`
		Destination string  `parquet:"destination"`
		Flights     int64   `parquet:"flights"`
		Mean        float64 `parquet:"mean_delay"`
		P90         int32   `parquet:"p90_delay"`
	}
	for _, name := range parts(t, out, dir, ".parquet") {
		read, err := parquet.ReadFile[row](name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range read {
			rows = append(rows, fmt.Sprintf("%s,%s,%d,%s,%d", r.Origin, r.Destination, r.Flights, strconv.FormatFloat(r.Mean, 'f', -1, 64), r.P90))
		}
	}
	return rows
}
