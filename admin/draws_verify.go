package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lottery/models"
	"lottery/models/store"
)

// verification is what `draws verify` finds about one game.
type verification struct {
	Game         string       `json:"game"`
	Draws        int          `json:"draws"`
	First        *models.Date `json:"first"`
	Last         *models.Date `json:"last"`
	MissingDays  int          `json:"missing_days"`  // dates without a draw on which there should be one
	MissingDraws int          `json:"missing_draws"` // missing draws on dates that have others
	Gaps         []gap        `json:"gaps"`
	OffSchedule  []offDay     `json:"off_schedule"` // draws at a time at which the game does not draw on that date
	Problems     []problem    `json:"problems"`
}

// gap is a run of missing days, with no draw in between; or of days that have draws, but not the one of Tod.
type gap struct {
	From models.Date `json:"from"`
	To   models.Date `json:"to"`
	Days int         `json:"days"`
	Tod  *models.Tod `json:"tod"` // nil = the whole day
}

// offDay is a draw at a time when there should be none: a mistyped date, or a special draw.
type offDay struct {
	Date     models.Date `json:"date"`
	Tod      models.Tod  `json:"tod"`
	Sequence int         `json:"sequence"`
}

// problem is an impossible row.
type problem struct {
	Date     string `json:"date"`
	Tod      string `json:"tod"`
	Sequence int    `json:"sequence"`
	Problem  string `json:"problem"`
}

func drawsVerify(ctx context.Context, c *call) error {
	var games []models.Game
	var err error
	if id := c.String("game"); id != "" {
		games = make([]models.Game, 1)
		games[0], err = c.store.Game(ctx, id)
	} else {
		games, err = c.store.Games(ctx)
	}
	if err != nil {
		return err
	}
	found := make(map[string]*verifier, len(games))
	for i := range games {
		if found[games[i].ID], err = c.newVerifier(&games[i]); err != nil {
			return err
		}
	}
	err = c.store.InspectDraws(ctx, c.String("game"), func(d *store.StoredDraw) error {
		if v := found[d.GameID]; v != nil { // otherwise the game was added after we read the games
			v.take(d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	problems, list := 0, make([]verification, 0, len(games))
	for i := range games {
		v := found[games[i].ID].verification
		problems += len(v.Problems)
		list = append(list, v)
	}
	if err := c.result(list); err != nil {
		return err
	}
	if problems > 0 {
		return fmt.Errorf("%d of the stored draws are impossible: correct them with `lotteryadmin draws set`, remove them with `draws unset`, or use the SQL shown", problems)
	}
	return nil
}

// verifier examines one game's rows, oldest first.
type verifier struct {
	verification
	game   *models.Game
	latest models.Date // the last date a draw may have: tomorrow in the game's zone

	held    models.TodSet            // the times of day of which Last has draws
	lacking [models.TodCount + 1]int // by tod: the index + 1 of the gap that still continues; 0 = none
}

func (c *call) newVerifier(g *models.Game) (*verifier, error) {
	loc, err := g.Location()
	if err != nil {
		return nil, err
	}
	return &verifier{
		verification: verification{Game: g.ID, Gaps: []gap{}, OffSchedule: []offDay{}, Problems: []problem{}},
		game:         g, latest: models.DateOf(c.env.Now().In(loc)) + 1,
	}, nil
}

func (v *verifier) take(d *store.StoredDraw) {
	v.Draws++
	date, err := models.ParseDate(d.Date)
	switch {
	case err != nil:
		v.problem(d, fmt.Sprintf("date: %v; lotteryadmin cannot name it: DELETE FROM draws WHERE game_id = '%s' AND date = '%s'", err, d.GameID, strings.ReplaceAll(d.Date, "'", "''")))
	case date > v.latest:
		v.problem(d, "date is after tomorrow")
	default:
		v.reach(date)
		v.held = v.held.With(d.Tod)
		if v.game.Tods.Has(d.Tod) && !v.game.DrawDays.On(date, v.game.Tods).Has(d.Tod) {
			v.OffSchedule = append(v.OffSchedule, offDay{date, d.Tod, d.Sequence})
		}
	}
	if !models.ValidNumber(d.Number) || len(d.Number) != v.game.Digits {
		v.problem(d, fmt.Sprintf("number %q does not have %s", d.Number, models.Count(v.game.Digits, "digit")))
	}
	if addons := (map[string]string)(nil); d.Addons != "" && json.Unmarshal([]byte(d.Addons), &addons) != nil {
		v.problem(d, fmt.Sprintf("add-ons %q are not a JSON object of texts: UPDATE draws SET addons = '' WHERE game_id = '%s' AND date = '%s' AND tod = %d AND sequence = %d",
			d.Addons, d.GameID, strings.ReplaceAll(d.Date, "'", "''"), d.Tod, d.Sequence))
	}
	if !v.game.Tods.Has(d.Tod) {
		v.problem(d, fmt.Sprintf("the game does not draw at %s (but %s)", d.Tod, v.game.Tods))
	}
}

func (v *verifier) problem(d *store.StoredDraw, text string) {
	v.Problems = append(v.Problems, problem{d.Date, d.Tod.String(), d.Sequence, text})
}

// reach records a date that has a draw, and what is missing since the previous one. The newest date's draws may still
// come.
func (v *verifier) reach(date models.Date) {
	if v.First == nil {
		v.First, v.Last = &date, &date
	}
	if date == *v.Last {
		return
	}
	v.complete(*v.Last)
	var g gap
	for day := *v.Last + 1; day < date; day++ {
		if v.game.DrawDays.On(day, v.game.Tods) == 0 {
			continue
		}
		if g.Days == 0 {
			g.From = day
		}
		g.To, g.Days = day, g.Days+1
	}
	if g.Days > 0 {
		v.Gaps = append(v.Gaps, g)
		v.MissingDays += g.Days
	}
	v.Last, v.held = &date, 0
}

// complete records which draws of a date that has some are missing.
func (v *verifier) complete(day models.Date) {
	due := v.game.DrawDays.On(day, v.game.Tods)
	for _, tod := range due.Tods() {
		switch {
		case v.held.Has(tod):
			v.lacking[tod] = 0
			continue
		case v.lacking[tod] == 0:
			v.Gaps = append(v.Gaps, gap{From: day, Tod: &tod})
			v.lacking[tod] = len(v.Gaps)
		}
		g := &v.Gaps[v.lacking[tod]-1]
		g.To, g.Days = day, g.Days+1
		v.MissingDraws++
	}
}
