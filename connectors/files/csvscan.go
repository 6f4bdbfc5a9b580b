package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

// csvScanner finds the records and fields of CSV as encoding/csv does, without
// its LazyQuotes and TrimLeadingSpace: fields are separated by the delimiter; a
// field that begins with a quote ends with one and may hold delimiters, line
// ends and doubled quotes; CR LF counts as LF, in quoted fields too. Empty lines
// are passed over. A malformed record ends with the line where that shows.
type csvScanner struct {
	delimiter byte
	comment   byte // 0: none

	fields []csvField
	// plain holds the fields that had to be changed: doubled quotes, CR LF.
	plain []byte
}

// csvField is a field's bytes, in the scanned data or, changed, in the scanner.
type csvField struct {
	begin, end int32
	line       int32 // of the field, counted from the record's first
	column     int32 // of its first byte in that line, from 0
	changed    bool  // begin and end are in plain
	quoted     bool
}

var (
	errBareQuote = errors.New(`a quote in a field that doesn't begin with one`)
	errQuote     = errors.New(`a quote in a quoted field that isn't doubled`)
	errOpenQuote = errors.New(`a quoted field that doesn't end`)
)

// csvResult says what record found.
type csvResult uint8

const (
	csvRecord  csvResult = iota // a record
	csvBlank                    // an empty line or a comment
	csvPartial                  // the data ends within a record
	csvBad                      // a malformed record
)

// csvEnd says where what was found ends, and what is wrong with it.
type csvEnd struct {
	size   int // bytes used, with the line end
	lines  int // line ends used
	err    error
	line   int // of the error, counted from the record's first
	column int // of the error in its line, from 0
}

func (s *csvScanner) field(data []byte, i int) []byte {
	f := &s.fields[i]
	if f.changed {
		return s.plain[f.begin:f.end]
	}
	return data[f.begin:f.end]
}

// record scans the record at the begin of data, which isn't empty. last says that
// nothing follows data. The fields are valid until the next call.
func (s *csvScanner) record(data []byte, last bool) (csvResult, csvEnd) {
	s.fields, s.plain = s.fields[:0], s.plain[:0]
	lineEnd := bytes.IndexByte(data, '\n')
	if lineEnd < 0 && !last {
		return csvPartial, csvEnd{}
	}
	line, size, lines := cutLine(data, lineEnd)
	end := csvEnd{size: size, lines: lines}
	if len(line) == 0 || s.comment != 0 && line[0] == s.comment {
		return csvBlank, end
	}
	if bytes.IndexByte(line, '"') < 0 {
		s.splitPlain(line)
		return csvRecord, end
	}
	q := quotedRecord{csvScanner: s, data: data, last: last, end: end, lineEnd: len(line)}
	return q.scan()
}

// cutLine takes the line end, CR LF or LF, off the line whose LF is at lineEnd,
// or off all of data when there is none. A CR at the end of the file counts too.
func cutLine(data []byte, lineEnd int) (line []byte, size, lines int) {
	if lineEnd < 0 {
		line, size = data, len(data)
	} else {
		line, size, lines = data[:lineEnd], lineEnd+1, 1
	}
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, size, lines
}

// splitPlain splits a line without quotes. It looks at eight bytes at a time, for
// fields are mostly too short for bytes.IndexByte to pay.
func (s *csvScanner) splitPlain(line []byte) {
	const low7, ones = 0x7f7f7f7f7f7f7f7f, 0x0101010101010101
	pattern := uint64(s.delimiter) * ones
	fields := s.fields
	begin, at := int32(0), 0
	for ; at+8 <= len(line); at += 8 {
		x := binary.LittleEndian.Uint64(line[at:]) ^ pattern
		found := ^(((x & low7) + low7) | x | low7) // the high bit of each byte of x that is zero
		for ; found != 0; found &= found - 1 {
			end := int32(at + bits.TrailingZeros64(found)/8)
			fields = append(fields, csvField{begin: begin, end: end, column: begin})
			begin = end + 1
		}
	}
	for ; at < len(line); at++ {
		if line[at] == s.delimiter {
			fields = append(fields, csvField{begin: begin, end: int32(at), column: begin})
			begin = int32(at + 1)
		}
	}
	s.fields = append(fields, csvField{begin: begin, end: int32(len(line)), column: begin})
}

// quotedRecord scans a record with quotes in it.
type quotedRecord struct {
	*csvScanner
	data      []byte
	last      bool
	end       csvEnd
	at        int // next byte
	lineBegin int // of the line that at is in
	lineEnd   int // without its CR LF
	line      int // lines passed since the record began
}

func (q *quotedRecord) scan() (csvResult, csvEnd) {
	for {
		var ok bool
		var res csvResult
		if q.at < q.lineEnd && q.data[q.at] == '"' {
			res, ok = q.quotedField()
		} else {
			res, ok = q.bareField()
		}
		if !ok {
			return res, q.end
		}
		if q.at >= q.lineEnd {
			return csvRecord, q.end
		}
		q.at++ // the delimiter; a field follows, perhaps an empty one
	}
}

func (q *quotedRecord) bad(at int, err error) (csvResult, bool) {
	q.end.err, q.end.line, q.end.column = err, q.line, at-q.lineBegin
	return csvBad, false
}

// bareField scans up to a delimiter or the end of the line.
func (q *quotedRecord) bareField() (csvResult, bool) {
	rest := q.data[q.at:q.lineEnd]
	n := bytes.IndexByte(rest, q.delimiter)
	if n < 0 {
		n = len(rest)
	}
	if i := bytes.IndexByte(rest[:n], '"'); i >= 0 {
		return q.bad(q.at+i, errBareQuote)
	}
	q.fields = append(q.fields, csvField{
		begin: int32(q.at), end: int32(q.at + n), line: int32(q.line), column: int32(q.at - q.lineBegin)})
	q.at += n
	return csvRecord, true
}

// quotedField scans a field that begins with a quote, over line ends.
func (q *quotedRecord) quotedField() (csvResult, bool) {
	f := csvField{begin: int32(q.at + 1), line: int32(q.line), column: int32(q.at - q.lineBegin), quoted: true}
	from := q.at + 1 // what is not yet copied to plain, once changed
	q.at++
	change := func(upTo int) { // copies data[from:upTo] as it stands
		if !f.changed {
			f.changed = true
			f.begin = int32(len(q.plain))
		}
		q.plain = append(q.plain, q.data[from:upTo]...)
	}
	for {
		i := bytes.IndexByte(q.data[q.at:q.lineEnd], '"')
		if i < 0 {
			lineEnd := q.lineEnd
			switch res := q.nextLine(); res {
			case csvPartial:
				return res, false
			case csvBad: // where it begins says more than where the file ends
				q.end.err, q.end.line, q.end.column = errOpenQuote, int(f.line), int(f.column)
				return res, false
			}
			if q.lineBegin-lineEnd > 1 { // CR LF becomes LF
				change(lineEnd)
				from = q.lineBegin - 1
			}
			continue
		}
		q.at += i + 1
		switch {
		case q.at < q.lineEnd && q.data[q.at] == '"':
			change(q.at)
			q.at++
			from = q.at
		case q.at == q.lineEnd || q.data[q.at] == q.delimiter:
			f.end = int32(q.at - 1)
			if f.changed {
				change(q.at - 1)
				f.end = int32(len(q.plain))
			}
			q.fields = append(q.fields, f)
			return csvRecord, true
		default:
			return q.bad(q.at-1, errQuote)
		}
	}
}

// nextLine goes on with the next line of the record. It is csvBad when there is
// none.
func (q *quotedRecord) nextLine() csvResult {
	rest := q.data[q.end.size:]
	if len(rest) == 0 && q.last {
		return csvBad
	}
	lineEnd := bytes.IndexByte(rest, '\n')
	if lineEnd < 0 && !q.last {
		return csvPartial
	}
	line, size, lines := cutLine(rest, lineEnd)
	q.at, q.lineBegin, q.lineEnd = q.end.size, q.end.size, q.end.size+len(line)
	q.end.size += size
	q.end.lines += lines
	q.line++
	return csvRecord
}
