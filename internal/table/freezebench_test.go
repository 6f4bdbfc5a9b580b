package table

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// pooledSink drops chunks and gives their buffers back.
type pooledSink struct {
	spare [][]byte
	bytes int64
}

func (s *pooledSink) Buffer() []byte {
	if n := len(s.spare); n > 0 {
		b := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return b
	}
	return make([]byte, 0, ChunkSize+4096)
}

func (s *pooledSink) Emit(c Chunk) {
	s.bytes += int64(len(c.Data))
	s.spare = append(s.spare, c.Data[:0])
}

func BenchmarkEncode(b *testing.B) {
	const n = 1_000_000
	for name, dirty := range map[string]int{"delta of 1%": n / 100, "delta of 10%": n / 10, "full": n} {
		b.Run(name, func(b *testing.B) {
			t := filled(Config[uint64, uint64]{Groups: 128}, n)
			defer t.Close()
			sink := &pooledSink{}
			r := rand.New(rand.NewPCG(1, 2))
			for id := range uint64(b.N) {
				b.StopTimer()
				mode := Delta
				if dirty == n {
					mode = Full
				} else {
					for range dirty {
						k := r.Uint64N(n)
						t.Set(HashUint64(k), k, k)
					}
				}
				if id == 0 { // all rows are new
					snapshot(b, t, 1, Full)
					t.Commit(1)
				}
				b.StartTimer()
				if err := t.Freeze(id+2, mode, sink); err != nil {
					b.Fatal(err)
				}
				for done := false; !done; {
					var err error
					if done, err = t.Slice(2048); err != nil {
						b.Fatal(err)
					}
				}
				t.Commit(id + 2)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(dirty), "ns/row")
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	const n = 1_000_000
	t := filled(Config[uint64, uint64]{Groups: 128}, n)
	defer t.Close()
	chunks := snapshot(b, t, 1, Full)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, reserve := range []bool{false, true} {
		b.Run(fmt.Sprintf("reserved=%t", reserve), func(b *testing.B) {
			best := time.Hour
			for b.Loop() {
				restored := New(Config[uint64, uint64]{Groups: 128})
				start := threadTime()
				if reserve {
					restored.Reserve(n)
				}
				load(b, restored, chunks)
				best = min(best, threadTime()-start)
				restored.Close()
			}
			b.ReportMetric(float64(best)/n, "ns/row-best")
		})
	}
}

func BenchmarkTimers(b *testing.B) {
	const n = 1_000_000
	for name, at := range map[string]func(r *rand.Rand) int64{
		"random µs in 1 h": func(r *rand.Rand) int64 { return r.Int64N(3600e6) },
		"60 minutes":       func(r *rand.Rand) int64 { return r.Int64N(60) * 60e6 },
	} {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			times := make([]int64, n)
			for i := range times {
				times[i] = at(r)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			set, fire, longest := time.Hour, time.Hour, time.Hour
			for b.Loop() {
				t := NewTimers[uint64]()
				start := threadTime()
				for i, at := range times {
					t.Set(at, HashUint64(uint64(i)), uint64(i), 0)
				}
				full := threadTime()
				set = min(set, full-start)
				fired, slowest := 0, time.Duration(0)
				for more := true; more; {
					before := threadTime()
					more, _ = t.Fire(3600e6, 256, func(int64, uint64, uint64, uint32) error {
						fired++
						return nil
					})
					slowest = max(slowest, threadTime()-before)
				}
				fire, longest = min(fire, threadTime()-full), min(longest, slowest)
				if fired != n {
					b.Fatalf("%d of %d timers fired", fired, n)
				}
			}
			b.ReportMetric(float64(set)/n, "ns/set-best")
			b.ReportMetric(float64(fire)/n, "ns/fire-best")
			b.ReportMetric(float64(longest.Microseconds()), "µs/longest-fire-best")
		})
	}
}
