// Command subset makes the data that the flights example ships: the flights of
// January and February from a file of more months.
package main

import (
	"flag"
	"time"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
)

// flight has all columns of the file, in its order.
type flight struct {
	Date        flow.Time `parquet:"date"`
	Delay       int32     `parquet:"delay"`
	Distance    int32     `parquet:"distance"`
	Origin      string    `parquet:"origin"`
	Destination string    `parquet:"destination"`
}

func main() {
	in := flag.String("in", "flights.parquet", "the whole file")
	out := flag.String("out", "subset", "directory for the part")
	flag.Parse()
	march := flow.TimeOf(time.Date(2001, 3, 1, 0, 0, 0, 0, time.UTC))
	g := flow.New("subset")
	all := flow.Read(g, "flights", files.Parquet[flight](*in), flow.Parallelism(1))
	some := flow.Filter(all, "before March", func(f *flight) bool { return f.Date < march })
	flow.Write(some, "part", files.ToParquet[flight](*out, files.Compress(files.Zstd)))
	exec.RunMain(g, exec.Options{})
}
