// Package exec runs a flow job: it plans the graph into tasks, steps them on
// pinned workers, and moves batches between them.
//
// [Run] blocks until the job has ended, [Start] returns a [Job] to watch and
// to end, and [RunMain] is a ready-made main function. Goroutines, clocks,
// files and logging of the engine live only here, behind one Env.
//
// Reading order: plan.go (graph to chains), build.go (chains to tasks),
// lane.go and input.go (the two ends of an edge), operator.go (one operator in
// a task), task.go (the step), end.go (how a task ends), source.go and pump.go
// (reading), thread.go (what a worker steps), job.go (the whole).
package exec
