//go:build !race && invariants

package buffers

const underRace = false
