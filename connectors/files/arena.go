package files

import "unsafe"

const (
	arenaBlock = 4 << 10        // bytes of a block
	arenaLarge = arenaBlock / 4 // a string this long gets memory of its own
)

// arena copies short strings into blocks: one allocation for many. Strings are
// never written again, so they are as safe as any; one that is kept keeps its
// block. An arena is used by one goroutine.
type arena struct{ free []byte }

func (a *arena) copy(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) >= arenaLarge {
		return string(b)
	}
	if len(b) > len(a.free) {
		a.free = make([]byte, arenaBlock)
	}
	s := a.free[:len(b)]
	a.free = a.free[len(b):]
	copy(s, b)
	return unsafe.String(&s[0], len(s))
}
