package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/tailrace-io/tailrace/flow"
)

type place struct {
	City string   `parquet:"city,dict"`
	Lat  *float64 `parquet:"lat,optional"`
}

// theirs is a row as the library itself writes it, of types ours reads in
// other forms.
type theirs struct {
	Milli  time.Time `parquet:"milli,timestamp(millisecond)"`
	Nano   time.Time `parquet:"nano,timestamp(nanosecond)"`
	Day    int32     `parquet:"day,date"`
	Small  int32     `parquet:"small"`
	Maybe  *int64    `parquet:"maybe,optional"`
	Flag   *bool     `parquet:"flag,optional"`
	Dict   *string   `parquet:"dict,optional,dict"`
	Delta  string    `parquet:"delta,delta"`
	Fixed  [4]byte   `parquet:"fixed"`
	Place  place     `parquet:"place"`
	Unread []string  `parquet:"unread,list"`
}

type ours struct {
	Dict  string    `parquet:"dict"` // null is ""
	Maybe int64     `parquet:"maybe"`
	Milli time.Time `parquet:"milli"`
	Nano  flow.Time `parquet:"nano"`
	Raw   int64     `parquet:"-"`
	Day   time.Time
	Small float64
	Flag  *bool
	Delta string
	Fixed string
	Place struct {
		City string
		Lat  *float64
	}
}

func libraryFile(t testing.TB, rows []theirs, opts ...parquet.WriterOption) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "theirs.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[theirs](f, opts...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func theirRows(n int) (rows []theirs, want []ours) {
	for i := range n {
		at := time.Unix(int64(i)*1000, 123456789).UTC()
		r := theirs{Milli: at, Nano: at, Day: int32(i - 5), Small: int32(-i), Delta: fmt.Sprint("delta", i), Fixed: [4]byte{'a', 'b', 'c', byte('0' + i%10)}}
		o := ours{
			Milli: at.Truncate(time.Millisecond), Nano: flow.TimeOf(at), Day: time.Unix(int64(i-5)*86400, 0).UTC(),
			Small: float64(-i), Delta: r.Delta, Fixed: string(r.Fixed[:]),
		}
		r.Place.City = fmt.Sprint("city", i%3)
		o.Place.City = r.Place.City
		if i%2 == 0 {
			maybe, flag, lat := int64(i), i%3 == 0, float64(i)/2
			r.Maybe, r.Flag, r.Place.Lat = &maybe, &flag, &lat
			o.Maybe, o.Flag, o.Place.Lat = maybe, &flag, &lat
		}
		if i%5 > 0 {
			dict := fmt.Sprint("word", i%4)
			r.Dict, o.Dict = &dict, dict
		}
		r.Unread = make([]string, i%3)
		rows, want = append(rows, r), append(want, o)
	}
	return rows, want
}

func TestFilesOfOtherWritersAreRead(t *testing.T) {
	rows, want := theirRows(60)
	for _, tt := range []struct {
		name   string
		opts   []parquet.WriterOption
		splits int
	}{
		{"as they come", nil, 1},
		{"in small pages", []parquet.WriterOption{parquet.PageBufferSize(100)}, 1},
		{"in small pages of version 1", []parquet.WriterOption{parquet.PageBufferSize(100), parquet.DataPageVersion(1)}, 1},
		{"in small row groups", []parquet.WriterOption{parquet.MaxRowsPerRowGroup(11)}, 6},
		{"packed", []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(1000)}, 1},
		{"packed with another codec", []parquet.WriterOption{parquet.Compression(&parquet.Brotli)}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := libraryFile(t, rows, tt.opts...)
			src := Parquet[ours](path)
			same(t, mustRead(t, src), want)
			if n := splitCount(t, src); n != tt.splits {
				t.Errorf("%d splits, want %d", n, tt.splits)
			}
			checkPositions(t, src)
			if n, err := ParquetRows(context.Background(), path); n != int64(len(rows)) || err != nil {
				t.Errorf("ParquetRows counts %d, %v", n, err)
			}
		})
	}
}

func TestStoredRecordsAreSetInWholeWhateverWasInTheBuffer(t *testing.T) {
	rows, want := theirRows(20)
	path := libraryFile(t, rows)
	src := Parquet[ours](path)
	splits, err := src.Splits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(context.Background(), splits[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	buf := make([]ours, 20)
	yes, lat := true, 1.5
	for i := range buf {
		buf[i] = ours{Dict: "old", Maybe: -1, Raw: -1, Flag: &yes}
		buf[i].Place.Lat = &lat
	}
	if n, err := r.Read(context.Background(), buf); n != 20 || err != nil {
		t.Fatal(n, err)
	}
	same(t, buf, want)
}

func TestSchemasThatDoNotFitAreErrorsBeforeTheJob(t *testing.T) {
	rows, _ := theirRows(3)
	path := libraryFile(t, rows)
	for _, tt := range []struct {
		name string
		src  any
		says []string
	}{
		{"a missing column", Parquet[struct{ None int }](path), []string{path, `no column "none"`, "None"}},
		{"text as a number", Parquet[struct{ Delta int }](path), []string{path, `"delta"`, "does not fit field Delta of type int"}},
		{"a number as text", Parquet[struct{ Small string }](path), []string{`"small"`, "does not fit"}},
		{"int64 as a float", Parquet[struct{ Maybe float64 }](path), []string{`"maybe"`, "does not fit"}},
		{"a list", Parquet[struct {
			U string `parquet:"unread_list_element"`
		}](path), []string{`"unread.list.element"`, "repeated"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, tt.src.(flow.Checker).Check(context.Background()), tt.says...)
		})
	}
	_, err := readSource(Parquet[struct{ Small uint8 }](path), 5)
	wantError(t, err, path, "row group 0", `"small"`, "-1 doesn't fit a uint8")
}
