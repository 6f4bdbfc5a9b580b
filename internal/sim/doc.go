// Package sim runs the engine on one goroutine, from a seed: clock, files,
// randomness and the order of steps are its own, so that the same seed gives
// the same run, down to the last step.
//
// It has three parts. A [World] is an environment for any job: world.go,
// scheduler.go, policy.go, clock.go, memfs.go, trace.go. A [Shape] is a random
// job and its input, described as data: shape.go, generate.go. [Run] runs a
// shape in a world (build.go, functions.go, source.go, sink.go) and compares
// what came out with what a sequential interpreter says (oracle.go, check.go).
package sim
