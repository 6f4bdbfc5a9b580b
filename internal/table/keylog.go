package table

import "encoding/binary"

// keyLog remembers the keys that were deleted since the last commit, encoded
// as in a chunk. It is a list of fixed blocks: appending never copies it.
type keyLog struct {
	blocks [][]byte
	first  int    // number of blocks[0], counted from the beginning of time
	from   logPos // where the records begin
}

// logPos is a place in a keyLog: a block and an offset in it.
type logPos struct{ block, off int }

type record struct {
	group   uint32
	key     []byte
	cleared uint32 // instead of a key: so many key groups from group on
}

const (
	logBlock   = 32 << 10
	recordHead = 8 // key group, length of the key (or allGroups and how many)
)

func (l *keyLog) begin() logPos { return l.from }

func (l *keyLog) end() logPos {
	if n := len(l.blocks); n > 0 {
		return logPos{l.first + n - 1, len(l.blocks[n-1])}
	}
	return logPos{block: l.first}
}

func (l *keyLog) append(group uint32, key []byte) {
	b := l.room(recordHead + len(key))
	*b = binary.LittleEndian.AppendUint32(*b, group)
	*b = binary.LittleEndian.AppendUint32(*b, uint32(len(key)))
	*b = append(*b, key...)
}

// appendCleared remembers that n key groups were cleared.
func (l *keyLog) appendCleared(group uint32, n int) {
	b := l.room(recordHead)
	*b = binary.LittleEndian.AppendUint32(*b, group)
	*b = binary.LittleEndian.AppendUint32(*b, allGroups|uint32(n))
}

func (l *keyLog) room(n int) *[]byte {
	if k := len(l.blocks); k > 0 && len(l.blocks[k-1])+n <= cap(l.blocks[k-1]) {
		return &l.blocks[k-1]
	}
	size := logBlock
	if len(l.blocks) == 0 {
		size = 1 << 10 // most tables delete little between two commits
	}
	l.blocks = append(l.blocks, make([]byte, 0, max(size, n)))
	return &l.blocks[len(l.blocks)-1]
}

// read returns the record at pos, which is before the end, and the place
// after it.
func (l *keyLog) read(pos logPos) (record, logPos) {
	b := l.blocks[pos.block-l.first]
	if pos.off == len(b) {
		pos = logPos{block: pos.block + 1}
		b = l.blocks[pos.block-l.first]
	}
	rec := record{group: binary.LittleEndian.Uint32(b[pos.off:])}
	n := binary.LittleEndian.Uint32(b[pos.off+4:])
	pos.off += recordHead
	if n&allGroups != 0 {
		rec.cleared = n &^ allGroups
		return rec, pos
	}
	rec.key = b[pos.off : pos.off+int(n)]
	pos.off += int(n)
	return rec, pos
}

// trim forgets the records before pos.
func (l *keyLog) trim(pos logPos) {
	for l.first < pos.block {
		l.blocks[0] = nil
		l.blocks = l.blocks[1:]
		l.first++
	}
	l.from = pos
}

//lint:ignore U1000 the size of a table is to count it
func (l *keyLog) bytes() (n int64) {
	for _, b := range l.blocks {
		n += int64(cap(b))
	}
	return n
}
