package table

// Reserve makes room for about so many rows, evenly spread over the key groups,
// in a table that has none: loading them then moves nothing. It is a hint, and
// no more than a hint if the table has rows or a view. Over the limit of memory
// it panics, as an insert does.
func (c *core) Reserve(rows int) {
	if c.live > 0 || c.view.active || c.nsegs > 1 {
		return
	}
	each := rows / (c.hi - c.lo) // of a key group
	if each == 0 {
		return
	}
	const most = (1 << mostLog) * 3 / 4
	deeper := uint8(0) // than a key group
	for limit := most >> (mostLog - c.maxLog); each>>deeper > limit && 64-c.shift < 40; deeper++ {
		if uint8(64-c.shift) <= uint8(groupBits(c.groups))+deeper {
			c.doubleDir()
		}
	}
	log := max(minLog, c.unitLog)
	for log < c.maxLog && each>>deeper > 1<<log*3/4 {
		log++
	}
	depth := uint8(groupBits(c.groups)) + deeper
	for prefix, end := c.span(); ; {
		id := c.newSegment()
		s := c.seg(id)
		s.depth, s.prefix = depth, prefix
		c.give(s, log, c.heap.alloc(log-c.unitLog))
		c.point(id)
		if _, prefix = c.nextSegment(prefix); prefix == end {
			return
		}
	}
}
