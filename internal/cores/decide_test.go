package cores

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// show prints leases: by job, by worker, s if it may spin and the core.
func show(leases [][]terms) string {
	var jobs []string
	for _, all := range leases {
		var workers []string
		for _, t := range all {
			w := "-"
			if t.spin {
				w = "s"
			}
			if t.cpu >= 0 {
				w += strconv.Itoa(t.cpu)
			}
			workers = append(workers, w)
		}
		jobs = append(jobs, strings.Join(workers, " "))
	}
	return strings.Join(jobs, " | ")
}

func TestLeases(t *testing.T) {
	four := host{cpus: []int{0, 1, 2, 3}, usable: 4}
	two := host{cpus: []int{4, 9}, usable: 2}
	one := host{cpus: []int{3}, usable: 1}
	quota := host{cpus: []int{0, 1, 2, 3}, usable: 2, shared: true}
	unknown := host{usable: 4}
	job := func(workers int, pin Pin, homes ...int) demand {
		return demand{workers: workers, pin: pin, homes: homes}
	}
	for _, c := range []struct {
		claim   string
		machine host
		demands []demand
		want    string
	}{
		{"as many workers as cores: each has its own", two, []demand{job(2, Auto)}, "s4 s9"},
		{"fewer workers than cores: each has its own", four, []demand{job(3, Auto)}, "s0 s1 s2"},
		{"more workers than cores: none spins, none is pinned", two, []demand{job(3, Auto)}, "- - -"},
		{"two jobs never share a core", four, []demand{job(2, Auto), job(2, Auto)}, "s0 s1 | s2 s3"},
		{"two jobs that crowd each other both give in", two, []demand{job(2, Auto), job(1, Auto)}, "- - | -"},
		{"off is never pinned but may spin", four, []demand{job(2, Off)}, "s s"},
		{"off counts", two, []demand{job(2, Auto), job(1, Off)}, "- - | -"},
		{"on keeps its cores in a crowd, but does not spin", two, []demand{job(2, On), job(2, Auto)}, "-4 -9 | - -"},
		{"on never shares a core: what is left over is not pinned", two, []demand{job(3, On)}, "-4 -9 -"},
		{"two on jobs never share a core", two, []demand{job(1, On), job(2, On)}, "-4 | -9 -"},
		{"on comes before auto", four, []demand{job(2, Auto), job(2, On)}, "s2 s3 | s0 s1"},
		{"on does not move an auto that sits", four, []demand{job(2, Auto, 0, 1), job(2, On)}, "s0 s1 | s2 s3"},
		{"a worker comes back to its home", four, []demand{job(2, Auto, 3, 1)}, "s3 s1"},
		{"a new worker takes what is left", four, []demand{job(3, Auto, 1, -1, 0)}, "s1 s2 s0"},
		{"a home that on took meanwhile is replaced", four, []demand{job(1, Auto, 1), job(1, On, 1)}, "s0 | s1"},
		{"one core: nobody spins, for whom would it wait", one, []demand{job(1, Auto)}, "-3"},
		{"a quota: the cores are not ours, auto does not pin", quota, []demand{job(2, Auto)}, "s s"},
		{"a quota: on pins all the same", quota, []demand{job(2, On)}, "s0 s1"},
		{"a quota counts for crowding", quota, []demand{job(3, Auto)}, "- - -"},
		{"cores unknown: nobody is pinned", unknown, []demand{job(2, Auto), job(2, On)}, "s s | s s"},
		{"a job without workers takes nothing", two, []demand{job(0, On), job(2, Auto)}, " | s4 s9"},
		{"no job", two, nil, ""},
	} {
		t.Run(c.claim, func(t *testing.T) {
			if got := show(decide(c.machine, c.demands)); got != c.want {
				t.Errorf("leases %q, want %q", got, c.want)
			}
		})
	}
}

// TestAJobsComingAndGoing checks leases as they change while jobs come and go.
func TestAJobsComingAndGoing(t *testing.T) {
	b := &book{machine: host{cpus: []int{0, 1, 2}, usable: 3}}
	state := func(grants ...*Grant) string {
		var jobs []string
		for _, g := range grants {
			var workers []string
			for i := range g.leases {
				l := g.Worker(i)
				workers = append(workers, fmt.Sprintf("%v/%d", l.Spin(), l.CPU()))
			}
			jobs = append(jobs, strings.Join(workers, " "))
		}
		return strings.Join(jobs, " | ")
	}
	expect := func(step, want string, grants ...*Grant) {
		t.Helper()
		if got := state(grants...); got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	first := b.acquire(1, 2, Auto)
	second := b.acquire(2, 1, Auto)
	expect("room for all", "true/0 | true/1 true/2", first, second)
	crowd := b.acquire(1, 0, Auto)
	expect("crowded", "false/-1 | false/-1 false/-1 | false/-1", first, second, crowd)
	if got := b.procs(); got != 4+3 {
		t.Errorf("procs %d, want 7", got)
	}
	first.Release()
	expect("the second is where it was, the crowd has the rest", "true/1 true/2 | true/0", second, crowd)
	expect("released", "false/-1", first)
	first.Release()
	expect("released twice", "true/1 true/2 | true/0", second, crowd)
	pinned := b.acquire(1, 0, On)
	expect("on gets a core in a crowd", "false/-1 false/-1 | false/-1 | false/0", second, crowd, pinned)
	second.Release()
	expect("on stays, the crowd moves", "true/1 | true/0", crowd, pinned)
	crowd.Release()
	pinned.Release()
	if len(b.grants) != 0 || b.procs() != 1 {
		t.Errorf("%d grants and %d procs left", len(b.grants), b.procs())
	}
}

func TestNoCoreIsSharedAndNoneIsForeign(t *testing.T) {
	for code := range 4 * 4 * 3 * 3 * 3 { // every two jobs of 0-3 workers on 1-3 cores
		n := code
		digit := func(base int) int { d := n % base; n /= base; return d }
		demands := []demand{{workers: digit(4), pin: Pin(digit(3))}, {workers: digit(4), pin: Pin(digit(3))}}
		m := host{cpus: []int{5, 2, 7}[:digit(3)+1]}
		m.usable = len(m.cpus)
		used := make(map[int]bool)
		for i, all := range decide(m, demands) {
			for _, w := range all {
				if w.cpu < 0 {
					continue
				}
				if used[w.cpu] || w.cpu != 5 && w.cpu != 2 && w.cpu != 7 || demands[i].pin == Off {
					t.Fatalf("%v on %v: %v", demands, m, decide(m, demands))
				}
				used[w.cpu] = true
			}
		}
	}
}

func TestThePublicDoor(t *testing.T) {
	if Usable() < 1 {
		t.Fatalf("usable %d", Usable())
	}
	before := Procs()
	g := Acquire(1, 0, On)
	defer g.Release()
	if got := Procs(); got < before {
		t.Errorf("procs fell from %d to %d", before, got)
	}
	cpus := machine().cpus
	if cpu := g.Worker(0).CPU(); cpus != nil && cpu != cpus[0] || cpus == nil && cpu != -1 {
		t.Errorf("pinned to %d of %v", cpu, cpus)
	}
	if spin := g.Worker(0).Spin(); spin != (Usable() > 1) {
		t.Errorf("spin %v on %d cores", spin, Usable())
	}
}
