package catalog

import (
	"slices"

	"lottery/models"
)

// Game is one game with all its draws, of which there is at least one. Its fields are for reading only.
type Game struct {
	ID           string // lower-case words joined by hyphens: ny-win-4
	Name         string
	Type         string // pick + the number of digits
	Jurisdiction string
	Digits       int // of a number, 1…models.MaxDigits

	rank      uint32 // place among the catalog's games by id
	tods      int    // how many tods have draws; that many sections are in use
	draws     []draw // one tod after the other; a draw's index here is its position
	sections  [models.TodCount]section
	sectionOf [models.TodCount + 1]uint8
	first     models.Date
	last      models.Date
	missing   int
	latest    []Ref

	exact  keyIndex // by number
	box    keyIndex
	bySum  postings[uint32]
	pairs  pairIndex
	stored storedCounts
	whole  [models.TodCount + 1]wholeStats
}

// newGame indexes draws given by tod, each tod's ascending and one a slot.
func newGame(of *models.Game, byTod *[models.TodCount + 1][]draw, s *scratch) *Game {
	g := &Game{ID: of.ID, Name: of.Name, Type: of.Type(), Jurisdiction: of.Jurisdiction, Digits: of.Digits}
	g.place(byTod)
	g.missing = missingDays(g, of.DrawDays, of.Tods|g.Tods(), s)
	g.exact = newKeyIndex(g, s, powerOf10(g.Digits), func(number uint64) uint64 { return number })
	g.box = newKeyIndex(g, s, uint64(boxCount(g.Digits)), boxKey(g.Digits))
	g.bySum = tabled[uint32](g, s, 9*g.Digits+1, digitSum)
	g.pairs = newPairIndex(g, s)
	g.stored = newStoredCounts(g)
	return g
}

// place puts the draws one tod after the other and empties byTod.
func (g *Game) place(byTod *[models.TodCount + 1][]draw) {
	count := 0
	for _, list := range byTod {
		count += len(list)
	}
	g.draws = make([]draw, 0, count)
	for tod, list := range byTod {
		if len(list) == 0 {
			continue
		}
		base := len(g.draws)
		g.draws = append(g.draws, list...)
		byTod[tod] = nil
		s := newSection(models.Tod(tod), g.draws, uint32(base), uint32(len(g.draws)))
		g.sections[g.tods], g.sectionOf[tod] = s, uint8(g.tods)
		g.tods++
		if g.tods == 1 || s.first.date() < g.first {
			g.first = s.first.date()
		}
		if g.tods == 1 || s.last.date() > g.last {
			g.last = s.last.date()
		}
		g.latest = append(g.latest, Ref{g, g.draws[s.end-1]})
	}
	slices.SortFunc(g.latest, func(a, b Ref) int { return int(b.slot()) - int(a.slot()) })
}

func (g *Game) eachSection(f func(i uint32, s *section)) {
	for i := range g.tods {
		f(uint32(i), &g.sections[i])
	}
}

// Tods is the times of day that the game has draws of.
func (g *Game) Tods() models.TodSet {
	var set models.TodSet
	for _, s := range g.sections[:g.tods] {
		set = set.With(s.tod)
	}
	return set
}

// Len is the number of draws, at least 1.
func (g *Game) Len() int { return len(g.draws) }

// First is the date of the oldest draw.
func (g *Game) First() models.Date { return g.first }

// Last is the date of the newest draw.
func (g *Game) Last() models.Date { return g.last }

// MissingDays counts the dates from First to Last on which the game should have drawn, by its draw days, and
// of which there is no draw.
func (g *Game) MissingDays() int { return g.missing }

// Latest is the newest draw of each tod, newest first. The slice is shared: do not change it.
func (g *Game) Latest() []Ref { return g.latest }

// missingDays asks the calendar only about the dates without a draw.
func missingDays(g *Game, days models.DrawDays, all models.TodSet, s *scratch) int {
	drawn := s.daysOf(int(g.last-g.first) + 1)
	for _, d := range g.draws {
		drawn[d.slot().date()-g.first] = true
	}
	missing := 0
	for i, has := range drawn {
		if !has && days.On(g.first+models.Date(i), all) != 0 {
			missing++
		}
	}
	return missing
}

func digitSum(number uint64) uint64 {
	sum := uint64(0)
	for ; number > 0; number /= 10 {
		sum += number % 10
	}
	return sum
}

// boxKey is the key of box postings: the box of a number of that many digits.
func boxKey(digits int) keyFunc {
	if table := boxTable(digits); table != nil {
		return func(number uint64) uint64 { return uint64(table[number]) }
	}
	return func(number uint64) uint64 { return uint64(boxOf(number, digits)) }
}
