//go:build !amd64 && !arm64

package buffers

import "sync/atomic"

var pauses atomic.Uint32 // loaded only so that the loop is not removed

// pause passes the time of n short loops.
func pause(n uint32) {
	for range n * 8 {
		pauses.Load()
	}
}
