package harness

import "runtime"

// GoPinned starts f on a thread of its own, pinned to the lane-th usable core
// (modulo their number) where the operating system can do that. The thread
// ends with f.
func GoPinned(lane int, f func()) {
	go func() {
		// Never unlocked: the thread keeps its affinity, so it must end.
		runtime.LockOSThread()
		pinThread(lane)
		f()
	}()
}

// GoFree starts f as an ordinary goroutine; lane means nothing to it. It has
// the form of GoPinned, so that a twin can take either.
func GoFree(_ int, f func()) { go f() }
