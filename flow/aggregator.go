package flow

// KeyValue is one result of a keyed operator.
type KeyValue[K comparable, V any] struct {
	Key   K `json:"key"`
	Value V `json:"value"`
}

// Aggregator folds records of type T into an accumulator A, and an accumulator
// into a result R. Its fields are plain functions without side effects; they
// may be called by several tasks at once, each with accumulators of its own.
// Package agg has the usual ones.
type Aggregator[T, A, R any] struct {
	// New makes an empty accumulator; nil means that the zero A is one.
	New func() A
	// Add folds in into acc.
	Add func(acc *A, in *T)
	// Merge folds src into dst and leaves src as it was. With it, records are
	// aggregated before they are exchanged; without it (nil), each record
	// travels to the task that owns its key.
	Merge func(dst, src *A)
	// Result computes the result and leaves acc as it was.
	Result func(acc *A) R
	// Clone makes dst a deep copy of src. It is optional, for an A with
	// pointers: cheaper than its codec.
	Clone func(dst, src *A)
}
