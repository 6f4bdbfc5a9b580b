//go:build linux || darwin

package table

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	canMap   = true
	hugePage = 2 << 20
)

// mapMemory maps zeroed memory; with huge, aligned to huge pages.
func mapMemory(size int, huge bool) (unsafe.Pointer, error) {
	ask := uintptr(size)
	if huge {
		ask += hugePage
	}
	base, err := unix.MmapPtr(-1, 0, nil, ask, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil || !huge {
		return base, err
	}
	before := -uintptr(base) & (hugePage - 1)
	aligned := unsafe.Add(base, before)
	if before > 0 {
		unmapMemory(base, int(before))
	}
	if after := hugePage - before; after > 0 {
		unmapMemory(unsafe.Add(aligned, size), int(after))
	}
	adviseHuge(unsafe.Slice((*byte)(aligned), size))
	return aligned, nil
}

// unmapMemory gives pages back. They were mapped by mapMemory, so it cannot
// fail short of a bug in the addresses.
func unmapMemory(base unsafe.Pointer, size int) {
	if err := unix.MunmapPtr(base, uintptr(size)); err != nil {
		panic("table: munmap: " + err.Error())
	}
}

// touch writes to every page: the portable way to populate.
func touch(b []byte) {
	for i := 0; i < len(b); i += syscall.Getpagesize() {
		b[i] = 0
	}
}
