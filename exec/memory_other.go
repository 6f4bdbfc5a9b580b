//go:build !linux

package exec

// machineMemory is the memory of the machine in bytes, 0 if unknown.
func machineMemory() int64 { return 0 }
