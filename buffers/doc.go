// Package buffers moves values between two workers, within a fixed budget,
// without locks. It knows neither records nor batches nor barriers.
//
// Ring is a queue with one producer and one consumer. Link is what connects
// two tasks: a Ring of elements, a Ring that carries used buffers back and is
// the credit of the producer, and words that travel beside the elements. Waiter
// is how a worker that found nothing to do waits.
//
// # Positions
//
// Every element of a ring has a position, a uint64 that never wraps to the
// capacity: the slot is derived (position & mask). A restored ring starts at
// any position and so continues that of the run before. Ring itself is correct
// across 2^64, since it only subtracts and compares for equality; Link compares
// positions by order and so needs them below 2^64-1. At one element a
// nanosecond that is 584 years.
//
// # Memory order
//
// All shared words are sync/atomic values, which in Go are sequentially
// consistent. Slots are plain memory: they are handed over by the word whose
// comment says that it publishes them. Two of the protocols here need more than
// release and acquire, and say so: the look (its order) and Waiter (store, then
// load).
package buffers
