package exec

import (
	"fmt"
	"math"
	"runtime/debug"
)

// StateTooLargeError says that the state of a job went over Options.MaxState.
type StateTooLargeError struct {
	Bytes, Limit int64 // of the job
	OfTask       int64 // of the task that noticed
}

func (e *StateTooLargeError) Error() string {
	return fmt.Sprintf("the job's state takes %d MiB (%d MiB of it here), over the limit of %d MiB; state must fit in memory: raise exec.Options.MaxState, or keep less",
		e.Bytes>>20, e.OfTask>>20, e.Limit>>20)
}

// defaultMaxState is half of the memory there is: the Go memory limit when one
// is set, else the machine's.
func defaultMaxState() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit / 2
	}
	if total := machineMemory(); total > 0 {
		return total / 2
	}
	return 8 << 30
}
