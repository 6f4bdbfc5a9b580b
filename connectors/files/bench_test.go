package files

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"

	"github.com/tailrace-io/tailrace/flow"
)

// Each reader is measured beside the plain loop over the library that a program
// without the engine would have, on the same file; ns/op is of one record. The
// answer, a sum over the records, is checked.

type trip struct {
	Date        flow.Time `json:"date" csv:"date" parquet:"date"`
	Delay       int32     `json:"delay" csv:"delay" parquet:"delay"`
	Distance    int32     `json:"distance" csv:"distance" parquet:"distance"`
	Origin      string    `json:"origin" csv:"origin" parquet:"origin"`
	Destination string    `json:"destination" csv:"destination" parquet:"destination"`
}

const benchTrips = 200_000

func trips() (records []trip, sum int64) {
	records = make([]trip, benchTrips)
	for i := range records {
		airport := func(n int) string { return string([]byte{'A' + byte(n%7), 'A' + byte(n/7%7), 'A' + byte(n/49%7)}) }
		records[i] = trip{
			Date: flow.Time(978307200_000000 + int64(i)*60_000000), Delay: int32(i*7919%200) - 20, Distance: int32(i * 31 % 2500),
			Origin: airport(i * 13), Destination: airport(i * 17),
		}
		sum += int64(records[i].Delay)
	}
	return records, sum
}

func tripsFile(b *testing.B, sink func(dir string) flow.Sink[trip]) (path string, sum int64) {
	b.Helper()
	records, sum := trips()
	return written(b, sink, records), sum
}

// perRecord reports the cost of one record, of benchTrips for each of b.N.
func perRecord(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchTrips, "ns/record")
}

func benchSource[T any](b *testing.B, src flow.Source[T], check func(buf []T) int64, want int64) {
	ctx := context.Background()
	buf := make([]T, 1024)
	b.ReportAllocs()
	for range b.N {
		splits, err := src.Splits(ctx)
		if err != nil {
			b.Fatal(err)
		}
		sum := int64(0)
		for _, s := range splits {
			r, err := src.Open(ctx, s, nil)
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				var n int
				n, err = r.Read(ctx, buf)
				sum += check(buf[:n])
			}
			if err != io.EOF {
				b.Fatal(err)
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		}
		if sum != want {
			b.Fatalf("the sum is %d, want %d", sum, want)
		}
	}
	perRecord(b)
}

func benchPlain(b *testing.B, path string, want int64, loop func(f *os.File) (int64, error)) {
	b.ReportAllocs()
	for range b.N {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		sum, err := loop(f)
		if err != nil {
			b.Fatal(err)
		}
		if sum != want {
			b.Fatalf("the sum is %d, want %d", sum, want)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	perRecord(b)
}

func delays(buf []trip) (sum int64) {
	for i := range buf {
		sum += int64(buf[i].Delay)
	}
	return sum
}

func BenchmarkReadLines(b *testing.B) {
	path, _ := tripsFile(b, func(d string) flow.Sink[trip] { return ToCSV[trip](d, NoHeader()) })
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	want := info.Size() - benchTrips
	b.Run("files", func(b *testing.B) {
		benchSource(b, Lines(path), func(buf []Line) (n int64) {
			for i := range buf {
				n += int64(len(buf[i].Text))
			}
			return n
		}, want)
	})
	b.Run("bufio.Scanner", func(b *testing.B) {
		benchPlain(b, path, want, func(f *os.File) (n int64, err error) {
			s := bufio.NewScanner(f)
			for s.Scan() {
				n += int64(len(s.Text()))
			}
			return n, s.Err()
		})
	})
}

func BenchmarkReadCSV(b *testing.B) {
	for _, tt := range []struct {
		name   string
		quotes bool
	}{{"plain", false}, {"quoted", true}} {
		path, sum := tripsFile(b, func(d string) flow.Sink[trip] { return ToCSV[trip](d) })
		if tt.quotes {
			content := readFile(b, path)
			path = writeFile(b, "quoted.csv", quoteAirports(content))
		}
		b.Run(tt.name+"/files", func(b *testing.B) { benchSource(b, CSV[trip](path), delays, sum) })
		b.Run(tt.name+"/ranges", func(b *testing.B) { benchSource(b, CSV[trip](path, SplitSize(1<<20)), delays, sum) })
		b.Run(tt.name+"/encoding-csv", func(b *testing.B) {
			benchPlain(b, path, sum, func(f *os.File) (int64, error) { return plainCSV(f) })
		})
	}
}

// quoteAirports puts the last two fields of each record in quotes.
func quoteAirports(content string) string {
	var out strings.Builder
	for line := range strings.Lines(content) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		fmt.Fprintf(&out, "%s,%s,%s,%q,%q\n", fields[0], fields[1], fields[2], fields[3], fields[4])
	}
	return out.String()
}

func plainCSV(f io.Reader) (sum int64, err error) {
	r := csv.NewReader(bufio.NewReaderSize(f, 256<<10))
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		return 0, err
	}
	var t trip
	d := newFieldDecoder(&options{layouts: []string{"2006-01-02T15:04:05.999999999Z07:00"}})
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
		if t.Date, err = d.parseFlowTime([]byte(rec[0])); err != nil {
			return 0, err
		}
		delay, err := strconv.Atoi(rec[1])
		if err != nil {
			return 0, err
		}
		distance, err := strconv.Atoi(rec[2])
		if err != nil {
			return 0, err
		}
		t.Delay, t.Distance, t.Origin, t.Destination = int32(delay), int32(distance), rec[3], rec[4]
		sum += int64(t.Delay)
	}
}

func BenchmarkReadJSONLines(b *testing.B) {
	path, sum := tripsFile(b, func(d string) flow.Sink[trip] { return ToJSONLines[trip](d) })
	b.Run("files", func(b *testing.B) { benchSource(b, JSONLines[trip](path), delays, sum) })
	b.Run("json", func(b *testing.B) {
		benchPlain(b, path, sum, func(f *os.File) (sum int64, err error) {
			s := bufio.NewScanner(f)
			for s.Scan() {
				var t trip
				if err := json.Unmarshal(s.Bytes(), &t); err != nil {
					return 0, err
				}
				sum += int64(t.Delay)
			}
			return sum, s.Err()
		})
	})
}

func BenchmarkReadParquet(b *testing.B) {
	type optional struct {
		Date        *flow.Time `parquet:"date"`
		Delay       *int32     `parquet:"delay"`
		Distance    *int32     `parquet:"distance"`
		Origin      *string    `parquet:"origin"`
		Destination *string    `parquet:"destination"`
	}
	type libraryTrip struct {
		Date        *int64  `parquet:"date,optional,timestamp(microsecond)"`
		Delay       *int32  `parquet:"delay,optional"`
		Distance    *int32  `parquet:"distance,optional"`
		Origin      *string `parquet:"origin,optional"`
		Destination *string `parquet:"destination,optional"`
	}
	records, sum := trips()
	all := make([]optional, len(records))
	for i := range records {
		t := &records[i]
		all[i] = optional{&t.Date, &t.Delay, &t.Distance, &t.Origin, &t.Destination}
	}
	path := written(b, func(d string) flow.Sink[optional] { return ToParquet[optional](d, Compress(Zstd)) }, all)
	b.Run("files", func(b *testing.B) { benchSource(b, Parquet[trip](path), delays, sum) })
	b.Run("GenericReader", func(b *testing.B) {
		benchPlain(b, path, sum, func(f *os.File) (sum int64, err error) {
			r := parquet.NewGenericReader[libraryTrip](f)
			defer r.Close()
			buf := make([]libraryTrip, 1024)
			for {
				n, err := r.Read(buf)
				for i := range buf[:n] {
					sum += int64(*buf[i].Delay)
				}
				if err == io.EOF {
					return sum, nil
				}
				if err != nil {
					return 0, err
				}
			}
		})
	})
}

func BenchmarkWrite(b *testing.B) {
	records, _ := trips()
	for _, tt := range []struct {
		name string
		sink func(dir string) flow.Sink[trip]
	}{
		{"CSV", func(d string) flow.Sink[trip] { return ToCSV[trip](d, Overwrite()) }},
		{"JSONLines", func(d string) flow.Sink[trip] { return ToJSONLines[trip](d, Overwrite()) }},
		{"Parquet", func(d string) flow.Sink[trip] { return ToParquet[trip](d, Overwrite()) }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			dir := b.TempDir()
			b.ReportAllocs()
			for range b.N {
				var batches [][]trip
				for rest := records; len(rest) > 0; {
					n := min(1024, len(rest))
					batches = append(batches, rest[:n])
					rest = rest[n:]
				}
				if err := writeAll(b, tt.sink(dir), batches...); err != nil {
					b.Fatal(err)
				}
			}
			perRecord(b)
		})
	}
	b.Run("encoding-csv", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			var out bytes.Buffer
			w := csv.NewWriter(&out)
			for i := range records {
				t := &records[i]
				err := w.Write([]string{t.Date.String(), strconv.Itoa(int(t.Delay)), strconv.Itoa(int(t.Distance)), t.Origin, t.Destination})
				if err != nil {
					b.Fatal(err)
				}
			}
			w.Flush()
			if bytes.Count(out.Bytes(), newline) != benchTrips {
				b.Fatal("records are missing")
			}
		}
		perRecord(b)
	})
}
