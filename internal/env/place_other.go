//go:build !linux

package env

// placement: only Linux lets a thread be pinned to a core.
type placement struct{}

func (*placement) moveTo(int) bool { return false }
func (*placement) cpu() int        { return -1 }

// ThreadCPUs returns the cores that the calling thread may run on, as the system
// has it, or nil where it does not say.
func ThreadCPUs() []int { return nil }
