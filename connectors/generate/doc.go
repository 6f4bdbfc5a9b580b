// Package generate has a source that computes its records from their numbers.
// Record i is a function of i alone, so the source can begin anywhere, gives
// the same records in every run, and splits over any number of tasks.
package generate
