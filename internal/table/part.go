package table

// Part is a table as checkpoints see it: a table of lists or of maps has
// several, each frozen, loaded and named on its own. All parts of one table
// are frozen at the same place of the input, and with the same ids.
type Part interface {
	Freeze(id uint64, mode Mode, sink Sink) error
	Slice(budget int) (done bool, err error)
	Commit(id uint64)
	Abort(id uint64)
	Load(chunk []byte) error
	Len() int
	Bytes() int64
	Clear()
	Close()
}

// partKey is the key of one part of the value of Key.
type partKey[K comparable, P comparable] struct {
	Key  K
	Part P
}

// partHash is the hash of part x of a key with hash h: in the key group of h.
func partHash(h, x uint64, groups int) uint64 {
	below := ^uint64(0) >> groupBits(groups)
	return h&^below | HashUint64(h^x*foldMul)&below
}

// partCodec is the codec of a partKey, if K or P has one of its own.
func partCodec[K, P comparable](key Codec[K], part Codec[P]) Codec[partKey[K, P]] {
	if key.Append == nil && part.Append == nil {
		return Codec[partKey[K, P]]{}
	}
	key, part = keyCodec(key), keyCodec(part)
	return Codec[partKey[K, P]]{
		Append: func(dst []byte, k *partKey[K, P]) ([]byte, error) {
			dst, err := key.Append(dst, &k.Key)
			if err != nil {
				return dst, err
			}
			return part.Append(dst, &k.Part)
		},
		Decode: func(src []byte, k *partKey[K, P]) (int, error) {
			n, err := key.Decode(src, &k.Key)
			if err != nil {
				return 0, err
			}
			if n < 0 || n > len(src) {
				return 0, errShort
			}
			m, err := part.Decode(src[n:], &k.Part)
			return n + m, err
		},
	}
}

// findBy returns the slot and value of a row with hash h that match accepts.
// match may be asked about rows with other hashes, and sees strings that are
// only lent.
func (t *Table[K, V]) findBy(h uint64, match func(k *K, v *V) bool) (i uint32, v *V) {
	d := &t.dir[t.index(h)]
	for i := uint32(h) & d.mask; *tagAt(d.base, i) != 0; i = (i + 1) & d.mask {
		row := t.row(d.base, i)
		switch t.kind {
		case inlineRows:
			r := (*inlineRow[K, V])(row)
			if match(&r.key, &r.val) {
				return i, &r.val
			}
		case encodedRows:
			r := (*encodedRow[V])(row)
			if r.low != uint32(h) {
				continue
			}
			key, _ := t.seg(d.seg).keys.at(r.off)
			found := match(t.lend(key, true), &r.val)
			t.lent = *new(K)
			if found {
				return i, &r.val
			}
		case generalRows:
			r := (*generalRow)(row)
			if p := t.pairs.get(r.ref); r.hash == h && match(&p.key, &p.val) {
				return i, &p.val
			}
		}
	}
	return 0, nil
}

// mark makes the row in slot i of the segment of h one written now.
func (t *Table[K, V]) mark(h uint64, i uint32) {
	d := &t.dir[t.index(h)]
	if *tagAt(d.base, i)&t.cur == 0 {
		t.touch(t.seg(d.seg), i)
	}
}
