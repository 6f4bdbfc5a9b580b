// Package files reads and writes files of lines, JSON lines, CSV and Parquet.
//
// # Sources
//
// A source takes a glob, in which ** crosses directories, and reads every file
// that matches; names that begin with a dot don't. gzip (also of several members)
// and zstd are undone, and found by content, not by name. Plain text is read in
// byte ranges and Parquet by row group, so one file keeps several tasks busy; a
// compressed file is one split. CSV is divided only between records, which
// Splits finds by a pass over the file.
//
// Sources are strict: what can't be read as it stands is an error with the
// file, line and column, never a guess. A malformed record is a
// *flow.RecordError, and reading goes on after it; a file that is missing, cut
// short, damaged, or changed since it was first seen fails the job. Lenient
// loosens what has an obvious reading.
//
// Records get safe copies: nothing in them refers to a reader's buffers. Short strings
// are cut from blocks of 4 KiB, so a string that is kept keeps up to that much
// memory; strings.Clone frees it of the rest.
//
// # Sinks
//
// A sink writes part files into a directory, part-<task>-<sequence>, each under
// a temporary name that begins with a dot until it is complete and synced. So a
// part is there whole or not at all.
//
// # Columns
//
// CSV and Parquet map columns to the exported fields of a struct, by the tags
// csv:"name" and parquet:"name", or by the field's name in any case; "-" leaves a
// field out. Nested structs are flattened: Value.Count is the column
// value_count; embedded structs and the tag option ",inline" add no prefix. A
// field can be a bool, integer, float, string, []byte, time.Time,
// time.Duration, flow.Time, or in CSV an encoding.TextMarshaler and
// TextUnmarshaler. Null goes to a pointer or to a struct of a value and
// Valid bool (such as sql.Null[T]); in any other field it is the zero value.
package files
