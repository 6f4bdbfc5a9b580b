package table

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// encodePage encodes the wanted rows of a page and recodes its tags, eight
// slots at a time.
func (c *core) encodePage(s *segment, page int) {
	v := &c.view
	var (
		words  = max(1, 1<<c.pageLog(s)/8)
		want   = spread(v.want)
		merge  = spread(v.merge)
		recode = spread(v.retired | v.merge)
		group  = uint32(s.prefix >> 1 >> (63 - groupBits(c.groups)))
	)
	words = min(words, 1<<s.log/8)
	for w := page * words; w < (page+1)*words; w++ {
		tags := tagWord(s.base, w)
		if tags&(want|recode) == 0 {
			continue
		}
		if rows := marked(tags & want); rows != 0 && v.err == nil {
			v.err = v.rows.add(group, s, w*8, rows)
		}
		if tags&recode != 0 {
			merged := marked(tags&merge) >> 7
			setTagWord(s.base, w, tags&^recode|merged*uint64(v.into))
			if merged != 0 {
				s.dirty |= v.into
			}
		}
	}
}

// tagWord returns the tags of slots 8*w to 8*w+7, that of the first slot in
// the highest byte.
func tagWord(base unsafe.Pointer, w int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(base, -8*(w+1)))[:])
}

func setTagWord(base unsafe.Pointer, w int, tags uint64) {
	binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(base, -8*(w+1)))[:], tags)
}

// spread puts a tag into all eight bytes of a word.
func spread(g tag) uint64 { return uint64(g) * 0x0101010101010101 }

// marked has the top bit of each byte set that is not zero in w.
func marked(w uint64) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	return (w&low + low | w) &^ low
}

// firstMarked returns the index of the first slot of a marked word.
func firstMarked(m uint64) int { return bits.LeadingZeros64(m) >> 3 }

// dropFirst clears the mark of the first slot.
func dropFirst(m uint64) uint64 { return m &^ (1 << 63 >> bits.LeadingZeros64(m)) }
