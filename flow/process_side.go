package flow

import "time"

// keyedSide is one keyed input of a processor.
type keyedSide[K comparable, I, O any] struct {
	failures[I]
	keyed Keyed[K, I]
	call  func(ctx Ctx[K], in *I, out *Out[O]) error
	at    int // where to go on after ErrPending
	look  lookAhead[K]
}

func (s *keyedSide[K, I, O]) init(k Keyed[K, I], n *Node, inst *Instance, deadPort int, call func(Ctx[K], *I, *Out[O]) error) {
	s.keyed, s.call = k, call
	s.failures.init(n.policy, inst, deadPort)
}

// onBatch passes the records of b to the processor of k.
func (s *keyedSide[K, I, O]) onBatch(k *keyedCore[K, O], b Batch) error {
	in := b.(*BatchOf[I])
	if s.waits() {
		return ErrPending
	}
	k.states.turn(len(in.Recs))
	for s.at < len(in.Recs) {
		if err := s.some(k, in, min(ahead, len(in.Recs)-s.at)); err != nil {
			return k.out.flushThen(err)
		}
	}
	s.at = 0
	k.letGo()
	return k.out.flush()
}

// some passes the next n records on.
func (s *keyedSide[K, I, O]) some(k *keyedCore[K, O], in *BatchOf[I], n int) error {
	timed := in.timed()
	lookAt(&s.look, &s.keyed, in.Recs[s.at:s.at+n], in.Head.carried(s.at))
	for i := range n {
		rec, at := &in.Recs[s.at], in.time(s.at)
		k.take(s.look.keys[i], at).Hash = s.look.hashes[i]
		k.out.begin(at, timed)
		err := s.call(k.as, rec, &k.out)
		k.states.returned()
		if err != nil {
			k.out.takeBack()
			if err = s.handle(err, rec, nil, at, timed); err != nil {
				return err
			}
		} else {
			s.passed()
			k.out.end()
		}
		s.at++
	}
	return nil
}

// plainSide is an input without keys.
type plainSide[I, O any] struct {
	failures[I]
	ctx  *taskCtx
	call func(in *I, out *Out[O]) error
	at   int
}

func (s *plainSide[I, O]) init(ctx *taskCtx, n *Node, inst *Instance, deadPort int, call func(*I, *Out[O]) error) {
	s.ctx, s.call = ctx, call
	s.failures.init(n.policy, inst, deadPort)
}

// onBatch passes the records of b to the processor of k.
func (s *plainSide[I, O]) onBatch(k *processorCore[O], b Batch) error {
	in := b.(*BatchOf[I])
	if s.waits() {
		return ErrPending
	}
	k.states.turn(len(in.Recs))
	timed := in.timed()
	for ; s.at < len(in.Recs); s.at++ {
		rec, at := &in.Recs[s.at], in.time(s.at)
		s.ctx.at = at
		k.out.begin(at, timed)
		err := s.call(rec, &k.out)
		k.states.returned()
		if err != nil {
			k.out.takeBack()
			if err = s.handle(err, rec, nil, at, timed); err != nil {
				return k.out.flushThen(err)
			}
			continue
		}
		s.passed()
		k.out.end()
	}
	s.at = 0
	return k.out.flush()
}

// processKernel is Process.
type processKernel[K comparable, I, O any] struct {
	keyedCore[K, O]
	in keyedSide[K, I, O]
}

func (k *processKernel[K, I, O]) Connect(port int, to Receiver) {
	k.connect(port, to)
	k.in.connect(port, to)
}

func (k *processKernel[K, I, O]) OnBatch(_ int, b Batch) error { return k.in.onBatch(&k.keyedCore, b) }
func (k *processKernel[K, I, O]) Due() (time.Time, bool)       { return k.in.Due() }
func (k *processKernel[K, I, O]) Outstanding() bool            { return false }
func (k *processKernel[K, I, O]) Resume() (bool, error)        { return false, nil }

// connectKernel is Connect.
type connectKernel[K comparable, L, R, O any] struct {
	keyedCore[K, O]
	left  keyedSide[K, L, O]
	right keyedSide[K, R, O]
}

func (k *connectKernel[K, L, R, O]) Connect(port int, to Receiver) {
	k.connect(port, to)
	k.left.connect(port, to)
	k.right.connect(port, to)
}

func (k *connectKernel[K, L, R, O]) OnBatch(port int, b Batch) error {
	if port == 0 {
		return k.left.onBatch(&k.keyedCore, b)
	}
	return k.right.onBatch(&k.keyedCore, b)
}

func (k *connectKernel[K, L, R, O]) Due() (time.Time, bool) {
	return dueOf(k.left.Due, k.right.Due)
}
func (k *connectKernel[K, L, R, O]) Outstanding() bool     { return false }
func (k *connectKernel[K, L, R, O]) Resume() (bool, error) { return false, nil }

// dueOf asks the side that waits: only one can, since the engine takes no
// other batch meanwhile.
func dueOf(a, b func() (time.Time, bool)) (time.Time, bool) {
	if at, ok := a(); ok {
		return at, true
	}
	return b()
}
