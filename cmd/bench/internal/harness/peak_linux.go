package harness

import (
	"os"
	"strconv"
	"strings"
)

// peakRSS is the most memory, in bytes, that this process has had resident; 0
// if it isn't known. It is not ru_maxrss, which a process inherits through
// exec from the one that started it: here, the benchmark with all its suites.
func peakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		value, ok := strings.CutPrefix(line, "VmHWM:")
		if !ok {
			continue
		}
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0
		}
		return kilobytes << 10
	}
	return 0
}
