package catalog

import (
	"slices"

	"lottery/models"
)

// section is the draws of one tod of a game.
type section struct {
	tod   models.Tod
	draws bitset
	count int
}

// newSections splits a game's draws by tod.
func newSections(draws []draw) []section {
	var words [models.TodCount + 1][]uint64
	var counts [models.TodCount + 1]int
	for i, d := range draws {
		tod := d.slot().tod()
		if words[tod] == nil {
			words[tod] = make([]uint64, wordsFor(len(draws)))
		}
		words[tod][i>>wordShift] |= 1 << (i & wordMask)
		counts[tod]++
	}
	var sections []section
	for tod, w := range words {
		if w != nil {
			sections = append(sections, section{models.Tod(tod), newBitset(w, nil), counts[tod]})
		}
	}
	return sections
}

// below is how many of list, the positions of some of the section's draws, are less than position.
func (s *section) below(list []uint32, position int) int {
	return bound(list, uint32(position), s.draws.before(position)*len(list)/s.count)
}

// section returns the index of a tod's section; -1 if the game has no such draws.
func (g *Game) section(tod models.Tod) int {
	return slices.IndexFunc(g.sections, func(s section) bool { return s.tod == tod })
}

// wanted reports whether the query includes the section's tod.
func (s *section) wanted(q *Query) bool { return q.Tod == 0 || q.Tod == s.tod }
