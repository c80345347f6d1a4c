package catalog

// keyFunc maps a number to the key under which its draws are listed.
type keyFunc func(number uint64) uint64

// postings lists positions of draws by group, ascending within each. A group is key·tods + index of the section, so
// that a key's draws are in one place, separate by tod. They take 4 bytes a draw, and suit keys with many draws.
type postings struct {
	list []uint32
	ends []uint32 // ends[group] is the end of the group in list
}

// group returns the positions of one group.
func (p *postings) group(group int) []uint32 {
	low := uint32(0)
	if group > 0 {
		low = p.ends[group-1]
	}
	return p.list[low:p.ends[group]]
}

// newPostings counts the draws of each of the keys·tods groups, and then lists them.
func newPostings(g *Game, s *scratch, keys int, key keyFunc) postings {
	groups, next := g.groups(s, keys, key)
	// next[group] is the start of the group, and advances to its end.
	list := make([]uint32, len(g.draws))
	for position, group := range groups {
		list[next[group]] = uint32(position)
		next[group]++
	}
	return postings{list, next[:len(next)-1]}
}

// groups returns the group of each draw, and the start of each group if they follow each other,
// plus the end of the last.
func (g *Game) groups(s *scratch, keys int, key keyFunc) (groups, starts []uint32) {
	tods := uint32(len(g.sections))
	groups = room(&s.groups, len(g.draws))
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
