package table

import (
	"encoding/binary"
	"unsafe"
)

// A chunk is a piece of an encoded view:
//
//	version, kind, layout of the rows, 0  (a byte each)
//	number of rows or keys                (4 bytes; all numbers little-endian)
//	type identity                         (8 bytes)
//	runs: key group, number n             (4 bytes each), n rows or keys
//
// A row or key is, by layout: inline: its memory; encoded: the length of the
// key (uvarint), the key, the memory of the value; general: what the codecs
// wrote. In a chunk of deleted keys, a run with allGroups set in n says
// instead that the key groups from group on, as many as the rest of n says,
// were cleared.
const (
	chunkVersion = 1
	chunkHead    = 16
	runHead      = 8
	allGroups    = 1 << 31

	chunkRows = 1
	chunkKeys = 2
)

// ChunkSize is about the size of a chunk; a single large row may exceed it.
const ChunkSize = 256 << 10

// Chunk is one piece of an encoded view. In what order the chunks of a view
// are loaded does not matter, except that those with Deletes come first.
type Chunk struct {
	Deletes bool
	Count   int    // rows or keys
	Data    []byte // owned by the sink
}

// Sink takes the chunks of a view. It is called by the owner of the table,
// within writes too, and must be quick.
type Sink interface {
	// Buffer returns an empty buffer, best with room for ChunkSize bytes.
	Buffer() []byte
	// Emit takes a chunk.
	Emit(Chunk)
}

// chunkWriter fills chunks.
type chunkWriter struct {
	c     *core
	kind  uint8
	buf   []byte
	count int
	run   int // where the header of the open run is; 0 is none
	group uint32
}

func (w *chunkWriter) open(kind uint8, c *core) { *w = chunkWriter{c: c, kind: kind} }

// begin makes sure that a chunk and a run of that key group are open.
func (w *chunkWriter) begin(group uint32) {
	if len(w.buf) >= ChunkSize {
		w.flush()
	}
	if w.buf == nil {
		w.buf = append(w.c.view.sink.Buffer(), chunkVersion, w.kind, w.c.rows.layout(), 0)
		w.buf = binary.LittleEndian.AppendUint32(w.buf, 0)
		w.buf = binary.LittleEndian.AppendUint64(w.buf, w.c.rows.identity())
	}
	if w.run == 0 || w.group != group {
		w.closeRun()
		w.run, w.group = len(w.buf), group
		w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(group))
	}
}

// counted adds n to the open run.
func (w *chunkWriter) counted(n int) {
	w.count += n
	head := w.buf[w.run+4:]
	binary.LittleEndian.PutUint32(head, binary.LittleEndian.Uint32(head)+uint32(n))
}

func (w *chunkWriter) closeRun() { w.run = 0 }

// flush hands the open chunk over.
func (w *chunkWriter) flush() {
	if w.buf == nil {
		return
	}
	binary.LittleEndian.PutUint32(w.buf[4:], uint32(w.count))
	w.c.view.sink.Emit(Chunk{Deletes: w.kind == chunkKeys, Count: w.count, Data: w.buf})
	w.buf, w.count, w.run = nil, 0, 0
}

// add encodes the marked slots of the eight that begin at slot from.
func (w *chunkWriter) add(group uint32, s *segment, from int, rows uint64) error {
	w.begin(group)
	n := 0
	var err error
	for ; rows != 0; rows = dropFirst(rows) {
		row := w.c.row(s.base, uint32(from+firstMarked(rows)))
		if w.buf, err = w.c.rows.appendRow(w.buf, s, row); err != nil {
			return err
		}
		n++
	}
	w.counted(n)
	return nil
}

// encodeKeys encodes up to n deleted keys and returns how many.
func (c *core) encodeKeys(n int) int {
	v := &c.view
	for i := range n {
		if v.keysAt == v.keysEnd {
			return i
		}
		var rec record
		rec, v.keysAt = c.deleted.read(v.keysAt)
		if rec.cleared > 0 {
			v.keys.closeRun()
			v.keys.begin(rec.group)
			v.keys.buf = binary.LittleEndian.AppendUint32(v.keys.buf[:len(v.keys.buf)-4], allGroups|rec.cleared)
			v.keys.closeRun()
			continue
		}
		v.keys.begin(rec.group)
		v.keys.buf = append(v.keys.buf, rec.key...)
		v.keys.counted(1)
	}
	return n
}

// logDelete remembers the key of slot i.
func (c *core) logDelete(s *segment, i uint32) {
	key, err := c.rows.appendKey(c.keyBuf[:0], s, c.row(s.base, i))
	if err != nil && c.logErr == nil {
		c.logErr = err // the next view fails with it
	}
	c.keyBuf = key
	c.deleted.append(uint32(s.prefix>>1>>(63-groupBits(c.groups))), key)
}

func appendMemory(dst []byte, p unsafe.Pointer, n uintptr) []byte {
	return append(dst, unsafe.Slice((*byte)(p), n)...)
}
