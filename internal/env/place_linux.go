package env

import "golang.org/x/sys/unix"

// maxCPU is the number of cores that an affinity mask can name.
const maxCPU = len(unix.CPUSet{}) * 64

// placement is where a locked thread is. The zero value: where it was born.
type placement struct {
	moved  bool        // asked for something already
	want   int         // the last thing asked for
	got    int         // the core it is pinned to, -1 for none
	before unix.CPUSet // what the thread was allowed when it was born
}

// cpu is the core that the thread is pinned to, -1 for none.
func (p *placement) cpu() int { return p.got }

// moveTo pins the calling thread to a core, or for -1 gives it back all it had,
// and reports whether that changed something. A core that the system refuses
// leaves the thread unpinned; it is not asked again until the wish changes.
func (p *placement) moveTo(cpu int) bool {
	if !p.moved {
		if unix.SchedGetaffinity(0, &p.before) != nil {
			return false
		}
		p.moved, p.want, p.got = true, -1, -1
	}
	if cpu == p.want {
		return false
	}
	p.want, p.got = cpu, -1
	var only unix.CPUSet
	if cpu >= 0 {
		only.Set(cpu)
		if p.before.IsSet(cpu) && unix.SchedSetaffinity(0, &only) == nil && onlyOn(cpu) {
			p.got = cpu
			return true
		}
	}
	_ = unix.SchedSetaffinity(0, &p.before) // fails only if all of them went away: then the kernel chooses
	return true
}

// onlyOn asks the system whether the calling thread is pinned to cpu.
func onlyOn(cpu int) bool {
	cpus := ThreadCPUs()
	return len(cpus) == 1 && cpus[0] == cpu
}

// ThreadCPUs returns the cores that the calling thread may run on, as the system
// has it, or nil where it does not say.
func ThreadCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cpus []int
	for cpu := range maxCPU {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
