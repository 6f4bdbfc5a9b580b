//go:build !linux

package cores

// allowedCPUs returns nil: only Linux lets threads be pinned.
func allowedCPUs() []int { return nil }
