package importer

import (
	"fmt"
	"strings"
	"time"

	"lottery/jobs/feed"
	"lottery/models"
)

// knownGame is a game with what the checks need.
type knownGame struct {
	models.Game
	tomorrow models.Date // in the game's zone: the last date a draw may have
}

// gameTable holds the database's games as of the start of the command.
type gameTable struct {
	games       []knownGame
	index       map[string]int
	tomorrowUTC models.Date
	dates       string // how the feed writes dates
}

func newGameTable(games []models.Game, now time.Time, dates string) *gameTable {
	t := &gameTable{index: make(map[string]int, len(games)), tomorrowUTC: models.DateOf(now.UTC()) + 1, dates: dates}
	for _, g := range games {
		known := knownGame{g, t.tomorrowUTC}
		if loc, err := g.Location(); err == nil {
			known.tomorrow = models.DateOf(now.In(loc)) + 1
		}
		t.index[g.ID] = len(t.games)
		t.games = append(t.games, known)
	}
	return t
}

// fault is why a candidate is rejected.
type fault struct {
	reason models.Reason
	cell   feed.Cell
	detail string
}

// check returns the index of c's game and its packed number, or the first applicable reason, in the order of the
// reasons. The last reason, conflict, is left to the plan.
func (t *gameTable) check(c *feed.Candidate) (game int, number uint64, f *fault) {
	if c.Malformed != "" {
		return 0, 0, &fault{models.ReasonMalformed, c.MalformedCell, c.Malformed}
	}
	if !c.DateOK {
		return 0, 0, &fault{models.ReasonBadDate, c.DateCell, fmt.Sprintf("not a calendar date from %s on, written as %s", models.FirstDate, t.dates)}
	}
	game, known := t.index[c.GameID]
	last := t.tomorrowUTC
	if known {
		last = t.games[game].tomorrow
	}
	if c.Date > min(last, models.LastDate) {
		return 0, 0, &fault{models.ReasonFutureDate, c.DateCell, fmt.Sprintf("the latest possible draw date is %s", last)}
	}
	switch {
	case c.GameUntold && c.Tod == 0:
		return 0, 0, &fault{models.ReasonBadTod, c.TodCell, "not a time of day of this feed"}
	case c.GameUntold:
		return 0, 0, &fault{models.ReasonBadDigits, c.NumberCell, "neither a title nor the digits of most draws show which game this is: start the file with a line such as Results for Pick 3"}
	case !known:
		return 0, 0, &fault{models.ReasonUnknownGame, c.GameCell, fmt.Sprintf("this database has no game %q: check the spelling, or add it with `lotteryadmin games add`",
			feed.Shown(c.GameID))}
	}
	g := &t.games[game]
	if c.Tod == 0 || !g.Tods.Has(c.Tod) {
		return 0, 0, &fault{models.ReasonBadTod, c.TodCell, fmt.Sprintf("not one of the times of day of %s: %s", g.Name, g.Tods)}
	}
	digits := c.Number
	if c.Padded && digits != "" && len(digits) < g.Digits {
		digits = strings.Repeat("0", g.Digits-len(digits)) + digits
	}
	number, ok := packNumber(digits, g.Digits)
	if !ok {
		return 0, 0, &fault{models.ReasonBadDigits, c.NumberCell, g.Name + " draws " + models.Count(g.Digits, "digit")}
	}
	if !c.SumCell.Blank() && !sumIs(c.SumCell.Value, models.DigitsSum(digits)) {
		return 0, 0, &fault{models.ReasonSumMismatch, c.SumCell, fmt.Sprintf("the digits %s add up to %d", digits, models.DigitsSum(digits))}
	}
	return game, number, nil
}

// strangers returns the fault of a draw of another game than the file's: either its form was misread, or the lottery
// sent another file.
func strangers(c *feed.Candidate, game string) *fault {
	cell := c.GameCell
	if cell.Blank() {
		cell = c.NumberCell
	}
	return &fault{models.ReasonUnknownGame, cell, fmt.Sprintf("a draw of %s, where those of %s are expected", c.GameID, game)}
}

// sumIs reports whether text is sum in plain digits.
func sumIs(text string, sum int) bool {
	text = strings.TrimSpace(text)
	packed, ok := packNumber(text, len(text))
	return ok && packed == uint64(sum)
}

// readable reports whether a rejected candidate was still a draw, because it could be read as far as its date: a file
// of only such candidates is not one that holds no draw. With a bad date it does not count: another lottery's file may
// have anything in that place.
func readable(reason models.Reason) bool {
	return reason != models.ReasonMalformed && reason != models.ReasonBadDate
}
