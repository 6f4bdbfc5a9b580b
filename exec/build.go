package exec

import (
	"fmt"
	"math/bits"
	"strconv"

	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/internal/table"
)

// build makes the tasks of a plan, wired together.
func (j *Job) build(pools map[*flow.Node]*splitPool) error {
	tasks := map[*chain][]*task{}
	for _, c := range j.plan.chains {
		for i := range c.parallelism {
			t := &task{job: j, chain: c, index: i}
			tasks[c] = append(tasks[c], t)
			j.tasks = append(j.tasks, t)
		}
	}
	j.place()
	for _, t := range j.tasks {
		if err := t.makeOperators(); err != nil {
			return err
		}
	}
	lanes := map[*operator]map[*flow.Edge][]*lane{}
	for _, e := range j.plan.edges {
		for _, from := range tasks[e.from] {
			made := j.makeLanes(e, from, tasks[e.to])
			o := from.operatorOf(e.From)
			if lanes[o] == nil {
				lanes[o] = map[*flow.Edge][]*lane{}
			}
			lanes[o][e.Edge] = made
		}
	}
	for _, t := range j.tasks {
		for _, o := range t.ops {
			o.connect(lanes[o], j.plan)
		}
		t.cursor = len(t.ops)
		if err := j.addSource(t, pools); err != nil {
			return err
		}
	}
	j.addCallers()
	return nil
}

// place puts tasks on threads: subtask i of every chain on worker i mod W, and
// each task whose user code blocks on a thread of its own.
func (j *Job) place() {
	var workers []*thread
	for i := range min(j.opts.Workers, j.plan.widest()) {
		workers = append(workers, &thread{job: j, name: "worker " + strconv.Itoa(i), worker: true})
	}
	for _, t := range j.tasks {
		th := (*thread)(nil)
		switch {
		case t.chain.offWorker:
			th = &thread{job: j, name: t.chain.root().Name, labels: t.labels()}
			j.threads = append(j.threads, th)
		case j.env.PerTask:
			th = &thread{job: j, name: t.chain.root().Name + " " + strconv.Itoa(t.index)}
			j.threads = append(j.threads, th)
		default:
			th = workers[t.index%len(workers)]
		}
		th.steppers = append(th.steppers, t)
		th.alive++
		t.thread = th
	}
	for _, th := range workers {
		if th.alive > 0 {
			j.threads = append(j.threads, th)
		}
	}
}

func (p *plan) widest() int {
	most := 1
	for _, c := range p.chains {
		if !c.offWorker {
			most = max(most, c.parallelism)
		}
	}
	return most
}

// makeOperators makes the kernels of a task.
func (t *task) makeOperators() error {
	for _, n := range t.chain.nodes {
		inst := &flow.Instance{
			Task:      flow.TaskInfo{Operator: n.Name, Index: t.index, Parallelism: t.chain.parallelism},
			Groups:    groupsOf(n),
			BatchSize: t.job.opts.BatchSize,
			Now:       t.job.env.Clock.Now,
			Shared:    t.job.shared[n],
			Slabs:     t.job.pool,
			WakeTask:  t.thread.wake,
		}
		inst.Lo, inst.Hi = table.GroupsOf(t.index, inst.Groups, t.chain.parallelism)
		k, err := n.NewKernel(inst)
		if err != nil {
			return fmt.Errorf("make task %d of operator %q: %w", t.index, n.Name, err)
		}
		o := newOperator(t, n, inst, k)
		if len(t.ops) > 0 {
			o.parent = t.operatorOf(n.Ins[0].From)
		}
		t.ops = append(t.ops, o)
	}
	t.stats.ops = make([]opStats, len(t.ops))
	t.stats.wm.Store(int64(flow.MinTime))
	t.stats.last = t.job.env.Clock.Mono()
	return nil
}

func (t *task) operatorOf(n *flow.Node) *operator {
	for _, o := range t.ops {
		if o.node == n {
			return o
		}
	}
	return nil
}

// makeLanes makes the links from one producer to the consumers of an edge.
func (j *Job) makeLanes(e *planEdge, from *task, to []*task) []*lane {
	if e.part == flow.Forward {
		to = to[from.index : from.index+1]
	}
	capacity := j.linkCapacity(e)
	lanes := make([]*lane, 0, len(to))
	for _, consumer := range to {
		l := newLane(capacity, func() flow.Batch { return e.NewBatch(e.part, j.opts.BatchSize) })
		l.own, l.consumer, l.blocked, l.trace = from.thread, consumer.thread, &from.blocked, j.env.Trace
		lanes = append(lanes, l)
		from.lanes = append(from.lanes, l)
		consumer.feeds = append(consumer.feeds, l.link)
		consumer.inputs = append(consumer.inputs, &input{
			link: l.link, port: e.ToPort, producer: from.thread, own: consumer.thread, wm: flow.MinTime,
		})
	}
	return lanes
}

// linkCapacity divides the edge's budget of bytes over its links: a power of
// two, at least 2 and at most 8 batches, since more than that gains nothing.
func (j *Job) linkCapacity(e *planEdge) int {
	if j.env.RingCapacity > 0 {
		return j.env.RingCapacity
	}
	links := e.from.parallelism * e.to.parallelism
	if e.part == flow.Forward {
		links = e.from.parallelism
	}
	batch := flow.BatchSize(j.opts.BatchSize, e.RecordSize) * int(max(e.RecordSize, 1))
	depth := j.opts.InFlight / links / max(batch, 1)
	depth = min(max(depth, 2), 8)
	return 1 << (bits.Len(uint(depth)) - 1)
}

// pumpDepth is how many batches a reader may be ahead of its task: enough for
// the two to take turns on one core without a switch for each batch.
func (j *Job) pumpDepth() int {
	if j.env.RingCapacity > 0 {
		return j.env.RingCapacity
	}
	return 16
}

// connect wires o's output ports: to operators of the same task, and to the
// outlets of its edges.
func (o *operator) connect(lanes map[*flow.Edge][]*lane, p *plan) {
	ports := o.node.OutPorts
	if o.node.DeadPort >= 0 {
		ports++
	}
	fans := make([]*fan, ports)
	for i := range fans {
		fans[i] = &fan{from: o}
	}
	for _, e := range o.node.Outs {
		f := fans[e.FromPort]
		if child := o.task.operatorOf(e.To); child != nil && lanes[e] == nil {
			f.to = append(f.to, child)
			continue
		}
		made := lanes[e]
		sends := make([]flow.Lane, len(made))
		for i, l := range made {
			sends[i] = l
		}
		part := p.partition(e)
		out := e.NewOutlet(sends, owners(part, e, len(made)), part, o.inst)
		if part == flow.ByKey {
			out = newAhead(o, e.To, out)
		}
		f.to = append(f.to, out)
		o.outlets = append(o.outlets, out)
		o.lanes = append(o.lanes, made...)
	}
	for i, f := range fans {
		o.kernel.Connect(i, f)
	}
}

// owners maps key groups to consumers.
func owners(part flow.Partition, e *flow.Edge, consumers int) []uint16 {
	if part != flow.ByKey {
		return nil
	}
	groups := groupsOf(e.To)
	owner := make([]uint16, groups)
	for g := range owner {
		owner[g] = uint16(table.TaskOf(g, groups, consumers))
	}
	return owner
}

// addSource gives a task whose root reads its pump, or reads it inline.
func (j *Job) addSource(t *task, pools map[*flow.Node]*splitPool) error {
	n := t.root().node
	if n.Source == nil {
		return nil
	}
	s := &source{task: t, node: n, pool: pools[n]}
	for _, o := range t.ops {
		if o.watermarking != nil {
			s.marks = append(s.marks, o)
		}
	}
	t.source = s
	switch {
	case n.Source.Immediate && n.Source.Bounded:
		s.inline = &splitReader{ctx: j.ctx, spec: n.Source, pool: s.pool, drawn: &s.drawn}
		s.batch = n.Source.NewBatch(j.opts.BatchSize)
	case n.Source.Bounded:
		p := newPump(s, nil)
		j.threads = append(j.threads, p.thread)
	}
	return nil
}

// addCallers gives goroutines to kernels that have work for them.
func (j *Job) addCallers() {
	for _, t := range j.tasks {
		for _, o := range t.ops {
			k, ok := o.kernel.(flow.Calling)
			if !ok {
				continue
			}
			var threads []*thread
			for i, call := range k.Callers() {
				th := &thread{job: j, name: o.node.Name + " call " + strconv.Itoa(i), labels: t.labels(), alive: 1}
				th.steppers = []stepper{&caller{op: o, index: i, call: call}}
				threads = append(threads, th)
			}
			o.inst.WakeCaller = func(i int) { threads[i].wake() }
			t.callers = append(t.callers, threads...)
			j.threads = append(j.threads, threads...)
		}
	}
}

// labels are the pprof labels of a task.
func (t *task) labels() []string {
	return []string{"operator", t.chain.label(), "task", strconv.Itoa(t.index)}
}

// label names the chain after its operators.
func (c *chain) label() string {
	label := c.nodes[0].Name
	for _, n := range c.nodes[1:] {
		label += " > " + n.Name
	}
	return label
}
