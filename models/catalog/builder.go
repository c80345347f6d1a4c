package catalog

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"lottery/models"
)

// Builder collects draws for one Catalog. It is for one goroutine and one call of Build.
type Builder struct {
	version models.DataVersion
	games   map[string]*GameBuilder
}

// NewBuilder starts a catalog of the given data version.
func NewBuilder(version models.DataVersion) *Builder {
	return &Builder{version: version, games: make(map[string]*GameBuilder)}
}

// Game starts a game, or continues it, in which case the description from the first call stands. A game without draws
// is left out of the catalog.
func (b *Builder) Game(g models.Game) *GameBuilder {
	started, ok := b.games[g.ID]
	if !ok {
		started = &GameBuilder{game: g}
		b.games[g.ID] = started
	}
	return started
}

// Build makes the catalog and uses up the builder: the draws move into the catalog. Two draws in the same slot are an
// error (models.CodeConflict), which names one such slot of the first such game.
func (b *Builder) Build() (*Catalog, error) {
	filled := make([]*GameBuilder, 0, len(b.games))
	for _, g := range b.games {
		if g.count > 0 {
			filled = append(filled, g)
		}
	}
	b.games = nil
	slices.SortFunc(filled, func(x, y *GameBuilder) int { return strings.Compare(x.game.ID, y.game.ID) })

	games := make([]*Game, len(filled))
	errs := make([]error, len(filled))
	var next atomic.Int32
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(filled)) {
		workers.Go(func() {
			var s scratch
			for i := int(next.Add(1)) - 1; i < len(filled); i = int(next.Add(1)) - 1 {
				games[i], errs[i] = filled[i].build(&s)
				filled[i] = nil
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return newCatalog(b.version, games), nil
}

// maxDraws is how many draws a game can hold: a ten-digit number and a position share 64 bits.
const maxDraws = 1 << 28

// GameBuilder collects the draws of one game.
type GameBuilder struct {
	game     models.Game
	byTod    [models.TodCount + 1][]draw
	unsorted models.TodSet // tods with a draw that came after a later one, or in the same slot
	count    int
}

// Add adds a draw; it does not retain number. Draws may come in any order; ascending (date, tod, sequence) is fastest. An
// error (models.CodeInvalid) says why the catalog cannot hold the draw, which is left out.
func (g *GameBuilder) Add(date models.Date, tod models.Tod, sequence int, number []byte) error {
	value, ok := parseNumber(number)
	switch {
	case !ok || len(number) != g.game.Digits:
		return models.Errorf(models.CodeInvalid, "%s: %q is not a number of %d digits", g.game.ID, string(number), g.game.Digits)
	case date < models.FirstDate || date > models.LastDate:
		return models.Errorf(models.CodeInvalid, "%s: %s is not between %s and %s", g.game.ID, date, models.FirstDate, models.LastDate)
	case tod < models.Morning || tod > models.Night:
		return models.Errorf(models.CodeInvalid, "%s: %s is not a time of day", g.game.ID, tod)
	case sequence < 1 || sequence > models.MaxSequence:
		return models.Errorf(models.CodeInvalid, "%s: sequence %d is not between 1 and %d", g.game.ID, sequence, models.MaxSequence)
	}
	d := newDraw(date, tod, sequence, value)
	list := g.byTod[tod]
	if n := len(list); n > 0 && d.slot() <= list[n-1].slot() {
		g.unsorted = g.unsorted.With(tod)
	}
	g.byTod[tod] = append(list, d)
	g.count++
	return nil
}

// parseNumber parses 1 to models.MaxDigits ASCII digits.
func parseNumber[T string | []byte](number T) (uint64, bool) {
	if len(number) == 0 || len(number) > models.MaxDigits {
		return 0, false
	}
	value := uint64(0)
	for i := range len(number) {
		digit := number[i] - '0'
		if digit > 9 {
			return 0, false
		}
		value = value*10 + uint64(digit)
	}
	return value, true
}

// build makes the game and leaves g empty.
func (g *GameBuilder) build(s *scratch) (*Game, error) {
	if g.count > maxDraws {
		return nil, fmt.Errorf("%s has %d draws; a game can hold %d", g.game.ID, g.count, maxDraws)
	}
	for _, tod := range g.unsorted.Tods() {
		list := g.byTod[tod]
		list = radixSort(list, make([]draw, len(list)), numberBits, numberBits+slotBits)
		for i, d := range list[1:] {
			if s := d.slot(); s == list[i].slot() {
				return nil, models.Errorf(models.CodeConflict, "%s has two draws for %s %s, sequence %d",
					g.game.ID, s.date(), s.tod(), s.sequence())
			}
		}
		g.byTod[tod] = list
	}
	return newGame(&g.game, &g.byTod, s), nil
}

// scratch is memory that a worker of Build reuses from game to game.
type scratch struct {
	groups, keyStarts []uint32
	keys, spare       []uint64
	days              []bool
}

// room returns n elements of *list, which it grows if necessary. They are not cleared.
func room[E any](list *[]E, n int) []E {
	*list = slices.Grow((*list)[:0], n)[:n]
	return *list
}
