package cores

import (
	"os"

	"golang.org/x/sys/unix"
)

// allowedCPUs returns the affinity mask of the process, or nil if it cannot be
// had. It is that of the first thread, not of the one that calls.
func allowedCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(os.Getpid(), &set) != nil {
		return nil
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
