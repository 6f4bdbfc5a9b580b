package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
)

// profiles are the files that profiles go to, by flag; empty ones are off.
type profiles struct{ cpu, mem, block, mutex, trace string }

func (p *profiles) flags(f *flag.FlagSet) {
	f.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to this `file`")
	f.StringVar(&p.mem, "memprofile", "", "write an allocation profile to this `file`")
	f.StringVar(&p.block, "blockprofile", "", "write a profile of blocked goroutines to this `file`")
	f.StringVar(&p.mutex, "mutexprofile", "", "write a profile of lock contention to this `file`")
	f.StringVar(&p.trace, "trace", "", "write an execution trace to this `file`")
}

// start starts what was asked for; stop ends it and writes the files.
func (p *profiles) start() (stop func() error, err error) {
	var stops []func() error
	running := func(name string, begin func(*os.File) error, end func()) error {
		if name == "" {
			return nil
		}
		f, err := os.Create(name)
		if err != nil {
			return fmt.Errorf("create profile: %w", err)
		}
		stops = append(stops, func() error { end(); return f.Close() })
		if err := begin(f); err != nil {
			return fmt.Errorf("start profile %s: %w", name, err)
		}
		return nil
	}
	err = errors.Join(
		running(p.cpu, func(f *os.File) error { return pprof.StartCPUProfile(f) }, pprof.StopCPUProfile),
		running(p.trace, func(f *os.File) error { return trace.Start(f) }, trace.Stop),
	)
	if p.block != "" {
		runtime.SetBlockProfileRate(1)
	}
	if p.mutex != "" {
		runtime.SetMutexProfileFraction(1)
	}
	return func() error {
		var all error
		for _, stop := range stops {
			all = errors.Join(all, stop())
		}
		return errors.Join(all, writeProfile("allocs", p.mem), writeProfile("block", p.block), writeProfile("mutex", p.mutex))
	}, err
}

// writeProfile writes a profile of the runtime to a file, if it has a name.
func writeProfile(profile, name string) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	if err := pprof.Lookup(profile).WriteTo(f, 0); err != nil {
		return fmt.Errorf("write %s profile %s: %w", profile, name, errors.Join(err, f.Close()))
	}
	return f.Close()
}
