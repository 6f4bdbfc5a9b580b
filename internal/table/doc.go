// Package table has the typed tables (K, V) and the time-ordered timers that
// lie under keyed state and aggregates. It knows no streams, no checkpoints
// and no files: only hashes, key groups, memory and phases.
//
// A [Table] is an extendible hash table: a directory, indexed by the top bits
// of a key's hash, of segments of at most 1024 slots. The top bits are also the
// key group, so the order of the directory is the order of the key groups. A
// segment grows alone, so no operation ever moves more than one segment.
// Types without pointers lie inline in memory outside the Go heap; keys made
// of strings and plain fields lie in byte arenas of the segments; everything
// else is kept in blocks on the Go heap (see [LayoutOf]).
//
// A frozen view costs nothing to take: a tag byte per slot tells in which
// phases the slot was written, and the first write to a page after a freeze
// encodes that page into the view first (freeze.go has the rules).
//
// Nothing here is safe for concurrent use, save [Pool]: a table belongs to one
// worker.
package table
