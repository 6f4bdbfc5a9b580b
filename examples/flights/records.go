package main

import (
	"cmp"
	"strings"
	"time"
)

// flight is a row of the input.
type flight struct {
	Date        time.Time `parquet:"date"`
	Delay       int32     `parquet:"delay"`
	Distance    int32     `parquet:"distance"`
	Origin      string    `parquet:"origin"`
	Destination string    `parquet:"destination"`
}

func (f *flight) from() string { return f.Origin }

// airport is a row of the airports table.
type airport struct {
	Code string `csv:"faa"`
	Name string `csv:"name"`
}

func (a *airport) code() string { return a.Code }

// unnamed is the name of an airport that is not in the table.
func unnamed(code string) string { return "(" + code + ")" }

// leg is a flight with the name of the airport it left.
type leg struct {
	Origin, Destination, Name string
	Delay                     int32
}

// route is where a flight goes from and to.
type route struct {
	Origin      string `csv:"origin" parquet:"origin"`
	Destination string `csv:"destination" parquet:"destination"`
}

func (l *leg) origin() string      { return l.Origin }
func (l *leg) route() route        { return route{l.Origin, l.Destination} }
func (l *leg) delay() int32        { return l.Delay }
func (l *leg) destination() string { return l.Destination }
func (l *leg) name() string        { return l.Name }

// delays sums up the delays of some flights, in minutes.
type delays struct {
	Flights int64   `csv:"flights" parquet:"flights"`
	Mean    float64 `csv:"mean_delay" parquet:"mean_delay"`
	P90     int32   `csv:"p90_delay" parquet:"p90_delay"`
}

// originStats is what is known of one airport.
type originStats struct {
	Name         string `csv:"name" parquet:"name"`
	Destinations int64  `csv:"destinations" parquet:"destinations"`
	delays
}

// originRow and routeRow are rows of the output.
type originRow struct {
	Origin string `csv:"origin" parquet:"origin"`
	originStats
}

type routeRow struct {
	route
	delays
}

// delayed is a flight that was more than an hour late.
type delayed struct {
	Date        time.Time `csv:"date"`
	Origin      string    `csv:"origin"`
	Destination string    `csv:"destination"`
	Delay       int32     `csv:"delay"`
}

// daily is the number of flights, in two months, of a route that is flown daily.
const daily = 50

// worse orders routes by mean delay; those that are not flown daily come last.
func worse(a, b *routeRow) int {
	return cmp.Or(
		cmp.Compare(min(a.Flights, daily), min(b.Flights, daily)),
		cmp.Compare(a.Mean, b.Mean),
		strings.Compare(b.Origin+b.Destination, a.Origin+a.Destination))
}

// busier orders airports by the number of airports they reach.
func busier(a, b *originRow) int {
	return cmp.Or(
		cmp.Compare(a.Destinations, b.Destinations),
		cmp.Compare(a.Flights, b.Flights),
		strings.Compare(b.Origin, a.Origin))
}
