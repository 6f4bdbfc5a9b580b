//go:build unix && !linux

package harness

import (
	"runtime"
	"syscall"
)

// peakRSS is the most memory, in bytes, that this process has had resident; 0
// if it isn't known.
func peakRSS() int64 {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(ru.Maxrss) // bytes there, kilobytes elsewhere
	}
	return int64(ru.Maxrss) << 10
}
