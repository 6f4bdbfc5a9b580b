package harness

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// usable are the cores that this process may use.
var usable = sync.OnceValue(func() []int {
	var set unix.CPUSet
	var cores []int
	if err := unix.SchedGetaffinity(0, &set); err == nil {
		for cpu := range 1024 {
			if set.IsSet(cpu) {
				cores = append(cores, cpu)
			}
		}
	}
	if len(cores) == 0 {
		for cpu := range runtime.NumCPU() {
			cores = append(cores, cpu)
		}
	}
	return cores
})

// UsableCPUs is how many cores this process may use.
func UsableCPUs() int { return len(usable()) }

// CanPin says whether threads can be pinned to cores here.
const CanPin = true

// pinThread pins the calling thread. A refusal leaves the thread where it may
// go: a benchmark in a restricted container is then merely noisier.
func pinThread(lane int) {
	cores := usable()
	var set unix.CPUSet
	set.Set(cores[lane%len(cores)])
	_ = unix.SchedSetaffinity(0, &set)
}

// Yield lets another thread have the core; a locked goroutine waits with it,
// since runtime.Gosched costs it two thread switches.
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// Nap blocks the calling thread for about d, without the one-millisecond steps
// of time.Sleep in an idle process.
func Nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // cut short by a signal, the caller looks at the clock and comes again
}
