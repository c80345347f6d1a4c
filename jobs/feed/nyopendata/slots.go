// Package nyopendata parses New York's dataset hsys-3def (New York Numbers and Win 4) as data.ny.gov publishes
// it: the CSV export, and the JSON of the Socrata Open Data API (SODA).
package nyopendata

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"lottery/jobs/feed"
	"lottery/models"
)

// Form is the feed "ny-open-data".
//
// A row holds the four draws of one date: two games at two times of day, each with an optional Sum and Booster (kept as
// the add-on "booster"). A blank number, also one of spaces, is no draw; but next to a Sum it is a draw without its
// digits (bad_digits). Parts of the dataset have lost leading zeros, so shorter numbers are padded; the Sum, if given,
// guards against padding a number that was cut off. Columns are found by name, in any order and in the spelling of
// either form ("Midday Win 4 #", midday_win_4). Sum and Booster columns may be missing; further columns and keys are
// not read, but reported. Dates are M/D/YYYY or SODA's midnight timestamps.
var Form = feed.Form{
	Feed:     models.FeedNYOpenData,
	Expected: "the dataset hsys-3def of data.ny.gov: CSV with the header Draw Date,Midday Daily #,Evening Daily #,Midday Win 4 #,Evening Win 4 #, or a JSON array of records",
	Dates:    "09/30/2024, or as 2024-09-30T00:00:00.000",
	Whole:    true,
	Parse:    parse,
}

func parse(f feed.Form, r *bufio.Reader, yield func(*feed.Candidate) error) (int, error) {
	head, err := r.Peek(feed.Sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if head = bytes.TrimSpace(head); len(head) > 0 && (head[0] == '[' || head[0] == '{') {
		return parseJSON(f, r, yield)
	}
	return parseCSV(f, r, yield)
}

const dateColumn = "drawdate" // folded, like the columns below

// slot is one of the four draws of a row.
type slot struct {
	game   string
	tod    models.Tod
	key    string // SODA's name of the number; its sum and booster are key + "_sum" and + "_booster"
	column string // key, folded, as a column is found: with "sum" and "booster" for the other two
}

var slots = [...]slot{
	{"ny-numbers", models.Midday, "midday_daily", "middaydaily"},
	{"ny-numbers", models.Evening, "evening_daily", "eveningdaily"},
	{"ny-win-4", models.Midday, "midday_win_4", "middaywin4"},
	{"ny-win-4", models.Evening, "evening_win_4", "eveningwin4"},
}

// cells holds a row's fields for one slot.
type cells struct {
	slot                 slot
	number, sum, booster feed.Cell
	fault                string    // why a field cannot be read; "" = all fields can
	faulty               feed.Cell // that field
}

// yieldRow yields the draws of one row.
func yieldRow(c *feed.Candidate, line int, raw string, date feed.Cell, row []cells, yield func(*feed.Candidate) error) error {
	for i := range row {
		at := &row[i]
		if at.number.Blank() && at.sum.Blank() && at.fault == "" {
			continue
		}
		c.Reset(line, raw)
		c.DateCell = date
		c.Date, c.DateOK = parseDate(date.Value)
		c.GameCell, c.GameID = feed.Cell{Column: at.number.Column, Value: at.slot.game}, at.slot.game
		c.TodCell, c.Tod = feed.Cell{Column: at.number.Column, Value: at.slot.tod.String()}, at.slot.tod
		c.NumberCell, c.Number, c.Padded = at.number, strings.TrimSpace(at.number.Value), true
		c.SumCell = at.sum
		c.AddAddon(feed.Booster, at.booster)
		if at.fault != "" {
			c.Fail(at.faulty, at.fault)
		}
		if err := yield(c); err != nil {
			return err
		}
	}
	return nil
}

// parseDate reads M/D/YYYY, or a SODA timestamp, which must be midnight: 2020-09-24T00:00:00.000.
func parseDate(s string) (models.Date, bool) {
	s = strings.TrimSpace(s)
	if day, clock, ok := strings.Cut(s, "T"); ok {
		date, ok := feed.ParseISODate(day)
		return date, ok && (clock == "00:00:00.000" || clock == "00:00:00")
	}
	return feed.ParseUSDate(s)
}
