//go:build amd64 || arm64

package buffers

// pause tells the processor n times, n > 0, that this is a loop that waits: 10
// to 40 ns each on amd64, during which the other thread of the core has it.
//
//go:noescape
func pause(n uint32)
