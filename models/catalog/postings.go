package catalog

// keyFunc is what draws with a number are listed under.
type keyFunc func(number uint64) uint64

// postings lists the positions of draws by group, ascending in each. A group is key·tods + index of the section, so
// that the draws of one key are in one place, apart by tod. They take 4 bytes a draw, for keys that many draws have.
type postings struct {
	list []uint32
	ends []uint32 // ends[group] is where the group ends in list
}

// group is the positions of one group.
func (p *postings) group(group int) []uint32 {
	low := uint32(0)
	if group > 0 {
		low = p.ends[group-1]
	}
	return p.list[low:p.ends[group]]
}

// newPostings counts how many draws each of keys·tods groups has, and lists them.
func newPostings(g *Game, s *scratch, keys int, key keyFunc) postings {
	groups, next := g.groups(s, keys, key)
	// next[group] is where the group starts, and moves to where it ends.
	list := make([]uint32, len(g.draws))
	for position, group := range groups {
		list[next[group]] = uint32(position)
		next[group]++
	}
	return postings{list, next[:len(next)-1]}
}

// groups is the group of each draw, and where each group starts when one follows the other; one more for the end.
func (g *Game) groups(s *scratch, keys int, key keyFunc) (groups, starts []uint32) {
	tods := uint32(len(g.sections))
	groups = s.groupsOf(len(g.draws))
	starts = make([]uint32, keys*len(g.sections)+1)
	for position, d := range g.draws {
		group := uint32(key(d.number()))*tods + uint32(g.sectionOf[d.slot().tod()])
		groups[position] = group
		starts[group+1]++
	}
	for group := range starts[1:] {
		starts[group+1] += starts[group]
	}
	return groups, starts
}
