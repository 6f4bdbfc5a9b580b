// Package flow describes a dataflow job: what to compute, never how it runs.
//
// A job is a [Graph] of named operators. [Read] starts a typed [Stream],
// operators such as [MapInto], [FlatMap] and [KeyBy] transform it, and [Write]
// ends it. Nothing runs while the graph is built: package exec runs it, and
// package state holds what its operators remember.
//
// Records reach user functions by pointer and are read-only, since a batch may
// have several readers; results leave through [Out]. The name of an operator is
// its identity: unique in the graph, and stable from run to run.
package flow
