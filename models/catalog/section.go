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

// newSections takes a game's draws.
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

// below is how many of list, which is positions of some of the section's draws, are less than position.
func (s *section) below(list []uint32, position int) int {
	return bound(list, uint32(position), s.draws.before(position)*len(list)/s.count)
}

// section is the index of a tod's section; -1 if the game has no draws of it.
func (g *Game) section(tod models.Tod) int {
	return slices.IndexFunc(g.sections, func(s section) bool { return s.tod == tod })
}

// wanted tells whether the query is about the section's tod.
func (s *section) wanted(q *Query) bool { return q.Tod == 0 || q.Tod == s.tod }
