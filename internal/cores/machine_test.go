package cores

import (
	"fmt"
	"testing"
	"testing/fstest"
)

const (
	v2Mount = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
	v1Mount = "31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
)

func TestUsableCores(t *testing.T) {
	for _, c := range []struct {
		claim string
		cpus  []int
		files map[string]string
		want  string // usable, shared
	}{
		{"nothing known of groups: the mask", []int{0, 1, 2}, nil, "3 false"},
		{"no quota", []int{0, 1, 2, 3}, map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/job\n",
			"sys/fs/cgroup/job/cpu.max": "max 100000\n"}, "4 false"},
		{"a quota is rounded down", []int{0, 1, 2, 3}, map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/job\n",
			"sys/fs/cgroup/job/cpu.max": "250000 100000\n"}, "2 true"},
		{"a quota below one is one", []int{0, 1}, map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/cpu.max": "50000 100000\n"}, "1 true"},
		{"the least of all above counts", []int{0, 1, 2, 3}, map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/cpu.max": "300000 100000\n", "sys/fs/cgroup/a/cpu.max": "200000 100000\n"}, "2 true"},
		{"a quota as large as the mask shares nothing", []int{0, 1}, map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/cpu.max": "200000 100000\n"}, "2 false"},
		{"the group of the host, seen from inside its mount", []int{0, 1, 2, 3}, map[string]string{
			"proc/self/mountinfo": "30 24 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"proc/self/cgroup":    "0::/docker/x\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, "3 true"},
		{"version 1", []int{0, 1, 2, 3}, map[string]string{
			"proc/self/mountinfo": v1Mount, "proc/self/cgroup": "5:memory:/m\n4:cpu,cpuacct:/job\n",
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us":  "150000\n",
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "50000\n"}, "3 true"},
		{"version 1 without a quota", []int{0, 1}, map[string]string{
			"proc/self/mountinfo": v1Mount, "proc/self/cgroup": "4:cpu,cpuacct:/\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n"}, "2 false"},
		{"nonsense is no quota", []int{0, 1}, map[string]string{
			"proc/self/mountinfo": v2Mount + "short line\n", "proc/self/cgroup": "0::/\nnonsense\n",
			"sys/fs/cgroup/cpu.max": "soon never\n"}, "2 false"},
	} {
		t.Run(c.claim, func(t *testing.T) {
			root := make(fstest.MapFS)
			for name, text := range c.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			h := newHost(c.cpus, root)
			if got := fmt.Sprint(h.usable, h.shared); got != c.want {
				t.Errorf("usable, shared = %s, want %s", got, c.want)
			}
		})
	}
}

func TestPhysicalCoresComeBeforeTheirSecondThreads(t *testing.T) {
	root := make(fstest.MapFS)
	for cpu, siblings := range []string{"0-1", "0-1", "2-3", "2-3"} {
		name := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)
		root[name] = &fstest.MapFile{Data: []byte(siblings + "\n")}
	}
	if got := fmt.Sprint(newHost([]int{0, 1, 2, 3}, root).cpus); got != "[0 2 1 3]" {
		t.Errorf("order %s, want [0 2 1 3]", got)
	}
	if got := fmt.Sprint(newHost([]int{1, 2, 3}, root).cpus); got != "[1 2 3]" {
		t.Errorf("order of a part %s, want [1 2 3]", got)
	}
}

func TestWithoutAMaskTheRuntimeSaysHowManyCores(t *testing.T) {
	if h := newHost(nil, make(fstest.MapFS)); h.usable < 1 || h.cpus != nil || h.shared {
		t.Errorf("host %+v", h)
	}
}
