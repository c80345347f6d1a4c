package catalog

import "lottery/models"

// Catalog holds every draw of one data version.
type Catalog struct {
	version  models.DataVersion
	games    []*Game // ascending by id; Game.rank is the index here
	byID     map[string]*Game
	byDigits [models.MaxDigits + 1][]*Game
	orders   [models.MaxDigits + 1]mergeOrders
	types    []string // fewest digits first
	draws    int
	first    models.Date
	last     models.Date
}

// newCatalog takes games in ascending order of id, each with at least one draw.
func newCatalog(version models.DataVersion, games []*Game) *Catalog {
	c := &Catalog{
		version: version,
		games:   games,
		byID:    make(map[string]*Game, len(games)),
		types:   []string{},
	}
	for rank, g := range games {
		g.rank, g.place = uint32(rank), uint32(len(c.byDigits[g.Digits]))
		c.byID[g.ID] = g
		c.byDigits[g.Digits] = append(c.byDigits[g.Digits], g)
		c.draws += g.Len()
		if rank == 0 || g.First() < c.first {
			c.first = g.First()
		}
		if rank == 0 || g.Last() > c.last {
			c.last = g.Last()
		}
	}
	for digits, same := range c.byDigits {
		if len(same) > 0 {
			c.orders[digits] = newMergeOrders(same)
			c.types = append(c.types, same[0].Type)
		}
	}
	return c
}

// Version returns the state of the data that the catalog was built from.
func (c *Catalog) Version() models.DataVersion { return c.version }

// Games returns the games that have draws, ascending by id. The slice is shared: do not change it.
func (c *Catalog) Games() []*Game { return c.games }

// Game returns the game with that id, if it has draws.
func (c *Catalog) Game(id string) (*Game, bool) {
	g, ok := c.byID[id]
	return g, ok
}

// Types returns the types of the games, fewest digits first. The slice is shared: do not change it.
func (c *Catalog) Types() []string { return c.types }

// OfType returns the games of a type, ascending by id; nil if there are none. The slice is shared: do not change it.
func (c *Catalog) OfType(gameType string) []*Game {
	for _, same := range c.byDigits {
		if len(same) > 0 && same[0].Type == gameType {
			return same
		}
	}
	return nil
}

// TotalDraws is the number of draws in all games.
func (c *Catalog) TotalDraws() int { return c.draws }

// Range returns the dates of the oldest and the newest draw; ok is false if there are no draws.
func (c *Catalog) Range() (first, last models.Date, ok bool) {
	return c.first, c.last, len(c.games) > 0
}
