package buffers

import (
	"fmt"
	"runtime"
	"testing"
)

// record is what the benchmarks move: 48 bytes.
type record [6]uint64

// lock keeps a benchmark's side on a thread of its own, and waits as a worker
// that may spin does.
func lock() (wait func(), unlock func()) {
	runtime.LockOSThread()
	rounds := 0
	return func() {
		if rounds++; rounds%64 == 0 {
			yieldThread()
		} else {
			pause(10)
		}
	}, runtime.UnlockOSThread
}

// BenchmarkItems moves single records between two threads; beside it a channel
// of the same capacity.
func BenchmarkItems(b *testing.B) {
	for _, capacity := range []int{64, 1024} {
		b.Run(fmt.Sprintf("ring/%d", capacity), func(b *testing.B) {
			r := NewRing[record](capacity, 0)
			sum := uint64(0)
			pair(func() {
				wait, unlock := lock()
				defer unlock()
				for i := range b.N {
					for !r.TryPush(record{uint64(i)}) {
						wait()
					}
				}
			}, func() {
				wait, unlock := lock()
				defer unlock()
				for range b.N {
					v, ok := r.TryPop()
					for ; !ok; v, ok = r.TryPop() {
						wait()
					}
					sum += v[0]
				}
			})
			verify(b, sum, uint64(b.N))
		})
		b.Run(fmt.Sprintf("chan/%d", capacity), func(b *testing.B) {
			c := make(chan record, capacity)
			sum := uint64(0)
			pair(func() {
				for i := range b.N {
					c <- record{uint64(i)}
				}
			}, func() {
				for range b.N {
					v := <-c
					sum += v[0]
				}
			})
			verify(b, sum, uint64(b.N))
		})
	}
}

const batchSize, depth = 256, 8

// BenchmarkBatches moves batches of 256 records through a link of depth 8; beside
// it two channels that do the same, and a loop that only fills and reads. One
// operation is one record.
func BenchmarkBatches(b *testing.B) {
	for _, way := range []struct {
		name string
		move func(rounds int) (sum uint64)
	}{
		{"link", moveByLink}, {"chan", moveByChannel}, {"alone", moveAlone},
	} {
		b.Run(way.name, func(b *testing.B) {
			rounds := (b.N + batchSize - 1) / batchSize
			verify(b, way.move(rounds), uint64(rounds*batchSize))
		})
	}
}

func moveByLink(rounds int) (sum uint64) {
	l := NewLink[[]record](depth, 0, batches()...)
	pair(func() {
		wait, unlock := lock()
		defer unlock()
		for n := range rounds {
			batch, ok := l.TakeBuffer()
			for ; !ok; batch, ok = l.TakeBuffer() {
				wait()
			}
			fill(batch, n)
			l.TryPush(batch)
		}
		l.PublishEnd()
	}, func() {
		wait, unlock := lock()
		defer unlock()
		for {
			s := l.Look(0)
			for batch, ok := l.TryPop(); ok; batch, ok = l.TryPop() {
				sum += total(batch)
				l.GiveBack(batch)
			}
			if s.Ended && l.ReadSeq() == s.EndSeq {
				return
			}
			wait()
		}
	})
	return sum
}

func moveByChannel(rounds int) (sum uint64) {
	data, free := make(chan []record, depth), make(chan []record, depth)
	for _, batch := range batches() {
		free <- batch
	}
	pair(func() {
		for n := range rounds {
			batch := <-free
			fill(batch, n)
			data <- batch
		}
		close(data)
	}, func() {
		for batch := range data {
			sum += total(batch)
			free <- batch
		}
	})
	return sum
}

func moveAlone(rounds int) (sum uint64) {
	all := batches()
	for n := range rounds {
		fill(all[n%depth], n)
		sum += total(all[n%depth])
	}
	return sum
}

func batches() (all [][]record) {
	for range depth {
		all = append(all, make([]record, batchSize))
	}
	return all
}

func fill(batch []record, n int) {
	for i := range batch {
		batch[i][0] = uint64(n*batchSize + i)
	}
}

func total(batch []record) (sum uint64) {
	for i := range batch {
		sum += batch[i][0]
	}
	return sum
}

// BenchmarkSameThread is what the code costs without a transfer between cores.
func BenchmarkSameThread(b *testing.B) {
	b.Run("ring push and pop", func(b *testing.B) {
		r := NewRing[*record](8, 0)
		v := new(record)
		for range b.N {
			r.TryPush(v)
			if got, ok := r.TryPop(); !ok || got != v {
				b.Fatal("lost")
			}
		}
	})
	l := NewLink[*record, *record](8, 0)
	b.Run("look at nothing", func(b *testing.B) {
		for range b.N {
			if s := l.Look(0); s.Ended {
				b.Fatal("ended")
			}
		}
	})
	for id := range uint64(4) {
		l.PublishMark(id+1, 0)
	}
	b.Run("look at four marks", func(b *testing.B) {
		for range b.N {
			if s := l.Look(0); len(s.Marks()) != 4 {
				b.Fatal("marks")
			}
		}
	})
	w := NewThreadWaiter()
	b.Run("wake nobody", func(b *testing.B) {
		for range b.N {
			w.Wake()
		}
	})
	b.Run("pause", func(b *testing.B) {
		for range b.N {
			pause(1)
		}
	})
}

// BenchmarkWake is one hop to a sleeper and back, half of it.
func BenchmarkWake(b *testing.B) {
	there, back := NewRing[int](1, 0), NewRing[int](1, 0)
	a, z := NewThreadWaiter(), NewThreadWaiter()
	next := func(w *Waiter, r *Ring[int]) {
		for {
			if _, ok := r.TryPop(); ok {
				return
			}
			w.Prepare()
			if _, ok := r.TryPop(); ok {
				w.Cancel()
				return
			}
			w.Park(1e9)
		}
	}
	pair(func() {
		runtime.LockOSThread()
		for i := range b.N {
			there.TryPush(i)
			z.Wake()
			next(a, back)
		}
	}, func() {
		runtime.LockOSThread()
		for i := range b.N {
			next(z, there)
			back.TryPush(i)
			a.Wake()
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/hop")
}

// verify checks the sum of 0..n-1.
func verify(b *testing.B, got, n uint64) {
	b.Helper()
	if want := n * (n - 1) / 2; got != want {
		b.Fatalf("sum %d, want %d", got, want)
	}
}
