package cores

import (
	"cmp"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// readMachine asks the system what there is.
func readMachine() host {
	return newHost(allowedCPUs(), os.DirFS("/"))
}

// newHost combines the cores that the process is allowed (nil if unknown) with
// what root, the file system from "/", says about quota and siblings.
func newHost(cpus []int, root fs.FS) host {
	h := host{cpus: spread(cpus, root), usable: len(cpus)}
	if cpus == nil {
		h.usable = runtime.NumCPU()
	}
	if quota, ok := cpuQuota(root); ok && quota < float64(h.usable) {
		h.usable, h.shared = max(1, int(quota)), true
	}
	return h
}

// spread orders cores such that the first n are on as many physical cores as
// there are: the second hardware threads come last.
func spread(cpus []int, root fs.FS) []int {
	turn := make(map[int]int, len(cpus)) // how many hardware threads of the same core come before
	first := make(map[string]int)
	for _, cpu := range cpus {
		siblings, err := fs.ReadFile(root, "sys/devices/system/cpu/cpu"+strconv.Itoa(cpu)+"/topology/thread_siblings_list")
		if err == nil {
			core := strings.TrimSpace(string(siblings))
			turn[cpu] = first[core]
			first[core]++
		}
	}
	ordered := slices.Clone(cpus)
	slices.SortStableFunc(ordered, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	return ordered
}

// cpuQuota returns the CPU quota of the process in cores: the least of its
// control group and those above it, of version 2 or 1; false if there is none.
func cpuQuota(root fs.FS) (quota float64, ok bool) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return 0, false
	}
	for _, m := range cgroupMounts(string(mounts)) {
		for _, dir := range m.dirs(string(groups)) {
			if q, found := m.read(root, dir); found && (!ok || q < quota) {
				quota, ok = q, true
			}
		}
	}
	return quota, ok
}

// cgroupMount is where a hierarchy that can have a CPU quota is mounted.
type cgroupMount struct {
	v2    bool
	root  string // the group that is mounted
	point string // where
}

// cgroupMounts finds them in the text of /proc/self/mountinfo (proc(5)):
// "id parent dev root point options [tags] - type source superoptions".
func cgroupMounts(mountinfo string) []cgroupMount {
	var found []cgroupMount
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		v2 := r[0] == "cgroup2"
		if v2 || r[0] == "cgroup" && slices.Contains(strings.Split(r[2], ","), "cpu") {
			found = append(found, cgroupMount{v2: v2, root: l[3], point: l[4]})
		}
	}
	return found
}

// dirs returns the directories of the process's group and of those above it,
// given the text of /proc/self/cgroup (cgroups(7)): "id:controllers:path", where
// version 2 has no controllers.
func (m cgroupMount) dirs(groups string) []string {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mine := parts[1] == ""
		if !m.v2 {
			mine = slices.Contains(strings.Split(parts[1], ","), "cpu")
		}
		if !mine {
			continue
		}
		path := strings.Trim(strings.TrimPrefix(parts[2], strings.TrimSuffix(m.root, "/")), "/")
		point := strings.Trim(m.point, "/")
		all := []string{point}
		for _, name := range strings.Split(path, "/") {
			if name != "" && name != ".." {
				all = append(all, all[len(all)-1]+"/"+name)
			}
		}
		return all
	}
	return nil
}

// read returns the quota of the group in dir, if it has one.
func (m cgroupMount) read(root fs.FS, dir string) (cores float64, ok bool) {
	if m.v2 {
		text, err := fs.ReadFile(root, dir+"/cpu.max") // "max 100000" or "150000 100000"
		if err != nil {
			return 0, false
		}
		quota, period, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		return ratio(quota, period)
	}
	quota, err1 := fs.ReadFile(root, dir+"/cpu.cfs_quota_us") // -1 for none
	period, err2 := fs.ReadFile(root, dir+"/cpu.cfs_period_us")
	if err1 != nil || err2 != nil {
		return 0, false
	}
	return ratio(strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
}

func ratio(quota, period string) (float64, bool) {
	q, err1 := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0, false
	}
	return q / p, true
}
