package table

import "golang.org/x/sys/unix"

// populate faults pages in by one call; kernels before 5.14 do not know it.
func populate(b []byte) {
	if len(b) > 0 && unix.Madvise(b, unix.MADV_POPULATE_WRITE) != nil {
		touch(b)
	}
}

// adviseHuge is a hint: without huge pages everything works, slower.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
