package exec_test

import "runtime"

func goexit() { runtime.Goexit() }
