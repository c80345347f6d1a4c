package catalog

// keyFunc is what draws with a number are listed under.
type keyFunc func(number uint64) uint64

// postings lists draws by group, ascending in each. A group is key·tods + index of the section, so that the
// draws of one key are in one place, apart by tod. The list holds positions (4 bytes a draw, for keys that
// many draws have) or draws (8 bytes, which saves a look at each draw where the draws of a key lie far apart).
type postings[E uint32 | draw] struct {
	list []E
	ends []uint32 // ends[group] is where the group ends in list; nil if the groups are too many for a table
}

// group is the draws of one group. There must be a table.
func (p *postings[E]) group(group int) []E {
	low := uint32(0)
	if group > 0 {
		low = p.ends[group-1]
	}
	return p.list[low:p.ends[group]]
}

// tabled makes postings with a table of keys·tods groups, by counting.
func tabled[E uint32 | draw](g *Game, s *scratch, keys int, key keyFunc) postings[E] {
	tods := uint32(g.tods)
	groups := s.groupsOf(len(g.draws))
	next := make([]uint32, keys*g.tods+1)
	g.eachSection(func(i uint32, at *section) {
		for p, d := range g.draws[at.base:at.end] {
			group := uint32(key(d.number()))*tods + i
			groups[int(at.base)+p] = group
			next[group+1]++
		}
	})
	for group := range next[1:] {
		next[group+1] += next[group]
	}
	// next[group] is now where the group starts, and moves to where it ends.
	list := make([]E, len(g.draws))
	switch list := any(list).(type) {
	case []uint32:
		for p, group := range groups {
			list[next[group]] = uint32(p)
			next[group]++
		}
	case []draw:
		for p, group := range groups {
			list[next[group]] = g.draws[p]
			next[group]++
		}
	}
	return postings[E]{list: list, ends: next[:len(next)-1]}
}
