package catalog

import "lottery/models"

// drawSet is the draws of a game that share a property, as sets of positions. It is for properties so frequent, or so
// many per draw, that lists would be larger. The sets take one bit per draw, plus a quarter of a bit for each tod.
type drawSet struct {
	all   bitset
	byTod []bitset // by section
}

// of returns the draws of a tod, or of all for 0; nil if the game has no draws of that tod.
func (s *drawSet) of(g *Game, tod models.Tod) *bitset {
	if tod == 0 {
		return &s.all
	}
	section := g.section(tod)
	if section < 0 {
		return nil
	}
	return &s.byTod[section]
}

// newWords returns n empty sets of the game's draws.
func newWords(g *Game, n int) [][]uint64 {
	sets := make([][]uint64, n)
	for i := range sets {
		sets[i] = make([]uint64, wordsFor(len(g.draws)))
	}
	return sets
}

func newDrawSets(g *Game, words [][]uint64) []drawSet {
	sets := make([]drawSet, len(words))
	for i, w := range words {
		sets[i].all = newBitset(w, nil)
		sets[i].byTod = make([]bitset, len(g.sections))
		for at := range g.sections {
			sets[i].byTod[at] = newBitset(w, g.sections[at].draws.words)
		}
	}
	return sets
}

// newSumSets returns the set of draws for each sum of digits. They take 5 bytes a draw for three digits, 8 for five.
func newSumSets(g *Game) []drawSet {
	sets := newWords(g, 9*g.Digits+1)
	for i, d := range g.draws {
		sets[digitSum(d.number())][i>>wordShift] |= 1 << (i & wordMask)
	}
	return newDrawSets(g, sets)
}
