package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/flow"
)

// flight is one row of a file of flights.
type flight struct {
	Delay    int32  `parquet:"delay"`
	Distance int32  `parquet:"distance"`
	From     string `parquet:"origin"`
	To       string `parquet:"destination"`
}

type route struct{ From, To string }

// Route is the key.
func (f *flight) Route() route { return route{f.From, f.To} }

// delays is what is known of a route while flights come in.
type delays struct{ Flights, Minutes, Most int64 }

func (d *delays) add(f *flight) {
	d.Flights++
	d.Minutes += int64(f.Delay)
	d.Most = max(d.Most, int64(f.Delay))
}

func (d *delays) merge(from *delays) {
	d.Flights += from.Flights
	d.Minutes += from.Minutes
	d.Most = max(d.Most, from.Most)
}

type routeDelays = flow.KeyValue[route, delays]

// routeAggregator is the aggregate of the job, for the engine.
var routeAggregator = flow.Aggregator[flight, delays, delays]{
	Add: (*delays).add, Merge: (*delays).merge,
	Result: func(d *delays) delays { return *d },
}

// flightData is a Parquet file of flights.
type flightData struct {
	path    string
	records int
}

// source reads the file with the engine's own connector: a split for each row group.
func (d flightData) source() flow.Source[flight] { return files.Parquet[flight](d.path) }

// openFlights finds out how many rows a file has.
func openFlights(path string) (flightData, error) {
	f, err := os.Open(path)
	if err != nil {
		return flightData{}, fmt.Errorf("open flights: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return flightData{}, fmt.Errorf("open flights %s: %w", path, err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return flightData{}, fmt.Errorf("open flights %s: %w", path, err)
	}
	return flightData{path, int(file.NumRows())}, nil
}

// madeFlight has the columns of the public file of flights of 2001, all optional.
type madeFlight struct {
	Date     int64  `parquet:"date,optional,timestamp(microsecond)"`
	Delay    int64  `parquet:"delay,optional"`
	Distance int64  `parquet:"distance,optional"`
	From     string `parquet:"origin,optional,dict"`
	To       string `parquet:"destination,optional,dict"`
}

// makeFlights writes a file of made-up flights in dir: 11 row groups as the
// real file has, 230 airports of which few have most of the flights.
func makeFlights(dir string, records int) (flightData, error) {
	d := flightData{filepath.Join(dir, "flights.parquet"), records}
	f, err := os.Create(d.path)
	if err != nil {
		return d, fmt.Errorf("make flights: %w", err)
	}
	w := parquet.NewGenericWriter[madeFlight](f, parquet.Compression(&parquet.Snappy))
	rng := rand.New(rand.NewPCG(2001, 1))
	airports := rand.NewZipf(rng, 1.2, 8, 229)
	code := func(n uint64) string {
		return string([]byte{'A' + byte(n/26%26), 'A' + byte(n%26), 'A' + byte(n*7%26)})
	}
	const groups = 11
	rows := make([]madeFlight, 0, records/groups+1)
	for group := range groups {
		rows = rows[:0]
		for range share(records, groups, group) {
			from := airports.Uint64()
			to := (from + 1 + airports.Uint64()) % 230
			rows = append(rows, madeFlight{
				Date: 978307200_000000 + rng.Int64N(31536000)*1e6, Delay: int64(rng.ExpFloat64()*18) - 8,
				Distance: 100 + int64(from*to%2400), From: code(from), To: code(to),
			})
		}
		if _, err := w.Write(rows); err != nil {
			return d, fmt.Errorf("make flights %s: %w", d.path, err)
		}
		if err := w.Flush(); err != nil {
			return d, fmt.Errorf("make flights %s: %w", d.path, err)
		}
	}
	if err := w.Close(); err != nil {
		return d, fmt.Errorf("make flights %s: %w", d.path, err)
	}
	if err := f.Close(); err != nil {
		return d, fmt.Errorf("make flights %s: %w", d.path, err)
	}
	return d, nil
}

func routeSink() *sink[routeDelays] {
	return &sink[routeDelays]{check: func(_ int, batch []routeDelays) (sum uint64) {
		for i := range batch {
			r := &batch[i]
			h := uint64(len(r.Key.From))
			for _, c := range []byte(r.Key.From + r.Key.To) {
				h = h*golden + uint64(c)
			}
			sum += harness.Mix(h) ^ harness.Mix(uint64(r.Value.Flights)<<40^uint64(r.Value.Minutes)<<16^uint64(r.Value.Most))
		}
		return sum
	}}
}

// runFlights plays the job on a real file if there is one.
func runFlights(ctx context.Context, r *runner) error {
	const name = "routes"
	if !r.wants(name) {
		return nil
	}
	data, err := openFlights(r.flights)
	if r.flights == "" {
		dir, dirErr := os.MkdirTemp("", "flights")
		if dirErr != nil {
			return fmt.Errorf("make flights: %w", dirErr)
		}
		defer os.RemoveAll(dir)
		data, err = makeFlights(dir, r.size(3_000_000))
	}
	if err != nil {
		return err
	}
	return playFlights(ctx, r, name, data)
}

func playFlights(ctx context.Context, r *runner, name string, data flightData) error {
	one, two, loop := engines.flights(data, 1), engines.flights(data, 2), flightsLoop(data)
	programs := []harness.Program{one, two, loop, harness.Copies(loop, 2)}
	for _, start := range starts {
		programs = append(programs, flightsMerge("2 maps, merged, "+start.name, data, start.run))
	}
	for _, start := range starts {
		programs = append(programs, flightsBatches("chan []T, "+start.name, data, start.run))
	}
	programs = append(programs, flightsItems("chan T, free", data, harness.GoFree))
	if one.Run != nil {
		programs = append(programs, harness.Copies(one, 2))
	}
	m, err := r.play(ctx, name, exists(programs...), func() harness.Load { return harness.Load{Records: data.records} })
	if err != nil {
		return err
	}
	m.faster("engine, 1 worker, vs loop", one.Name, loop.Name)
	m.ceiling(one.Name)
	m.ofCeiling("engine, 2 workers vs loop, of the ceiling", two.Name, loop.Name, one.Name)
	m.faster("engine, 2 workers, vs 2 maps, merged", two.Name, "2 maps")
	m.faster("engine, 2 workers, vs channels of batches", two.Name, "chan []T")
	m.faster("engine, 2 workers, vs channels of items", two.Name, "chan T")
	m.ceiling(loop.Name)
	m.faster("2 maps, merged, vs loop", fastestOf(m, "2 maps"), loop.Name)
	if r.flights == "" {
		m.out.Notes = append(m.out.Notes, "made-up flights; -flights FILE reads a real file")
	}
	r.done(m)
	return nil
}
