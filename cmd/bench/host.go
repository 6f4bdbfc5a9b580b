package main

import (
	"os"
	"runtime"
	"strings"

	"github.com/tailrace-io/tailrace/cmd/bench/internal/harness"
	"github.com/tailrace-io/tailrace/cmd/bench/internal/report"
)

func host() report.Host {
	return report.Host{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(), CPU: cpuName(),
		Cores: harness.UsableCPUs(), WorkNs: harness.WorkTime(),
	}
}

// cpuName is the model of the processor where the system tells it in a file.
func cpuName() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(info)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimLeft(strings.TrimSpace(name), ":\t ")
		}
	}
	return "unknown processor"
}
