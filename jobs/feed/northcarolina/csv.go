// Package northcarolina parses the downloads of the North Carolina Education Lottery: CSV, every field quoted, CRLF,
// one file per game, with a blank line and a disclaimer at the end.
package northcarolina

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"lottery/jobs/feed"
	"lottery/models"
)

// Form is the feed "nc-lottery".
//
// The game is nc-pick-N, where N is how many columns "Ball 1", "Ball 2", … the header has. Day/Eve is D or E; a blank
// one is never inferred. DoubleDraw* D is the second honoured draw of its slot (sequence 2); blank, W (Whiteball) and R
// (Redball) are the first. Fireball and GreenBall are add-ons, kept as published. A row has exactly the header's
// fields; titles and disclaimers are skipped. Another header may follow, of the same game or another. Further columns
// are not read, but reported.
var Form = feed.Form{
	Feed:     models.FeedNC,
	Expected: `CSV with the header "Date","Day/Eve","Ball 1","Ball 2","Ball 3","Fireball" (as many balls as the game has)`,
	Dates:    "09/30/2024",
	Whole:    true,
	Parse:    parse,
}

// columns holds the indexes of the columns; the last three may be -1.
type columns struct {
	date, dayEve                    int
	balls                           []int
	game                            string
	fireball, greenBall, doubleDraw int
}

func parse(f feed.Form, r *bufio.Reader, yield func(*feed.Candidate) error) (int, error) {
	var c feed.Candidate
	return f.ReadTable(r, &feed.Table{
		Fold: feed.FoldName,
		Open: func(h *feed.Header) (*feed.Rows, error) {
			cols, ok := findColumns(h)
			if !ok {
				return nil, nil
			}
			unknown := f.Unknown(h, slices.Concat(cols.balls, []int{cols.date, cols.dayEve, cols.fireball, cols.greenBall, cols.doubleDraw})...)
			return &feed.Rows{
				Date: cols.date,
				Read: func(line feed.Line, fields []string) error {
					c.Reset(line.Number, line.Text)
					cols.read(&c, h, fields)
					unknown(fields)
					return yield(&c)
				},
			}, h.Distinct()
		},
	}, yield)
}

func findColumns(h *feed.Header) (cols columns, ok bool) {
	cols = columns{
		date: h.Column("date"), dayEve: h.Column("day/eve"),
		fireball: h.Column("fireball"), greenBall: h.Column("greenball"), doubleDraw: h.Column("doubledraw"),
	}
	names := map[string]bool{} // of balls; Distinct reports duplicates
	for _, name := range h.Names {
		if folded := feed.FoldName(name); strings.HasPrefix(folded, "ball") {
			names[folded] = true
		}
	}
	numbered := len(names)
	for i := 1; i <= numbered; i++ {
		if at := h.Column(fmt.Sprintf("ball%d", i)); at >= 0 {
			cols.balls = append(cols.balls, at)
		}
	}
	cols.game = fmt.Sprintf("nc-pick-%d", numbered)
	return cols, min(cols.date, cols.dayEve) >= 0 && numbered > 0 && len(cols.balls) == numbered
}

// read fills c from the fields of one complete row.
func (cols *columns) read(c *feed.Candidate, h *feed.Header, fields []string) {
	c.GameCell, c.GameID = feed.Cell{Value: cols.game}, cols.game

	c.DateCell = h.Cell(fields, cols.date)
	c.Date, c.DateOK = feed.ParseUSDate(c.DateCell.Value)

	c.TodCell = h.Cell(fields, cols.dayEve)
	switch strings.TrimSpace(c.TodCell.Value) {
	case "D":
		c.Tod = models.Day
	case "E":
		c.Tod = models.Evening
	}

	balls := make([]feed.Cell, len(cols.balls))
	for i, at := range cols.balls {
		balls[i] = h.Cell(fields, at)
	}
	c.SetBalls(balls)

	c.AddAddon(feed.Fireball, h.Cell(fields, cols.fireball))
	c.AddAddon(feed.GreenBall, h.Cell(fields, cols.greenBall))
	doubleDraw := h.Cell(fields, cols.doubleDraw)
	switch strings.TrimSpace(doubleDraw.Value) {
	case "", "W", "R":
	case "D":
		c.Sequence = 2
	default:
		c.Fail(doubleDraw, "DoubleDraw is W (Whiteball), R (Redball), D (DoubleDraw) or blank")
	}
}
