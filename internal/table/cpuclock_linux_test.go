package table

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the CPU time of the thread: what others do on a shared machine
// does not count, page faults do.
func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
