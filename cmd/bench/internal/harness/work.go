package harness

// workSteps makes Work take about 20 ns on a core of 3 GHz; the suites print
// what it takes where they run.
const workSteps = 16

// Work is about 20 ns of arithmetic in which every step waits for the last. It
// is never inlined, so that it costs the same wherever it is called from.
//
//go:noinline
func Work(x uint64) uint64 {
	for range workSteps {
		x = x*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	}
	return x
}

// WorkTime measures one call of Work in nanoseconds.
func WorkTime() float64 {
	const calls = 100_000
	best := int64(1) << 62
	x := uint64(1)
	for range 9 {
		start := Now()
		for range calls {
			x = Work(x)
		}
		best = min(best, Now()-start)
	}
	if x == 0 { // keeps the calls
		best++
	}
	return float64(best) / calls
}

// Mix is a hash of one word (the finalizer of SplitMix64 by Steele, Lea and
// Flood, 2014).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
