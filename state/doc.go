// Package state is what processors remember: a value, a list, a map or an
// aggregate for each key, lists of a whole task, and broadcast state.
//
// State is declared in the factory of a processor, which gets a handle:
//
//	type counter struct{ seen state.Value[int64] }
//
//	func newCounter(s flow.Scope[string]) *counter {
//		return &counter{state.ValueOf[int64](s, "seen")}
//	}
//
// The handle of keyed state means the key in hand: that of the record or timer
// that the processor was called with. Without a key in hand (in Open, in
// OnEndOfData, on a broadcast side) its methods panic. A name is unique in its
// operator and stable: it is the state's identity in a checkpoint.
//
// What Peek and All give is read-only, also behind pointers; what Edit gives
// may be changed in place. Both are valid until the next call on that handle,
// or the end of the user call. Types without pointers lie in the table itself;
// others are kept on the Go heap and need a codec, which most types have (see
// flow.CodecOf). A handle belongs to the one task whose factory got it.
package state
