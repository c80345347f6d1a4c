package catalog

import "lottery/models"

// drawSet is the draws of a game that have something in common, as sets of positions: for what is so frequent, or had by
// a draw so often, that lists would take more. They are a bit for each draw, and a quarter of one for each tod.
type drawSet struct {
	all   bitset
	byTod []bitset // by section
}

// of is the draws of a tod, of any for 0; nil if the game has none of that tod.
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

// newWords is n empty sets of the game's draws.
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

// newSumSets tells for each sum of digits which draws have it. That takes 5 bytes a draw for three digits, 8 for five.
func newSumSets(g *Game) []drawSet {
	sets := newWords(g, 9*g.Digits+1)
	for i, d := range g.draws {
		sets[digitSum(d.number())][i>>wordShift] |= 1 << (i & wordMask)
	}
	return newDrawSets(g, sets)
}
