//go:build !linux

package buffers

import (
	"sync/atomic"
	"time"
)

// Elsewhere than on Linux a thread that waits parks as a goroutine.
const (
	canYield     = false
	threadSleeps = false
)

func yieldThread() { pause(10) }

func sleepThread(*atomic.Uint32, time.Duration) { panic("buffers: no sleeping thread here") }
func wakeThread(*atomic.Uint32)                 { panic("buffers: no sleeping thread here") }
