package exec_test

import (
	"context"
	"runtime"

	"github.com/tailrace-io/tailrace/flow"
)

func goexit() { runtime.Goexit() }

type rec48 struct {
	Key     uint64
	A, B, C uint64
	D, E    uint64
}

type nullSink[T any] struct{}

func (nullSink[T]) Open(context.Context, flow.TaskInfo) (flow.Writer[T], error) {
	return nullSink[T]{}, nil
}
func (nullSink[T]) Write(context.Context, []T) error { return nil }
func (nullSink[T]) Flush(context.Context) error      { return nil }
func (nullSink[T]) Close() error                     { return nil }
func (nullSink[T]) Immediate() bool                  { return true }
