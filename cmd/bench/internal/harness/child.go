package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// ChildResult is what a run in a process of its own reports. Memory can only be
// measured there: a process never gives its peak back.
type ChildResult struct {
	Sample
	PeakRSS int64 // bytes; 0 if the system does not tell
}

// InChild runs this executable again with args, which must make it run one
// program and call WriteChild, and returns what that wrote.
func InChild(ctx context.Context, args ...string) (ChildResult, error) {
	var r ChildResult
	self, err := os.Executable()
	if err != nil {
		return r, fmt.Errorf("start child %v: %w", args, err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("child %v: %w", args, errors.Join(err, errors.New(complaint.String())))
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return r, fmt.Errorf("child %v: read its result: %w", args, err)
	}
	return r, nil
}

// WriteChild runs p once and writes a ChildResult to w, the child's standard output.
func WriteChild(ctx context.Context, w io.Writer, p Program, load Load) error {
	s, err := Measure(ctx, p, load)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(ChildResult{Sample: s, PeakRSS: peakRSS()})
}
