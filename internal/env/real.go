package env

import (
	crand "crypto/rand"
	"math/rand/v2"
	"time"
)

// Real returns an Env of the operating system: its clock, its files, randomness
// from its source, and one goroutine for every Stepper.
//
// Rand gives a new stream, seeded by the operating system, at each call: two
// that asked for the same name never draw the same numbers. A stream is for one
// goroutine.
func Real() *Env {
	return &Env{
		Clock:  realClock{},
		FS:     OS{},
		Runner: realRunner{},
		Rand:   realRand,
	}
}

type realClock struct{}

// started is the zero of Mono, the same for every Env of the process.
var started = time.Now()

func (realClock) Now() time.Time { return time.Now() }

// Mono counts from one: zero means "never" to a Stepper.
func (realClock) Mono() int64 { return int64(time.Since(started)) + 1 }

func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func realRand(string) *rand.Rand {
	var seed [32]byte
	crand.Read(seed[:]) // never fails: it ends the program if there is no randomness
	return rand.New(rand.NewChaCha8(seed))
}
