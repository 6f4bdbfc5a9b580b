package table

import "unsafe"

// Touch loads the memory in which the key of hash h is looked for, so that a
// look-up soon after finds it in the cache. The loads of several keys overlap,
// where look-ups wait for each other's branches. What it returns means
// nothing, but must be used, or the loads are left out.
func (t *Table[K, V]) Touch(h uint64) byte {
	s := &t.dir[h>>(t.shift&63)-t.first]
	i := uintptr(h) & uintptr(s.mask)
	return *tagAt(s.base, uint32(i)) | *(*byte)(unsafe.Add(s.base, i*t.stride))
}
