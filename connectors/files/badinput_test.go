package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tailrace-io/tailrace/flow"
)

type reading struct {
	ID   int64
	Temp *float64 `csv:"temp"`
	OK   bool
}

func TestBadCSV(t *testing.T) {
	const header = "id,temp,ok\n"
	for _, tt := range []struct {
		name    string
		content string
		opts    []Option
		good    int
		bad     []string // what the errors of bad records say, one each
	}{
		{"a field that is no integer", header + "1,2,true\nx,2,true\n3,4,false\n", nil, 2, []string{`line 3 column 1: column "id": "x" is no int64: invalid syntax`}},
		{"an integer that doesn't fit", header + "9223372036854775808,2,true\n", nil, 0, []string{"value out of range"}},
		{"an empty field of a value", header + ",2,true\n", nil, 0, []string{`line 2 column 1: column "id": the field is empty`}},
		{"an empty field of a pointer", header + "1,,true\n", nil, 1, nil},
		{"a null literal", header + "NA,NA,NA\n", []Option{Nulls("NA")}, 1, nil},
		{"a null literal that wasn't declared", header + "1,NA,true\n", nil, 0, []string{`line 2 column 3: column "temp": "NA" is no float64`}},
		{"too few fields", header + "1,2\n1,2,true\n", nil, 1, []string{"line 2 column 3: the record has 2 fields instead of 3"}},
		{"too many fields", header + "1,2,true,4\n", nil, 0, []string{"line 2 column 10: the record has 4 fields instead of 3"}},
		{"too few fields, leniently", header + "1\n1,2\n", []Option{Lenient()}, 2, nil},
		{"too many fields, leniently", header + "1,2,true,4\n", []Option{Lenient()}, 1, nil},
		{"a quote in a bare field", header + "1,2\",true\n1,2,true\n", nil, 1, []string{"line 2 column 4: a quote in a field that doesn't begin with one"}},
		{"text after a quoted field", header + "1,\"2\"3,true\n1,2,true\n", nil, 1, []string{"line 2 column 5: a quote in a quoted field that isn't doubled"}},
		{"a quoted field that doesn't end", header + "1,2,true\n1,\"2,true\n", nil, 1, []string{"line 3 column 3: a quoted field that doesn't end"}},
		{"an error on the second line of a record", header + "1,\"\n2\n\",\"x\"y\n", nil, 0, []string{"line 4 column 5: a quote"}},
		{"a number on a later line of a record", header + "\"1\n\",2,true\n", nil, 0, []string{`line 2 column 1: column "id": "1\n"`}},
		{"invalid UTF-8", header + "1,2,true\n1,2,\xff\n", nil, 1, []string{"line 3 column 5: invalid UTF-8"}},
		{"blank lines and CR LF", "id,temp,ok\r\n\r\n1,2,true\r\n\n", nil, 1, nil},
		{"a byte order mark", "\xef\xbb\xbf" + header + "1,2,true\n", nil, 1, nil},
		{"comments", "#x\n" + header + "# 1,2\n1,2,true\n", []Option{Comment('#')}, 1, nil},
		{"no line end at the end", header + "1,2,true", nil, 1, nil},
		{"a header alone", header, nil, 0, nil},
		{"columns in another order, and one more", "ok,x,temp,ID\ntrue,y,1,2\n", nil, 1, nil},
		{"no header", "1,2,true\n", []Option{NoHeader()}, 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := writeFile(t, "a.csv", tt.content)
			got, err := readSource(CSV[reading](path, tt.opts...), 2)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.records) != tt.good || len(got.bad) != len(tt.bad) {
				t.Fatalf("%d records and bad ones %q; want %d and %q", len(got.records), got.bad, tt.good, tt.bad)
			}
			for i, want := range tt.bad {
				if !strings.Contains(got.bad[i], want) || !strings.HasPrefix(got.bad[i], filepath.ToSlash(path)) {
					t.Errorf("bad record %q doesn't say %q and %s", got.bad[i], want, path)
				}
			}
		})
	}
}

func TestBadJSONLines(t *testing.T) {
	for _, tt := range []struct {
		name    string
		content string
		opts    []Option
		good    int
		bad     string
	}{
		{"no JSON", "{\"ID\":1}\nhello\n{\"ID\":2}\n", nil, 2, "line 2 column 1: "},
		{"cut", "{\"ID\":1}\n{\"ID\":\n", nil, 1, "line 2 column 7: "},
		{"two values on a line", "{\"ID\":1} {\"ID\":2}\n", nil, 0, "line 1 column 10: "},
		{"another type", "{\"ID\":\"x\"}\n", nil, 0, "line 1 column 7: "},
		{"a name that repeats", "{\"ID\":1,\"ID\":2}\n", nil, 0, "line 1 column 9: "},
		{"a name that repeats, leniently", "{\"ID\":1,\"ID\":2}\n", []Option{Lenient()}, 1, ""},
		{"invalid UTF-8", "{\"OK\":true,\"x\":\"\xff\"}\n", nil, 0, "line 1 column 17: invalid UTF-8"},
		{"invalid UTF-8, leniently", "{\"OK\":true,\"x\":\"\xff\"}\n", []Option{Lenient()}, 1, ""},
		{"blank lines", "\n{\"ID\":1}\n  \n", nil, 1, ""},
		{"a last line without end", "{\"ID\":1}\nx", nil, 1, "line 2 column 1: "},
		{"a cut multi-byte character", "{\"ID\":1}\n\xc3", nil, 1, "line 2 column 1: invalid UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readSource(JSONLines[reading](writeFile(t, "a", tt.content), tt.opts...), 2)
			if err != nil || len(got.records) != tt.good {
				t.Fatalf("%d records, %v; want %d", len(got.records), err, tt.good)
			}
			if want := tt.bad != ""; want != (len(got.bad) == 1) || want && !strings.Contains(got.bad[0], tt.bad) {
				t.Errorf("bad records %q, want %q", got.bad, tt.bad)
			}
		})
	}
}

func TestABadRecordCarriesItsText(t *testing.T) {
	src := JSONLines[reading](writeFile(t, "a", "bad "+strings.Repeat("x", 1<<20)+"\n"))
	splits, err := src.Splits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(context.Background(), splits[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = r.Read(context.Background(), make([]reading, 1))
	bad, ok := errors.AsType[*flow.RecordError](err)
	if !ok || len(bad.Raw) != rawLimit || !bytes.HasPrefix(bad.Raw, []byte("bad xxx")) {
		t.Errorf("got %v, want a bad record with the first %d bytes of its text", err, rawLimit)
	}
}

func TestLongRecords(t *testing.T) {
	long := strings.Repeat("x", DefaultMaxRecord+1)
	content := "a\n" + long + "\nb\n"
	path := writeFile(t, "a", content)
	type cell struct{ A string }

	got, err := readSource(Lines(path), 2)
	if err != nil || !reflect.DeepEqual(got.records, []Line{{"a"}, {"b"}}) || len(got.bad) != 1 {
		t.Fatalf("lines over the limit: %d records, %q, %v", len(got.records), got.bad, err)
	}
	wantError(t, errors.New(got.bad[0]), path, "line 2", "at byte 2", fmt.Sprint(DefaultMaxRecord), "MaxRecord")
	lines := mustRead(t, Lines(path, MaxRecord(len(long))))
	if len(lines) != 3 || lines[1].Text != long {
		t.Error("a line of just the limit isn't read")
	}

	cells, err := readSource(CSV[cell](path), 2)
	if err != nil || len(cells.records) != 1 || len(cells.bad) != 1 {
		t.Fatalf("CSV over the limit: %d records, %q, %v", len(cells.records), cells.bad, err)
	}
	if all := mustRead(t, CSV[cell](path, MaxRecord(len(long)))); len(all) != 2 || all[0].A != long {
		t.Error("a CSV record of just the limit isn't read")
	}
	quoted := writeFile(t, "b", "a\n\"x"+long+"\"\n")
	_, err = readSource(CSV[cell](quoted), 2)
	wantError(t, err, quoted, "line 2", "at byte 2", "MaxRecord")
}

func TestFilesThatCannotBeReadAreErrorsBeforeTheJob(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing.txt")
	type tagged struct {
		A int `csv:"A" parquet:"A"`
	}
	for _, tt := range []struct {
		name string
		src  any
		says []string
	}{
		{"missing", Lines(missing), []string{missing, "no such file"}},
		{"missing directory", Lines(filepath.Join(dir, "no", "*.txt")), []string{filepath.Join(dir, "no")}},
		{"an empty glob", Lines(filepath.Join(dir, "*.none")), []string{"*.none", "no file matches"}},
		{"one empty glob of two", Lines(put("a.txt", ""), Also(filepath.Join(dir, "*.none"))), []string{"*.none", "no file matches"}},
		{"a malformed glob", Lines(filepath.Join(dir, "[")), []string{"["}},
		{"a directory", Lines(filepath.Join(dir, "sub")), []string{"sub", "is a directory"}},
		{"UTF-16", Lines(put("u16", "\xff\xfea\x00")), []string{"u16", "UTF-16"}},
		{"xz", Lines(put("x", "\xfd7zXZ\x00...")), []string{"xz", "not supported"}},
		{"bzip2", Lines(put("bz", "BZh91AY&SYxxxx")), []string{"bzip2", "not supported"}},
		{"Parquet as lines", Lines(put("p", "PAR1...")), []string{"Parquet"}},
		{"a gzip file cut to nothing", Lines(put("empty.gz", "")), []string{"empty.gz", "cut off at byte 0"}},
		{"a gzip file cut to its first byte", Lines(put("one.gz", "\x1f")), []string{"one.gz", "cut off at byte 1"}},
		{"a zstd file cut in its magic", Lines(put("one.zst", "\x28\xb5")), []string{"one.zst", "cut off at byte 2"}},
		{"an empty CSV file", CSV[reading](put("empty.csv", "")), []string{"empty.csv", "no header"}},
		{"a header without a column", CSV[reading](put("h.csv", "id,ok\n")), []string{"h.csv", `no column "temp"`, "Temp"}},
		{"a header with another case than the tag", CSV[tagged](put("c.csv", "a\n")), []string{`no column "A"`}},
		{"a header with a column twice", CSV[reading](put("d.csv", "id,id,temp,ok\n")), []string{`column "id" is there twice`}},
		{"a header that matches twice", CSV[reading](put("e.csv", "Id,ID,temp,ok\n")), []string{`"Id" and "ID" both match`}},
		{"a malformed header", CSV[reading](put("m.csv", "id,\"temp\"x,ok\n")), []string{"m.csv", "header", "line 1 column 9"}},
		{"text as Parquet", Parquet[reading](put("t.parquet", "hello")), []string{"t.parquet", "Parquet"}},
		{"an empty Parquet file", Parquet[reading](put("e.parquet", "")), []string{"e.parquet", "Parquet"}},
		{"an option of another format", Lines(put("o.txt", ""), Delimiter(';')), []string{"Delimiter", "no meaning"}},
		{"a delimiter that can't be", CSV[reading]("x", Delimiter('"')), []string{"Delimiter"}},
		{"a type that is no record", CSV[map[string]int]("x"), []string{"map[string]int"}},
		{"a field that is no column", CSV[struct{ A []int }]("x"), []string{"field A", "[]int"}},
		{"two fields of one column", CSV[struct {
			A int `csv:"b"`
			B int
		}]("x"), []string{"A and B", `column "b"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, tt.src.(flow.Checker).Check(context.Background()), tt.says...)
		})
	}
	if got := mustRead(t, Lines(filepath.Join(dir, "*.none"), AllowEmpty())); len(got) != 0 {
		t.Errorf("AllowEmpty: %d records", len(got))
	}
	if got := mustRead(t, CSV[reading](put("l.csv", ""), Lenient())); len(got) != 0 {
		t.Errorf("an empty CSV file, leniently: %d records", len(got))
	}
}

func TestAPackedFileCutAnywhereIsAnError(t *testing.T) {
	line := strings.Repeat("some words, again and again\n", 50)
	for _, tt := range []struct{ name, content string }{
		{"a.gz", gzipped(t, line, line)},
		{"a.zst", zstded(t, line, line)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := len(gzipped(t, line))
			if strings.HasSuffix(tt.name, ".zst") {
				first = len(zstded(t, line))
			}
			for cut := range len(tt.content) {
				path := writeFile(t, tt.name, tt.content[:cut])
				got, err := readSource(Lines(path), 10)
				if cut == first { // a whole member: nothing shows that there was another
					if err != nil || len(got.records) != 50 {
						t.Errorf("cut between members: %d records, %v", len(got.records), err)
					}
					continue
				}
				if err == nil {
					t.Errorf("cut at %d of %d: %d records and no error", cut, len(tt.content), len(got.records))
				} else if !strings.Contains(err.Error(), path) || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("cut at %d: error %q doesn't say that %s is cut", cut, err, path)
				}
			}
			all := mustRead(t, Lines(writeFile(t, tt.name, tt.content)))
			if len(all) != 100 {
				t.Errorf("all members: %d lines, want 100", len(all))
			}
		})
	}
}

func TestAPackedFileWithAnyFlippedBitIsAnErrorOrTheSame(t *testing.T) {
	line := strings.Repeat("some words, again and again\n", 5)
	for _, tt := range []struct{ name, content string }{
		{"a.gz", gzipped(t, line)},
		{"a.zst", zstded(t, line)},
	} {
		want := mustRead(t, Lines(writeFile(t, tt.name, tt.content)))
		for bit := 32; bit < 8*len(tt.content); bit++ { // the magic decides what the file is
			b := []byte(tt.content)
			b[bit/8] ^= 1 << (bit % 8)
			got, err := readSource(Lines(writeFile(t, tt.name, string(b))), 10)
			if err == nil && !reflect.DeepEqual(got.records, want) {
				t.Errorf("%s with bit %d flipped: other records and no error", tt.name, bit)
			}
		}
	}
}

func TestDamagedParquetIsAnErrorNeverAPanic(t *testing.T) {
	path := written(t, func(d string) flow.Sink[row] { return ToParquet[row](d) }, rowsOf(50))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.parquet")
	try := func(t *testing.T, b []byte) error {
		if err := os.WriteFile(damaged, b, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readSource(Parquet[row](damaged), 20)
		if err == nil && len(got.records) < 50 {
			t.Errorf("%d rows of 50 and no error", len(got.records))
		}
		if err != nil && !strings.Contains(err.Error(), "damaged.parquet") {
			t.Errorf("error %q doesn't name the file", err)
		}
		return err
	}
	t.Run("cut", func(t *testing.T) {
		for cut := 0; cut < len(content); cut += 1 + min(cut, len(content)-cut)/32 {
			if try(t, content[:cut]) == nil {
				t.Errorf("cut at %d of %d: no error", cut, len(content))
			}
		}
	})
	t.Run("with a byte changed", func(t *testing.T) {
		for i := 0; i < len(content); i += 3 {
			b := bytes.Clone(content)
			b[i] ^= 0x55
			_ = try(t, b)
		}
	})
}
