package catalog

import (
	"slices"

	"lottery/models"
)

// Game is a game with all its draws, at least one. Its fields are read-only.
type Game struct {
	ID           string // lower-case words joined by hyphens: ny-win-4
	Name         string
	Type         string // pick + the number of digits
	Jurisdiction string
	Digits       int // per number, 1…models.MaxDigits

	rank      uint32 // index among the catalog's games
	place     uint32 // index among the catalog's games with as many digits
	draws     []draw // ascending; a draw's index here is its position
	times     timeline
	sections  []section                  // of the tods that have draws
	sectionOf [models.TodCount + 1]uint8 // index in sections by tod
	missing   int
	latest    []Ref

	exact keyIndex // by number
	box   keyIndex
	bySum []drawSet
	pairs pairIndex
	// By tod; 0 = all.
	stored  [models.TodCount + 1]storedCounts
	leaders [models.TodCount + 1]leaders
	whole   [models.TodCount + 1]wholeStats
}

// newGame indexes draws given by tod, ascending within each tod and at most one per slot.
func newGame(of *models.Game, byTod *[models.TodCount + 1][]draw, s *scratch) *Game {
	g := &Game{ID: of.ID, Name: of.Name, Type: of.Type(), Jurisdiction: of.Jurisdiction, Digits: of.Digits}
	g.putTogether(byTod)
	g.missing = missingDays(g, of.DrawDays, of.Tods|g.Tods(), s)
	g.exact = newKeyIndex(g, s, models.PowerOf10(g.Digits), func(number uint64) uint64 { return number })
	g.box = newKeyIndex(g, s, uint64(boxCount(g.Digits)), boxKey(g.Digits))
	g.bySum = newSumSets(g)
	g.pairs = newPairIndex(g, s)
	for tod := range g.stored {
		if tod == 0 || g.section(models.Tod(tod)) >= 0 {
			g.stored[tod] = newStoredCounts(g, models.Tod(tod))
			g.leaders[tod] = newLeaders(g, models.Tod(tod))
		}
	}
	return g
}

// Rank is the game's index among its catalog's games.
func (g *Game) Rank() int { return int(g.rank) }

// putTogether merges the draws of all tods into one order and empties byTod.
func (g *Game) putTogether(byTod *[models.TodCount + 1][]draw) {
	rest := *byTod
	count := 0
	for tod, list := range byTod {
		count += len(list)
		byTod[tod] = nil
	}
	g.draws = make([]draw, 0, count)
	for len(g.draws) < count {
		next := 0
		for tod, list := range rest {
			if len(list) > 0 && (len(rest[next]) == 0 || list[0] < rest[next][0]) {
				next = tod
			}
		}
		g.draws = append(g.draws, rest[next][0])
		rest[next] = rest[next][1:]
	}
	g.times = newTimeline(g.draws)
	g.sections = newSections(g.draws)
	for i := range g.sections {
		s := &g.sections[i]
		g.sectionOf[s.tod] = uint8(i)
		g.latest = append(g.latest, Ref{g, g.draws[s.draws.previous(count)]})
	}
	slices.SortFunc(g.latest, func(a, b Ref) int { return int(b.slot()) - int(a.slot()) })
}

// Tods returns the times of day that have draws.
func (g *Game) Tods() models.TodSet {
	var set models.TodSet
	for i := range g.sections {
		set = set.With(g.sections[i].tod)
	}
	return set
}

// Len is the number of draws, at least 1.
func (g *Game) Len() int { return len(g.draws) }

// First is the date of the oldest draw.
func (g *Game) First() models.Date { return g.times.first.date() }

// Last is the date of the newest draw.
func (g *Game) Last() models.Date { return g.times.last.date() }

// MissingDays is the number of dates from First to Last on which the game should have drawn, by its draw
// days, but that have no draw.
func (g *Game) MissingDays() int { return g.missing }

// Latest returns the newest draw of each tod, newest first. The slice is shared: do not change it.
func (g *Game) Latest() []Ref { return g.latest }

// missingDays consults the draw days only for dates without a draw.
func missingDays(g *Game, days models.DrawDays, all models.TodSet, s *scratch) int {
	first := g.First()
	drawn := room(&s.days, int(g.Last()-first)+1)
	clear(drawn)
	for _, d := range g.draws {
		drawn[d.slot().date()-first] = true
	}
	missing := 0
	for i, has := range drawn {
		if !has && days.On(first+models.Date(i), all) != 0 {
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

// boxKey returns a function from numbers of that many digits to their boxes.
func boxKey(digits int) keyFunc {
	if table := boxTable(digits); table != nil {
		return func(number uint64) uint64 { return uint64(table.boxes[number]) }
	}
	return func(number uint64) uint64 { return uint64(boxOf(number, digits)) }
}
