package table

import "math/bits"

// MaxGroups is the largest number of key groups.
const MaxGroups = 1 << 15

// KeyGroup returns the key group of a hash: its top bits. groups is a power of
// two of at most MaxGroups.
func KeyGroup(hash uint64, groups int) int {
	return int(hash >> 1 >> (63 - groupBits(groups)))
}

// TaskOf returns which of parallelism tasks owns a key group:
// group*parallelism/groups, as in Flink. parallelism is at most groups.
func TaskOf(group, groups, parallelism int) int { return group * parallelism / groups }

// GroupsOf returns the key groups [lo, hi) that a task owns: those whose
// TaskOf it is.
func GroupsOf(task, groups, parallelism int) (lo, hi int) {
	return (task*groups + parallelism - 1) / parallelism, ((task+1)*groups + parallelism - 1) / parallelism
}

// groupBits is log2(groups).
func groupBits(groups int) uint { return uint(bits.TrailingZeros(uint(groups))) }
