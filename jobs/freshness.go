package jobs

import (
	"context"
	"time"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
)

// Freshness is how recent a game's draws are, judged by the time of day that is furthest behind: a lottery may publish
// each time of day in a file of its own, and one of them may stop.
type Freshness struct {
	Feed     string
	Game     string
	Newest   *models.Date // the newest draw of that time of day; nil = none
	Expected *models.Date // the newest day whose draws should have been held and published; nil = none yet
	Fresh    bool
	Behind   models.TodSet // the times of day that are behind
	Due      models.TodSet // the times of day at which the game currently draws
}

// published is how long after the end of a day its draws should be there.
const published = 12 * time.Hour

// GameFreshness compares, for every game that is fetched, the newest draws with the newest that should exist.
func GameFreshness(ctx context.Context, st *store.Store, now time.Time) ([]Freshness, error) {
	newest, err := st.NewestDates(ctx)
	if err != nil {
		return nil, err
	}
	games, err := st.Games(ctx)
	if err != nil {
		return nil, err
	}
	return freshness(games, now, newest), nil
}

// freshness does the work of GameFreshness; newest holds, by game id, the date of the newest draw of each time of day.
func freshness(games []models.Game, now time.Time, newest map[string]map[models.Tod]models.Date) []Freshness {
	known := make(map[string]*models.Game, len(games))
	for i := range games {
		known[games[i].ID] = &games[i]
	}
	var list []Freshness
	for _, p := range publishers(&configs.Feeds{}) {
		for _, id := range p.games {
			if g := known[id]; g != nil {
				f := freshnessOf(g, now, newest[id])
				f.Feed = p.feed
				list = append(list, f)
			}
		}
	}
	return list
}

func freshnessOf(g *models.Game, now time.Time, newest map[models.Tod]models.Date) Freshness {
	f := Freshness{Game: g.ID, Fresh: true}
	for _, last := range newest { // if nothing is expected, the newest of all
		if f.Newest == nil || last > *f.Newest {
			f.Newest = &last
		}
	}
	dues := expected(g, now)
	for _, due := range dues {
		if f.Expected == nil || due > *f.Expected {
			f.Expected = &due
		}
	}
	for tod, due := range dues {
		last, held := newest[tod]
		behind := !held || last < due
		f.Fresh = f.Fresh && !behind
		f.Due = f.Due.With(tod)
		if behind {
			f.Behind = f.Behind.With(tod)
		}
		switch {
		case !held:
			f.Newest = nil
		case !behind && due < *f.Expected: // it has ended or pauses, and nothing is missing
		case f.Newest != nil && last < *f.Newest:
			f.Newest = &last
		}
	}
	return f
}

// longestPause is more days than any game goes without a draw.
const longestPause = 30

// expected returns, for each time of day at which g currently draws, the newest date on which it should have drawn and
// that has been over for long enough.
func expected(g *models.Game, now time.Time) map[models.Tod]models.Date {
	loc, err := g.Location()
	if err != nil {
		return nil
	}
	due := map[models.Tod]models.Date{}
	today := models.DateOf(now.Add(-published).In(loc))
	for d := today - 1; d > today-longestPause; d-- {
		for _, tod := range g.DrawDays.On(d, g.Tods).Tods() {
			if _, found := due[tod]; !found {
				due[tod] = d
			}
		}
	}
	return due
}
