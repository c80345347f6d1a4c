package api

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"lottery/api/problem"
	"lottery/models"
	"lottery/models/catalog"
)

// game returns the game with the given id. An unknown game is a special problem: if it is the
// only one, the answer is 404.
func (b *binder) game(cat *catalog.Catalog) *catalog.Game {
	id, ok := b.text("game")
	if !ok {
		return nil
	}
	g, ok := cat.Game(id)
	if ok {
		return g
	}
	detail := "; /v1/games lists those that exist"
	if near := nearestGames(cat, id); len(near) > 0 {
		detail = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	b.noGame = b.failf("game", problem.Unknown, "there is no game %q%s", short(id), detail)
	return nil
}

// nearestGames returns the ids that id may be a misspelling of.
func nearestGames(cat *catalog.Catalog, id string) []string {
	games := make([]models.GameName, 0, len(cat.Games()))
	for _, g := range cat.Games() {
		games = append(games, models.GameName{ID: g.ID, Name: g.Name, Type: g.Type})
	}
	return models.NearestGames(id, games)
}

// gameType returns a type that at least one game has, or "".
func (b *binder) gameType(cat *catalog.Catalog) string {
	v, ok := b.text("game_type")
	if !ok {
		return ""
	}
	if len(cat.OfType(v)) == 0 {
		types := "no game has draws yet"
		if all := cat.Types(); len(all) > 0 {
			types = "the types are " + strings.Join(all, ", ")
		}
		b.failf("game_type", problem.Unknown, "no game has the type %q; %s", short(v), types)
	}
	return v
}

// games returns the games that game and game_type select (nil = all), and their name for the envelope.
func (b *binder) games(cat *catalog.Catalog) (games []*catalog.Game, name string) {
	g, kind := b.game(cat), b.gameType(cat)
	switch {
	case g != nil && kind != "" && g.Type != kind:
		return []*catalog.Game{}, g.ID
	case g != nil:
		return []*catalog.Game{g}, g.ID
	case kind != "":
		return cat.OfType(kind), allGames
	default:
		return nil, allGames
	}
}

// allGames is the envelope's game where an answer spans games.
const allGames = "all"

func (b *binder) tod() models.Tod {
	v, ok := b.text("tod")
	if !ok {
		return 0
	}
	t, ok := models.ParseTod(v)
	if !ok {
		b.failf("tod", problem.Malformed, "tod must be one of Morning, Midday, Day, Afternoon, Evening, Night (case-sensitive), not %q", short(v))
	}
	return t
}

// number returns a whole number in [low, high]; if it is none, that is a problem, and the result low.
func (b *binder) number(name string, low, high int) int {
	v, ok := b.text(name)
	if !ok {
		return low
	}
	digits := strings.TrimPrefix(v, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		b.failf(name, problem.Malformed, "%s must be a whole number from %d to %d, not %q", name, low, high, short(v))
		return low
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high || (n == 0 && v[0] == '-') {
		b.failf(name, problem.OutOfRange, "%s must be from %d to %d, not %s", name, low, high, short(v))
		return low
	}
	return n
}

// oneOf returns one of the allowed words; if it is none, that is a problem, and the result the first.
func (b *binder) oneOf(name string, allowed ...string) string {
	v, ok := b.text(name)
	switch {
	case ok && slices.Contains(allowed, v):
		return v
	case ok:
		b.failf(name, problem.Malformed, "%s must be %s, not %q", name, models.OrList(allowed), short(v))
	}
	return allowed[0]
}

func (b *binder) ascending() bool { return b.oneOf("order", "desc", "asc") == "asc" }

// dates returns the inclusive bounds from and to; those of all draws, where they are left out or lie beyond.
func (b *binder) dates() (from, to models.Date) {
	from, to = math.MinInt32, math.MaxInt32
	if v, ok := b.text("from"); ok {
		from = b.date("from", v)
	}
	if v, ok := b.text("to"); ok {
		to = b.date("to", v)
	}
	if from > to && !b.wrong("to") { // if to is wrong or repeated, there is no telling what it should be
		b.failf("from", problem.OutOfRange, "from (%s) is after to (%s)", from, to)
	}
	return max(from, models.FirstDate), min(to, models.LastDate)
}

// date returns the date that value is; if it is none, that is a problem, and the result the first date of all. A day on
// which no draw can be, such as 9999-12-31 for "until whenever", is a date like any other.
func (b *binder) date(name, value string) models.Date {
	d, err := models.ParseDate(value)
	if err == nil || errors.Is(err, models.ErrDateRange) {
		return d
	}
	b.failf(name, problem.Malformed, "%s: %s", name, shortDate(value, err))
	return models.FirstDate
}

// shortDate returns ParseDate's message, or one that does not repeat a very long value or a key.
func shortDate(value string, err error) string {
	if len(value) <= 40 && short(value) == value {
		return err.Error()
	}
	return strconv.Quote(short(value)) + " is not a date in the form YYYY-MM-DD"
}

// digits returns a string of least to most ASCII digits.
func (b *binder) digits(name string, least, most int) string {
	v, ok := b.text(name)
	if !ok {
		return ""
	}
	form := strconv.Itoa(least) + " to " + strconv.Itoa(most)
	if least == most {
		form = strconv.Itoa(most)
	}
	switch {
	case strings.Trim(v, "0123456789") != "":
		b.failf(name, problem.Malformed, "%s must consist of %s digits, not %q", name, form, short(v))
		return ""
	case len(v) < least || len(v) > most:
		b.failf(name, problem.OutOfRange, "%s must have %s digits, not %d", name, form, len(v))
		return ""
	}
	return v
}
