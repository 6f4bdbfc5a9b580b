//go:build race

package buffers

const underRace = true
