package main

import (
	"path/filepath"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/connectors/memory"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

// tables are the results that are shown at the end.
type tables struct {
	origins memory.Collected[originRow]
	worst   memory.Collected[routeRow]
	hubs    memory.Collected[originRow]
}

// build describes the job: flights of in, with names from airports, summed up
// by origin and by route into files under out.
func build(in flow.Source[flight], airports, out string, shown *tables) *flow.Graph {
	dir := func(name string) string { return filepath.Join(out, name) }
	g := flow.New("flights")
	flights := flow.Read(g, "flights", in)
	names := flow.Read(g, "airports", files.CSV[airport](airports, files.Lenient()))

	late := flow.Filter(flights, "over an hour late", func(f *flight) bool { return f.Delay > 60 })
	flow.Write(flow.MapInto(late, "late flight", func(f *flight, d *delayed) {
		*d = delayed{f.Date, f.Origin, f.Destination, f.Delay}
	}), "delayed", files.ToCSV[delayed](dir("delayed"), files.RollBytes(512<<10), files.Overwrite()))

	// A left join: flights from airports that the table lacks are kept.
	legs := flow.LookupJoin(flights, names, "name", flow.LeftOuter, (*flight).from, (*airport).code,
		func(f *flight, a *airport, out *flow.Out[leg]) error {
			l := out.Slot()
			l.Origin, l.Destination, l.Delay = f.Origin, f.Destination, f.Delay
			if a != nil {
				l.Name = a.Name
			} else {
				l.Name = unnamed(f.Origin)
			}
			return nil
		})
	summary := agg.Combine3(agg.Count[leg](), agg.Mean((*leg).delay), agg.ExactQuantile((*leg).delay, 0.9),
		func(n int64, mean float64, q []int32) delays { return delays{n, mean, q[0]} })

	origins := flow.MapInto(flow.Total(flow.KeyBy(legs, (*leg).origin), "by origin",
		agg.Combine3(summary, agg.Distinct((*leg).destination), agg.Max((*leg).name),
			func(d delays, dests int64, name string) originStats { return originStats{name, dests, d} })),
		"origin", func(kv *flow.KeyValue[string, originStats], r *originRow) { *r = originRow{kv.Key, kv.Value} })
	flow.Write(origins, "origins", files.ToCSV[originRow](dir("origins"), files.Overwrite()))
	flow.Write(origins, "shown origins", shown.origins.Sink())

	routes := flow.MapInto(flow.Total(flow.KeyBy(legs, (*leg).route), "by route", summary),
		"route", func(kv *flow.KeyValue[route, delays], r *routeRow) { *r = routeRow{kv.Key, kv.Value} })
	flow.Write(routes, "routes", files.ToParquet[routeRow](dir("routes"), files.Overwrite()))

	worst, hubs := best(routes, "worst routes", worse), best(origins, "hubs", busier)
	flow.Write(worst, "worst", files.ToCSV[routeRow](dir("worst"), files.Overwrite()))
	flow.Write(worst, "shown worst", shown.worst.Sink())
	flow.Write(hubs, "hubs out", files.ToCSV[originRow](dir("hubs"), files.Overwrite()))
	flow.Write(hubs, "shown hubs", shown.hubs.Sink())
	return g
}

// best returns the ten largest of s, the largest first.
func best[T any](s flow.Stream[T], name string, compare func(a, b *T) int) flow.Stream[T] {
	top := flow.Total(flow.KeyBy(s, flow.NoKey), name, agg.TopN(10, compare))
	return flow.FlatMap(top, "rows of "+name, func(top *flow.KeyValue[struct{}, []T], out *flow.Out[T]) error {
		for _, row := range top.Value {
			out.Emit(row)
		}
		return nil
	})
}
