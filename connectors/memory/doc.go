// Package memory has sources and sinks that live in the program itself: records
// from slices, sequences and channels, and a sink that collects what it is
// given. They serve tests, examples, and programs that feed a job themselves.
package memory
