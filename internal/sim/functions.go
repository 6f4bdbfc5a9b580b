package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailrace-io/tailrace/flow"
)

// What the user functions of a generated job compute. They are pure, and both
// the job and the oracle call them: the oracle is independent of the engine,
// not of the user.

// change is what every map does.
func (o *op) change(in *Rec) Rec {
	out := *in
	out.Val = int64(mix(uint64(in.Val), o.salt))
	out.Path = mix(in.Path, o.salt)
	if o.keys > 0 {
		out.Key = (in.Key*5 + int32(o.salt%97)) % int32(o.keys)
	}
	if o.salt%3 == 0 {
		out.Tag = in.Tag + strconv.Itoa(o.id)
	}
	return out
}

// keeps is what a filter wants.
func (o *op) keeps(in *Rec) bool { return mix(in.identity(), o.salt)%4 != 0 }

// results are those of a flat map: usually few, sometimes many.
func (o *op) results(in *Rec) int {
	switch h := mix(in.identity(), o.salt^1) % 64; {
	case h == 0:
		return 20
	case h < 20:
		return 0
	default:
		return int(h % 3)
	}
}

// result is number i of those.
func (o *op) result(in *Rec, i int) Rec {
	out := o.change(in)
	out.Path = mix(out.Path, uint64(i))
	if o.setTime {
		out.At += int64(o.salt % 5000)
	}
	return out
}

// goes is the output of a route: -1 drops.
func (o *op) goes(in *Rec) int { return int(mix(in.identity(), o.salt)%uint64(o.outs+1)) - 1 }

// refuses says how often a record fails before it passes: 0 never, -1 always.
func (o *op) refuses(in *Rec) int {
	if o.fails.one == 0 || mix(in.identity(), o.salt^2)%o.fails.one != 0 {
		return 0
	}
	h := mix(in.identity(), o.salt^3)
	if o.fails.retries == 0 || h%3 == 0 {
		return -1
	}
	return 1 + int(h/3%uint64(o.fails.retries))
}

// unreadable says whether a source delivers the record as a bad one.
func (o *op) unreadable(r *Rec) bool {
	return o.source.bad > 0 && mix(r.identity(), o.salt^4)%o.source.bad == 0
}

// raw is what is left of a record that can't be read.
func raw(r *Rec) []byte { return fmt.Appendf(nil, "%d/%d/%d", r.Src, r.Split, r.Seq) }

// letter makes a record of a dead letter.
func (o *op) letter(l *flow.Failed[Rec]) Rec {
	out := l.Record
	if l.Raw != nil {
		parts := strings.Split(string(l.Raw), "/")
		for i, field := range []*int32{&out.Src, &out.Split, &out.Seq} {
			if i < len(parts) {
				n, _ := strconv.Atoi(parts[i]) // a wrong one is a wrong record
				*field = int32(n)
			}
		}
		out.Path = mix(out.Path, 0xbad)
	}
	for i := range len(l.Operator) {
		out.Path = mix(out.Path, uint64(l.Operator[i]))
	}
	return out
}

// sum is the accumulator of a total.
type sum struct {
	N, Val int64
	Mixed  uint64
}

func (s *sum) add(in *Rec) {
	s.N++
	s.Val += in.Val
	s.Mixed += mix(in.identity(), uint64(in.Val))
}

// total is the result of a total as a record.
func (o *op) total(key int32, s sum) Rec {
	return Rec{Src: int32(1000 + o.id), Key: key, Orig: key, At: int64(flow.MaxTime), Val: int64(mix(uint64(s.N), uint64(s.Val))), Path: mix(mix(s.Mixed, uint64(key)), o.salt)}
}

// fold is one step of a reduce: the newest record, and a hash over all.
func fold(acc, in *Rec) {
	val := int64(mix(uint64(acc.Val), uint64(in.Val)))
	*acc = *in
	acc.Val = val
}

// pair is a result of a lookup join; b is nil without a partner.
func (o *op) pair(in, b *Rec) Rec {
	out := *in
	if b == nil {
		out.Path = mix(in.Path, o.salt)
		return out
	}
	out.Path = mix(in.Path, mix(b.identity(), o.salt))
	out.Val = int64(mix(uint64(in.Val), uint64(b.Val)))
	return out
}
