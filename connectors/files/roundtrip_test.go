package files

import (
	"database/sql"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/tailrace-io/tailrace/flow"
)

type inner struct {
	Count int64
	Mean  float64 `csv:"avg" parquet:"avg"`
}

type embedded struct{ Tag string }

// everything has a field of each type that CSV and Parquet know.
type everything struct {
	Bool     bool
	I8       int8
	I16      int16
	I32      int32
	I64      int64
	Int      int
	U8       uint8
	U16      uint16
	U32      uint32
	U64      uint64
	F32      float32
	F64      float64
	Text     string
	Bytes    []byte
	Time     time.Time
	At       flow.Time
	Took     time.Duration
	OptInt   *int32
	OptText  *string
	OptTime  *time.Time
	NullInt  sql.NullInt64
	NullText sql.Null[string]
	Nested   inner
	embedded
}

func someOfEverything() []everything {
	one, empty, na := int32(1), "", "NA"
	at := time.Date(2001, 2, 3, 4, 5, 6, 7000, time.UTC)
	zero := time.Unix(0, 0).UTC()
	return []everything{
		{Bytes: []byte("x"), Time: zero},
		{
			Bool: true, I8: -128, I16: -32768, I32: math.MinInt32, I64: math.MinInt64, Int: -1,
			U8: 255, U16: 65535, U32: math.MaxUint32, U64: math.MaxUint64, F32: math.MaxFloat32, F64: math.SmallestNonzeroFloat64,
			Text: "a,\"b\"\nc; ü", Bytes: []byte("\x00z"), Time: at, At: flow.TimeOf(at), Took: time.Minute + 7,
			OptInt: &one, OptText: &na, OptTime: &at, NullInt: sql.NullInt64{Int64: 5, Valid: true},
			NullText: sql.Null[string]{V: "v", Valid: true}, Nested: inner{7, 0.1}, embedded: embedded{"t"},
		},
		{
			F64: math.Inf(-1), F32: 1e21, Text: " lead", Bytes: []byte(","), Time: zero, At: flow.MaxTime,
			OptText: &empty, NullText: sql.Null[string]{Valid: true}, Nested: inner{-1, 1e-7},
		},
		{Text: `\.`, Bytes: []byte(`"`), Time: zero, At: flow.MinTime, F64: 123456789, F32: 0.5, embedded: embedded{"NA"}},
	}
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	type pair = flow.TaskInfo // a struct of another package, without tags
	records := someOfEverything()
	for _, tt := range []struct {
		name string
		opts []Option
		read []Option
	}{
		{name: "plainly"},
		{name: "packed with gzip", opts: []Option{Compress(Gzip)}},
		{name: "packed with zstd", opts: []Option{Compress(Zstd)}},
		{name: "in many parts", opts: []Option{RollBytes(1)}},
	} {
		t.Run("CSV "+tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := writeAll(t, ToCSV[everything](dir, tt.opts...), records[:1], records[1:]); err != nil {
				t.Fatal(err)
			}
			same(t, mustRead(t, CSV[everything](filepath.Join(dir, "*"))), records)
		})
		t.Run("Parquet "+tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := writeAll(t, ToParquet[everything](dir, tt.opts...), records[:1], records[1:]); err != nil {
				t.Fatal(err)
			}
			same(t, mustRead(t, Parquet[everything](filepath.Join(dir, "*.parquet"))), records)
		})
		t.Run("JSON lines "+tt.name, func(t *testing.T) {
			dir := t.TempDir()
			pairs := []pair{{Operator: "a\nb\u2028", Index: 1}, {Operator: "", Parallelism: -1}}
			if err := writeAll(t, ToJSONLines[pair](dir, tt.opts...), pairs[:1], pairs[1:]); err != nil {
				t.Fatal(err)
			}
			same(t, mustRead(t, JSONLines[pair](filepath.Join(dir, "*"))), pairs)
		})
	}
	t.Run("CSV with other options", func(t *testing.T) {
		dir := t.TempDir()
		opts := []Option{Delimiter(';'), NoHeader(), Nulls("NA", "-")}
		if err := writeAll(t, ToCSV[everything](dir, opts...), records); err != nil {
			t.Fatal(err)
		}
		same(t, mustRead(t, CSV[everything](filepath.Join(dir, "*"), opts...)), records)
	})
	t.Run("CSV of texts that marshal themselves", func(t *testing.T) {
		type row struct {
			N big.Int
			P *big.Int
		}
		dir := t.TempDir()
		rows := []row{{*big.NewInt(5), big.NewInt(-7)}, {*big.NewInt(1), nil}}
		if err := writeAll(t, ToCSV[row](dir), rows); err != nil {
			t.Fatal(err)
		}
		same(t, mustRead(t, CSV[row](filepath.Join(dir, "*"))), rows)
	})
	t.Run("CSV of one text column with empty texts", func(t *testing.T) {
		type row struct{ S string }
		dir := t.TempDir()
		rows := []row{{""}, {"a"}, {""}}
		if err := writeAll(t, ToCSV[row](dir), rows); err != nil {
			t.Fatal(err)
		}
		same(t, mustRead(t, CSV[row](filepath.Join(dir, "*"))), rows)
	})
}

// same compares records by what they hold.
func same[T any](t testing.TB, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d records, want %d", len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("record %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}
