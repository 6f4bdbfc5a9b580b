package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tailrace-io/tailrace/internal/table"
)

// What a processor remembers, as bytes (numbers are varints, s is a length and
// bytes):
//
//	number of states, then of each: s name, s what its store wrote
//	number of tags, then of each: s tag
//	twice, for timers of event time and of processing time:
//	    number of timers, then of each: time, number of the tag, key
//	whether processing-time timers have ended, until when they are awaited
//
// Without timers the last three parts are missing.

var errShortState = errors.New("the bytes end too early")

// Save appends the declared states.
func (k *processorCore[O]) Save(dst []byte) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(len(k.states.stores)))
	for i, st := range k.states.stores {
		name := k.states.decls[i].Name
		dst = appendString(dst, name)
		one, err := st.Save(nil)
		if err != nil {
			return nil, fmt.Errorf("save state %q: %w", name, err)
		}
		dst = appendString(dst, one)
	}
	return dst, nil
}

// Load adds the declared states.
func (k *processorCore[O]) Load(src []byte) error {
	r := stateReader{src: src}
	return errors.Join(k.load(&r), r.err)
}

func (k *processorCore[O]) load(r *stateReader) error {
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		name, one := string(r.bytes()), r.bytes()
		if r.err != nil {
			break
		}
		st := k.states.named(name)
		if st == nil {
			return fmt.Errorf("load state %q: the operator has no such state", name)
		}
		if err := st.Load(one); err != nil {
			return fmt.Errorf("load state %q: %w", name, err)
		}
	}
	return nil
}

func (s *States) named(name string) Store {
	for i, d := range s.decls {
		if d.Name == name {
			return s.stores[i]
		}
	}
	return nil
}

// Save appends the declared states and the timers.
func (k *keyedCore[K, O]) Save(dst []byte) ([]byte, error) {
	dst, err := k.processorCore.Save(dst)
	t := k.timers
	if err != nil || t == nil {
		return dst, err
	}
	dst, numbers := t.appendTags(dst)
	for _, set := range []*table.Timers[K]{t.event, t.clock} {
		if dst, err = appendTimers(dst, set, k.codec, numbers); err != nil {
			return nil, fmt.Errorf("save timers: %w", err)
		}
	}
	ended, until := uint64(0), int64(0)
	if t.clockEnded {
		ended = 1
	}
	if !t.awaitUntil.IsZero() {
		until = microsAfter(t.awaitUntil)
	}
	return binary.AppendVarint(binary.AppendUvarint(dst, ended), until), nil
}

// appendTags appends the tags in use, in their order, and returns for each tag
// which of them it is.
func (t *timers[K]) appendTags(dst []byte) ([]byte, []int) {
	used, numbers := make([]bool, len(t.tags.names)), make([]int, len(t.tags.names))
	t.used(used)
	var tags []byte
	n := 0
	for id, ok := range used {
		if ok {
			tags = appendString(tags, t.tags.names[id])
			numbers[id] = n
			n++
		}
	}
	return append(binary.AppendUvarint(dst, uint64(n)), tags...), numbers
}

func appendTimers[K comparable](dst []byte, set *table.Timers[K], keys Codec[K], tags []int) (_ []byte, err error) {
	var all []table.Timer[K]
	for w := range set.All() {
		all = append(all, w)
	}
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	for i := range all {
		w := &all[i]
		dst = binary.AppendVarint(dst, w.At)
		dst = binary.AppendUvarint(dst, uint64(tags[w.Tag]))
		if dst, err = keys.Append(dst, &w.Key); err != nil {
			return nil, fmt.Errorf("key %v: %w", w.Key, err)
		}
	}
	return dst, nil
}

// Load adds the declared states and the timers.
func (k *keyedCore[K, O]) Load(src []byte) error {
	r := stateReader{src: src}
	if err := k.load(&r); err != nil || k.timers == nil {
		return errors.Join(err, r.err)
	}
	t := k.timers
	var ids []uint32
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		tag := string(r.bytes())
		id, ok := t.tags.known(tag)
		if !ok {
			id = t.tags.add(tag) // no timer has it yet: none may be given up now
		}
		ids = append(ids, id)
	}
	for _, set := range []*table.Timers[K]{t.event, t.clock} {
		if err := k.loadTimers(&r, set, ids); err != nil {
			return fmt.Errorf("load timers: %w", err)
		}
	}
	t.clockEnded = r.uvarint() == 1 || t.clockEnded
	if until := r.varint(); until != 0 {
		t.awaitUntil = time.UnixMicro(until)
	}
	return r.err
}

func (k *keyedCore[K, O]) loadTimers(r *stateReader, set *table.Timers[K], ids []uint32) error {
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		at, tag := r.varint(), r.uvarint()
		if tag >= uint64(len(ids)) && r.err == nil {
			return fmt.Errorf("tag %d of %d", tag, len(ids))
		}
		if r.err != nil {
			break
		}
		key := new(K)
		used, err := k.codec.Decode(r.src, key)
		if err != nil || used < 0 || used > len(r.src) {
			return fmt.Errorf("key: %w", errors.Join(err, errShortState))
		}
		r.src = r.src[used:]
		h := k.hash(key)
		if group := table.KeyGroup(h, k.inst.Groups); k.inst.Lo <= group && group < k.inst.Hi {
			set.Set(at, h, *key, ids[tag])
		}
	}
	return nil
}

func appendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// stateReader reads what Save has written. After the first mistake it returns
// zeros.
type stateReader struct {
	src []byte
	err error
}

func (r *stateReader) uvarint() uint64 {
	n, w := binary.Uvarint(r.src)
	r.skip(w)
	if r.err != nil {
		return 0
	}
	return n
}

func (r *stateReader) varint() int64 {
	n, w := binary.Varint(r.src)
	r.skip(w)
	if r.err != nil {
		return 0
	}
	return n
}

func (r *stateReader) skip(width int) {
	if width <= 0 {
		r.src, r.err = nil, errShortState
		return
	}
	r.src = r.src[width:]
}

func (r *stateReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.src)) {
		r.src, r.err = nil, errShortState
		return nil
	}
	b := r.src[:n:n]
	r.src = r.src[n:]
	return b
}
