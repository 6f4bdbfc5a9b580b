package buffers

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWait = 0 | futexPrivate
	futexWake = 1 | futexPrivate
	// futexPrivate: the word is not shared with other processes.
	futexPrivate = 128
)

// canYield says that yieldThread is a real one.
const canYield = true

// yieldThread lets another thread of this core run. It keeps the P (a raw call):
// that takes 0.2 us, where runtime.Gosched on a locked thread takes 3.3 us.
func yieldThread() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// sleepThread sleeps while *word is 1, at most d, or shorter. It gives the P
// away (not a raw call): else a collection could not start until it returns.
// And it always has an end, since nothing else bounds what a lost wake-up costs.
func sleepThread(word *atomic.Uint32, d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	// The result is of no use: woken, timed out, interrupted and not slept at all
	// are told apart by the word.
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, 1,
		uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// wakeThread wakes who sleeps on word, which is 0 already.
func wakeThread(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}

// threadSleeps says that sleepThread and wakeThread exist.
const threadSleeps = true
