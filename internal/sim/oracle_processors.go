package sim

// evalBuckets is the oracle of buckets.
func (o *op) evalBuckets(in list) []list {
	type bucket struct {
		key  int32
		last int64
	}
	sums := map[bucket]*sum{}
	var all []bucket
	dead := in
	dead.recs = nil
	for i := range in.recs {
		r := &in.recs[i]
		if o.refuses(r) < 0 {
			dead.recs = append(dead.recs, *r)
			continue
		}
		b := bucket{r.Key, o.last(r)}
		if sums[b] == nil {
			sums[b] = &sum{}
			all = append(all, b)
		}
		sums[b].add(r)
	}
	out := list{timed: true}
	for _, b := range all {
		out.recs = append(out.recs, o.bucket(b.key, b.last, *sums[b]))
	}
	return []list{out, dead}
}

// evalPairs is the oracle of pairs.
func (o *op) evalPairs(left, right list) list {
	rows := map[int32][]Rec{}
	for _, r := range right.recs {
		rows[r.Key] = append(rows[r.Key], r)
	}
	var out list
	for i := range left.recs {
		l := &left.recs[i]
		for j := range rows[l.Key] {
			out.recs = append(out.recs, o.pair(l, &rows[l.Key][j]))
		}
	}
	return out
}

// evalRules is the oracle of rules.
func (o *op) evalRules(in, build list, par int) []list {
	var out list
	dead := in
	dead.recs = nil
	seen := map[int32]bool{}
	for i := range in.recs {
		r := &in.recs[i]
		if o.refuses(r) < 0 {
			dead.recs = append(dead.recs, *r)
			continue
		}
		if !seen[r.Key] {
			seen[r.Key] = true
			out.recs = append(out.recs, o.first(r.Key))
		}
		out.recs = append(out.recs, o.change(r))
	}
	for i := range build.recs {
		for range par {
			out.recs = append(out.recs, o.change(&build.recs[i]))
		}
	}
	return []list{out, dead}
}
