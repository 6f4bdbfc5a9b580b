package files

import (
	"errors"
	"fmt"
	"time"
)

// Limits that hold without an option.
const (
	DefaultMaxRecord = 16 << 20  // bytes of one line or CSV record
	DefaultSplitSize = 64 << 20  // bytes of one split of a plain text file
	DefaultRollBytes = 256 << 20 // bytes after which a sink begins a new part
)

// Compression is how a sink packs its parts.
type Compression uint8

const (
	None Compression = iota
	Gzip
	Zstd
)

// Option changes a source or sink. One that has no meaning for it is an error
// before the job starts.
type Option struct {
	name  string
	means formats // where it has a meaning
	set   func(*options)
}

// formats is a set of this package's sources and sinks.
type formats uint16

const (
	lines formats = 1 << iota
	jsonLines
	csvFile
	parquetFile
	toJSONLines
	toCSV
	toParquet

	textSources = lines | jsonLines | csvFile
	sources     = textSources | parquetFile
	sinks       = toJSONLines | toCSV | toParquet
)

type options struct {
	alsoGlobs    []string
	allowEmpty   bool
	allowChanged bool
	lenient      bool
	maxRecord    int
	splitSize    int64

	delimiter byte
	comment   byte // 0: none
	noHeader  bool
	nulls     []string
	layouts   []string

	rollBytes   int64
	rollEvery   time.Duration
	compression Compression
	existing    existingParts
}

// existingParts says what a sink does about parts that are there already.
type existingParts uint8

const (
	refuseParts existingParts = iota
	keepParts
	removeParts
)

// Also adds globs to that of the source. A file that several of them match is
// read once.
func Also(globs ...string) Option {
	return Option{"Also", sources, func(o *options) { o.alsoGlobs = append(o.alsoGlobs, globs...) }}
}

// AllowEmpty lets a glob match no file, which is an error otherwise.
func AllowEmpty() Option {
	return Option{"AllowEmpty", sources, func(o *options) { o.allowEmpty = true }}
}

// AllowChanged goes on with a file that isn't the one a position was taken in,
// by its size, time and first 4 KiB. Without it that is an error.
func AllowChanged() Option {
	return Option{"AllowChanged", sources, func(o *options) { o.allowChanged = true }}
}

// Lenient reads what strict reading refuses but has an obvious meaning: invalid
// UTF-8 becomes U+FFFD; a CSV record may have too few fields (the rest are
// null) or too many (they are dropped), and a CSV file may be empty; in JSON
// the last of several members of one name counts, and names match in any case.
func Lenient() Option {
	return Option{"Lenient", textSources, func(o *options) { o.lenient = true }}
}

// MaxRecord limits one line or CSV record to n bytes, at most 1 GiB, instead of
// DefaultMaxRecord. A reader's buffer grows up to it.
func MaxRecord(n int) Option {
	return Option{"MaxRecord", textSources, func(o *options) { o.maxRecord = n }}
}

// SplitSize reads plain text files in ranges of about n bytes instead of
// DefaultSplitSize. Positions belong to ranges: a job that resumes needs the
// same n.
func SplitSize(n int64) Option {
	return Option{"SplitSize", textSources, func(o *options) { o.splitSize = n }}
}

// Delimiter separates CSV fields by c, an ASCII character, instead of a comma.
func Delimiter(c byte) Option {
	return Option{"Delimiter", csvFile | toCSV, func(o *options) { o.delimiter = c }}
}

// Comment leaves out the CSV lines that begin with c.
func Comment(c byte) Option {
	return Option{"Comment", csvFile, func(o *options) { o.comment = c }}
}

// NoHeader says that CSV files have no header: columns are the struct's fields
// in their order. A sink then writes none.
func NoHeader() Option {
	return Option{"NoHeader", csvFile | toCSV, func(o *options) { o.noHeader = true }}
}

// Nulls are the CSV fields that mean null, such as "NA" or "". Without it only
// an empty field is null, and only where the field of the struct can say so. A
// sink writes the first of them for null, instead of nothing.
func Nulls(literals ...string) Option {
	return Option{"Nulls", csvFile | toCSV, func(o *options) { o.nulls = literals }}
}

// TimeLayouts are the layouts, as of package time, that CSV times are tried
// with, in their order. Without it they are RFC 3339, "2006-01-02 15:04:05" and
// "2006-01-02"; times without a zone are UTC. A sink writes the first of them.
func TimeLayouts(layouts ...string) Option {
	return Option{"TimeLayouts", csvFile | toCSV, func(o *options) { o.layouts = layouts }}
}

// RollBytes begins a new part when one has n bytes in its file or more, instead
// of DefaultRollBytes.
func RollBytes(n int64) Option {
	return Option{"RollBytes", sinks, func(o *options) { o.rollBytes = n }}
}

// RollEvery begins a new part when one is d old. It is looked at when records
// are written: a part stays open while there are none.
func RollEvery(d time.Duration) Option {
	return Option{"RollEvery", sinks, func(o *options) { o.rollEvery = d }}
}

// Compress packs the parts of a CSV or JSON lines sink. In Parquet it packs the
// pages, which are snappy without it.
func Compress(c Compression) Option {
	return Option{"Compress", sinks, func(o *options) { o.compression = c }}
}

// Append leaves parts that are in the directory where they are and numbers new
// ones after them. Without it, or Overwrite, they are an error.
func Append() Option {
	return Option{"Append", sinks, func(o *options) { o.existing = keepParts }}
}

// Overwrite removes the parts that are in the directory, and what was left of
// unfinished ones, before the job starts.
func Overwrite() Option {
	return Option{"Overwrite", sinks, func(o *options) { o.existing = removeParts }}
}

// newOptions applies opts. Its error names every option that is out of place.
func newOptions(f formats, opts []Option) (options, error) {
	o := options{
		maxRecord: DefaultMaxRecord, splitSize: DefaultSplitSize, rollBytes: DefaultRollBytes, delimiter: ',',
		layouts: []string{time.RFC3339Nano, "2006-01-02 15:04:05", time.DateOnly},
	}
	var errs []error
	for _, opt := range opts {
		if opt.set == nil {
			continue // the zero Option
		}
		if opt.means&f == 0 {
			errs = append(errs, fmt.Errorf("option %s has no meaning here", opt.name))
			continue
		}
		opt.set(&o)
	}
	return o, errors.Join(append(errs, o.validate())...)
}

func (o *options) validate() error {
	var errs []error
	if o.maxRecord < 1 || o.maxRecord > 1<<30 {
		errs = append(errs, fmt.Errorf("MaxRecord(%d): must be from 1 to 1 GiB", o.maxRecord))
	}
	if o.splitSize < 1 {
		errs = append(errs, fmt.Errorf("SplitSize(%d): must be positive", o.splitSize))
	}
	if o.rollBytes < 1 {
		errs = append(errs, fmt.Errorf("RollBytes(%d): must be positive", o.rollBytes))
	}
	if o.rollEvery < 0 {
		errs = append(errs, fmt.Errorf("RollEvery(%v): must not be negative", o.rollEvery))
	}
	if c := o.delimiter; c == '"' || c == '\r' || c == '\n' || c == 0 || c >= 0x80 {
		errs = append(errs, fmt.Errorf("Delimiter(%q): cannot separate fields", c))
	}
	if c := o.comment; c != 0 && (c == o.delimiter || c == '"' || c == '\r' || c == '\n' || c >= 0x80) {
		errs = append(errs, fmt.Errorf("Comment(%q): cannot begin a comment", c))
	}
	if len(o.layouts) == 0 {
		errs = append(errs, errors.New("TimeLayouts(): needs at least one layout"))
	}
	if o.compression > Zstd {
		errs = append(errs, fmt.Errorf("Compress(%d): unknown compression", o.compression))
	}
	return errors.Join(errs...)
}
