//go:build !linux

package table

import "time"

var started = time.Now()

// threadTime is the wall clock: there is no portable clock of a thread.
func threadTime() time.Duration { return time.Since(started) }
