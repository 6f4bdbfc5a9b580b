package cores

// demand is what a grant asks for, and the cores its workers had before.
type demand struct {
	workers, offWorker int
	pin                Pin
	homes              []int // by worker, -1 for none; may be short
}

// terms is what a worker gets.
type terms struct {
	spin bool
	cpu  int // to be pinned to, -1 for none
	home int // the core to come back to when pinning is possible again, -1 for none
}

// decide shares the machine among the demands, in their order. It is pure:
//
//   - Crowded, which is more workers than usable cores, nobody spins, and only On
//     is pinned. On a single core nobody spins either: whoever is waited for
//     could not run.
//   - No core is given to two workers, and none outside the machine.
//   - Whoever had a core keeps it if it can, so that the coming and going of one
//     job does not move the workers of others; then On chooses before Auto.
func decide(m host, demands []demand) [][]terms {
	workers := 0
	for _, d := range demands {
		workers += d.workers
	}
	crowded := workers > m.usable
	spin := !crowded && m.usable > 1

	answer := make([][]terms, len(demands))
	for i, d := range demands {
		for range d.workers {
			answer[i] = append(answer[i], terms{spin: spin, cpu: -1, home: -1})
		}
	}
	s := sharing{demands, answer, make(map[int]bool)}
	pinned := []Pin{On, Auto}
	if crowded || m.shared {
		pinned = pinned[:1]
		s.remember(Auto)
	}
	for _, pin := range pinned {
		s.keep(pin)
	}
	for _, pin := range pinned {
		s.fill(pin, m.cpus)
	}
	return answer
}

// sharing is a decision in the making.
type sharing struct {
	demands []demand
	answer  [][]terms
	taken   map[int]bool // cores given away
}

// remember leaves a pin's workers unpinned, and the homes for later.
func (s *sharing) remember(pin Pin) {
	s.each(pin, func(t *terms, home int) { t.home = home })
}

// keep gives a pin's workers the cores that they had.
func (s *sharing) keep(pin Pin) {
	s.each(pin, func(t *terms, home int) {
		if home >= 0 && !s.taken[home] {
			s.give(t, home)
		}
	})
}

// fill gives a pin's workers that have no core the first ones that are left.
func (s *sharing) fill(pin Pin, cpus []int) {
	s.each(pin, func(t *terms, _ int) {
		for len(cpus) > 0 && s.taken[cpus[0]] {
			cpus = cpus[1:]
		}
		if t.cpu < 0 && len(cpus) > 0 {
			s.give(t, cpus[0])
		}
	})
}

func (s *sharing) give(t *terms, cpu int) {
	t.cpu, t.home = cpu, cpu
	s.taken[cpu] = true
}

// each visits the workers of the demands that pin in this way.
func (s *sharing) each(pin Pin, visit func(t *terms, home int)) {
	for i, d := range s.demands {
		for w := range s.answer[i] {
			if d.pin != pin {
				continue
			}
			home := -1
			if w < len(d.homes) {
				home = d.homes[w]
			}
			visit(&s.answer[i][w], home)
		}
	}
}
