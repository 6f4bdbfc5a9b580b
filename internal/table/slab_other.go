//go:build !linux && !darwin

package table

import "unsafe"

// Elsewhere slabs lie on the Go heap: noscan, so the collector never reads them.
const canMap = false

func mapMemory(int, bool) (unsafe.Pointer, error) { panic("table: no mmap on this system") }

func unmapMemory(unsafe.Pointer, int) {}

func populate([]byte) {}
