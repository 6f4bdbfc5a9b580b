//go:build !linux

package harness

import (
	"runtime"
	"time"
)

// UsableCPUs is how many cores this process may use.
func UsableCPUs() int { return runtime.NumCPU() }

// CanPin says whether threads can be pinned to cores here.
const CanPin = false

func pinThread(int) {}

// Yield lets another goroutine run.
func Yield() { runtime.Gosched() }

// Nap sleeps for about d.
func Nap(d time.Duration) { time.Sleep(d) }
