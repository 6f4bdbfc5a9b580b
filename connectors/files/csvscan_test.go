package files

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// scanAll reads records with the scanner, from windows that grow byte by byte
// when grow is set, up to the first malformed one.
func scanAll(data []byte, comment byte, grow bool) (records [][]string, err error) {
	s := csvScanner{delimiter: ',', comment: comment}
	for len(data) > 0 {
		window := len(data)
		if grow {
			window = 1
		}
		res, end := s.record(data[:window], window == len(data))
		for res == csvPartial {
			window++
			res, end = s.record(data[:window], window == len(data))
		}
		switch res {
		case csvBad:
			return records, end.err
		case csvRecord:
			var r []string
			for i := range s.fields {
				r = append(r, string(s.field(data, i)))
			}
			records = append(records, r)
		}
		data = data[end.size:]
	}
	return records, nil
}

// libraryAll reads with encoding/csv.
func libraryAll(data []byte, comment byte) (records [][]string, err error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	r.Comment = rune(comment)
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		records = append(records, rec)
	}
}

func compareScanners(t *testing.T, data []byte, comment byte) {
	t.Helper()
	want, wantErr := libraryAll(data, comment)
	for _, grow := range []bool{false, true} {
		got, err := scanAll(data, comment, grow)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error %v, encoding/csv says %v", data, err, wantErr)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", data, got, want)
		}
		if errors.Is(wantErr, csv.ErrBareQuote) != errors.Is(err, errBareQuote) {
			t.Fatalf("%q: error %v, encoding/csv says %v", data, err, wantErr)
		}
	}
}

// FuzzCSVScanner compares the scanner with encoding/csv up to the first
// malformed record. What follows one is our own rule.
func FuzzCSVScanner(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "\"a\"\"b\",c\r\n\"x\ny\",\"\"\n", "a\"b\n", "\"a\"b\n", "\"a", "\r\n\n\r", ",\n,,", "#x\na", "\"a\r\nb\"\r\n", "\"\r\r\n\",\r", "\"\"\"\"\n", "a,\"\n\n,\"\"\",b",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		compareScanners(t, data, 0)
		compareScanners(t, data, '#')
	})
}

func TestTheScannerReadsAllShortTextsAsEncodingCSVDoes(t *testing.T) {
	const alphabet = "a,\"\n\r#"
	var walk func(text []byte)
	walk = func(text []byte) {
		compareScanners(t, text, '#')
		if len(text) == 6 {
			return
		}
		for i := range len(alphabet) {
			walk(append(text[:len(text):len(text)], alphabet[i]))
		}
	}
	walk(nil)
}

// FuzzReaders reads any text as lines, JSON lines and CSV, in one piece and in
// ranges, whose outcomes must be the same.
func FuzzReaders(f *testing.F) {
	f.Add([]byte("a,b\n1,\"2\n\"\n{\"A\":1}\n"), uint8(5))
	f.Add([]byte("\xef\xbb\xbfa,b\r\n\"x\"y,1\n\xff,2"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		type cells struct{ A, B string }
		path := writeFile(t, "a", string(data))
		split := SplitSize(int64(size) + 1)
		check(t, "lines", func(o ...Option) (outcome[Line], error) { return readSource(Lines(path, o...), 5) }, split)
		check(t, "JSON lines", func(o ...Option) (outcome[cells], error) { return readSource(JSONLines[cells](path, o...), 5) }, split)
		check(t, "CSV", func(o ...Option) (outcome[cells], error) { return readSource(CSV[cells](path, o...), 5) }, split)
		check(t, "CSV, leniently", func(o ...Option) (outcome[cells], error) {
			return readSource(CSV[cells](path, append(o, Lenient(), NoHeader())...), 5)
		}, split)
	})
}

func check[T any](t *testing.T, name string, read func(...Option) (outcome[T], error), split Option) {
	t.Helper()
	whole, err := read()
	parts, err2 := read(split)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("%s: at once %v, in ranges %v", name, err, err2)
	}
	if err == nil && !reflect.DeepEqual(whole, parts) {
		t.Fatalf("%s: at once\n%+v\nin ranges\n%+v", name, whole, parts)
	}
}

// FuzzCSVFields writes any texts and reads them back.
func FuzzCSVFields(f *testing.F) {
	f.Add("a", "\"", "NA")
	f.Add("", "\n", " ")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		type cells struct {
			A string
			B *string
			C []byte
		}
		for _, s := range []*string{&a, &b, &c} {
			*s = strings.ReplaceAll(strings.ToValidUTF8(*s, "?"), "\r\n", "\n")
		}
		want := []cells{{a, &b, []byte(c)}, {c, nil, []byte(b + "x")}}
		for _, opts := range [][]Option{nil, {Nulls("NA", "")}, {NoHeader(), Delimiter('\t')}} {
			path := written(t, sinkOf[cells](opts), want)
			got, err := readSource(CSV[cells](path, opts...), 5)
			if err != nil || len(got.bad) > 0 || len(got.records) != 2 {
				t.Fatalf("%+v: %v, %q", got.records, err, got.bad)
			}
			for i, g := range got.records {
				if g.A != want[i].A || !reflect.DeepEqual(g.B, want[i].B) || !bytes.Equal(g.C, want[i].C) {
					t.Fatalf("got %+v, want %+v", g, want[i])
				}
			}
		}
	})
}
