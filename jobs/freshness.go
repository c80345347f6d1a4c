package jobs

import (
	"context"
	"time"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
)

// Freshness is how new a game's draws are.
type Freshness struct {
	Feed     string
	Game     string
	Newest   *models.Date // nil = no draws
	Expected *models.Date // the newest day on which it should have drawn and been published; nil = none yet
	Fresh    bool
}

// published is how long after the end of a day its draws should be there.
const published = 12 * time.Hour

// GameFreshness compares, for every game that is fetched, the newest draw with the newest that should be there.
func GameFreshness(ctx context.Context, st *store.Store, now time.Time) ([]Freshness, error) {
	held, err := st.Holdings(ctx)
	if err != nil {
		return nil, err
	}
	games, err := st.Games(ctx)
	if err != nil {
		return nil, err
	}
	return freshness(games, now, func(id string) (models.Date, bool) {
		h, ok := held[id]
		return h.Last, ok
	}), nil
}

// freshness is that of the games that are fetched; newest is the date of a game's newest draw.
func freshness(games []models.Game, now time.Time, newest func(id string) (models.Date, bool)) []Freshness {
	known := make(map[string]*models.Game, len(games))
	for i := range games {
		known[games[i].ID] = &games[i]
	}
	var list []Freshness
	for _, p := range publishers(&configs.Feeds{}) {
		for _, id := range p.games {
			g := known[id]
			if g == nil {
				continue
			}
			f := Freshness{Feed: p.feed, Game: id, Expected: expected(g, now)}
			if last, ok := newest(id); ok {
				f.Newest = &last
			}
			f.Fresh = f.Expected == nil || (f.Newest != nil && *f.Newest >= *f.Expected)
			list = append(list, f)
		}
	}
	return list
}

// longestPause is more days than any game goes without a draw.
const longestPause = 30

// expected is the newest date on which g should have drawn and which is long enough over.
func expected(g *models.Game, now time.Time) *models.Date {
	loc, err := g.Location()
	if err != nil {
		return nil
	}
	today := models.DateOf(now.Add(-published).In(loc))
	for d := today - 1; d > today-longestPause; d-- {
		if g.DrawDays.On(d, g.Tods) != 0 {
			return &d
		}
	}
	return nil
}
