package state

import "github.com/tailrace-io/tailrace/internal/table"

// sweptStore is a tableStore whose rows expire, as a whole or in part. What
// has expired is invisible at once; the sweep gives its memory back.
type sweptStore[K comparable, V any] struct {
	*tableStore[K, V]
	hash   func(*K) uint64
	stale  func(*V) bool         // whether something in a row has expired
	trim   func(*V) (empty bool) // removes it
	cursor table.Cursor
	doomed []K // rows found stale in this sweep
}

func newSweptStore[K comparable, V any](s *tableStore[K, V], stale, trim func(*V) bool) (*sweptStore[K, V], error) {
	hash, err := table.HasherOf[K]()
	return &sweptStore[K, V]{tableStore: s, hash: hash, stale: stale, trim: trim}, err
}

// Sweep looks at the next rows, about budget of them.
func (s *sweptStore[K, V]) Sweep(budget int) {
	if s.rows.Len() == 0 {
		return
	}
	more := s.rows.Scan(&s.cursor, budget, func(k K, v *V) bool {
		if s.stale(v) {
			s.doomed = append(s.doomed, k)
		}
		return true
	})
	if !more {
		s.cursor = table.Cursor{}
	}
	for i := range s.doomed {
		k := &s.doomed[i]
		h := s.hash(k)
		if s.trim(s.rows.Edit(h, *k)) {
			s.rows.Delete(h, *k)
		}
	}
	clear(s.doomed)
	s.doomed = s.doomed[:0]
}
