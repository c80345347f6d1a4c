// Package generic parses the product's own form, which `lotteryadmin draws export` writes: CSV with a header that
// contains game,date,tod,number and optionally sequence and any add-on columns, in any order.
package generic

import (
	"bufio"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lottery/jobs/feed"
	"lottery/models"
)

// Form is the feed "csv".
//
// Column names are compared in lower case; a duplicate or empty name is an error. Dates are YYYY-MM-DD, tods
// capitalised (models.ParseTod), numbers have exactly the game's digits. A blank sequence is 1. Every further column is
// an add-on; a blank value means none. A row with a different number of fields than the header is malformed, unless it
// is a title or a disclaimer: no game id is in the game's column, no field begins with a digit, and its words, whatever
// separates them, are not those of a draw (holdsDraw). Another header may follow, with other columns.
var Form = feed.Form{
	Feed:     models.FeedCSV,
	Expected: "CSV with the header game,date,tod,number (and, optionally, sequence and add-on columns)",
	Dates:    "2024-09-30",
	Parse:    parse,
}

// columns holds the indexes of the columns; sequence may be -1.
type columns struct {
	game, date, tod, number, sequence int
	addons                            []addonColumn
	all                               int // how many columns the header has
}

type addonColumn struct {
	name  string
	index int
}

func parse(f feed.Form, r *bufio.Reader, yield func(*feed.Candidate) error) (int, error) {
	var c feed.Candidate
	return f.ReadTable(r, &feed.Table{
		Fold: strings.ToLower,
		Open: func(h *feed.Header) (*feed.Rows, error) {
			cols, ok := findColumns(h)
			if !ok {
				return nil, nil
			}
			if err := cols.findAddons(h); err != nil {
				return nil, err
			}
			return &feed.Rows{
				Date:   cols.date,
				Begins: cols.begin,
				Read: func(line feed.Line, fields []string) error {
					c.Reset(line.Number, line.Text)
					cols.read(&c, h, fields)
					return yield(&c)
				},
			}, nil
		},
	}, yield)
}

func findColumns(h *feed.Header) (cols columns, ok bool) {
	cols = columns{
		game: h.Column("game"), date: h.Column("date"), tod: h.Column("tod"),
		number: h.Column("number"), sequence: h.Column("sequence"), all: len(h.Names),
	}
	return cols, min(cols.game, cols.date, cols.tod, cols.number) >= 0
}

// begin reports whether a line looks like a row: a game id where it belongs, perhaps cut off behind a hyphen, a field
// that begins with a digit, or a draw that is not divided into fields.
func (cols *columns) begin(line feed.Line, fields []string) bool {
	if len(fields) == 0 {
		fields = strings.Split(line.Text, ",")
	}
	return slices.ContainsFunc(fields, feed.BeginsWithDigit) ||
		cols.game < len(fields) && models.ValidGameID(strings.TrimSuffix(strings.Trim(fields[cols.game], "\" \t"), "-")) || cols.holdsDraw(line.Text)
}

// dateForm matches the beginning of a date, in ISO form or another.
var dateForm = regexp.MustCompile(`^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}`)

// fewMore is how many more words than columns a row may have: the game's name, of up to four words, may replace its id.
const fewMore = 3

// holdsDraw reports whether the words of a line are those of a draw: not many more than the columns, none of a
// sentence, and either three of game id, date, time of day and number, or a game id and a date alone.
func (cols *columns) holdsDraw(line string) bool {
	words := feed.Words(line)
	if len(words) == 0 || len(words) > cols.all+fewMore || slices.ContainsFunc(words[1:], ofSentence) || !models.ValidGameID(words[0]) && ofSentence(words[0]) {
		return false
	}
	id := models.ValidGameID(words[0]) && strings.ContainsAny(words[0], "-0123456789") || // which other words lack
		slices.ContainsFunc(words, func(s string) bool { return hyphenated(s) && strings.ContainsAny(s, "0123456789") })
	date := slices.ContainsFunc(words, dateForm.MatchString)
	tod := slices.ContainsFunc(words, isTod)
	number := slices.ContainsFunc(words, func(s string) bool { return len(s) > 1 && models.ValidNumber(s) })
	if len(words) == 2 {
		return id && date && strings.ContainsAny(words[0], "0123456789")
	}
	return id && date && (tod || number) || number && tod && (id || date)
}

// ofSentence reports whether a word cannot be a game's id, or part of the name of a game or a time of day.
func ofSentence(word string) bool {
	return word[0] >= 'a' && word[0] <= 'z' && !isTod(word) && !hyphenated(word)
}

// hyphenated reports whether a word may be a game's id wherever it stands: most words of a sentence have no hyphen.
func hyphenated(word string) bool {
	return models.ValidGameID(word) && word[0] >= 'a' && strings.Contains(word, "-")
}

// isTod reports whether a word is a time of day, ignoring case.
func isTod(word string) bool {
	_, ok := models.ParseTod(strings.ToUpper(word[:1]) + strings.ToLower(word[1:]))
	return ok
}

// findAddons treats every further column as an add-on.
func (cols *columns) findAddons(h *feed.Header) error {
	if err := h.Distinct(); err != nil {
		return err
	}
	for i, name := range h.Names {
		switch i {
		case cols.game, cols.date, cols.tod, cols.number, cols.sequence:
			continue
		}
		kept := strings.ToLower(name) // may become longer; exports must be importable again
		if !feed.ValidAddonName(kept) {
			return models.Errorf(models.CodeInvalid,
				"column %d of the header, %q, cannot name an add-on: give it a name of plain text, at most %d bytes in lower case, or remove it",
				i+1, feed.Shown(name), feed.MaxAddonName)
		}
		cols.addons = append(cols.addons, addonColumn{kept, i})
	}
	return nil
}

// read fills c from the fields of one complete row.
func (cols *columns) read(c *feed.Candidate, h *feed.Header, fields []string) {
	c.GameCell = h.Cell(fields, cols.game)
	c.GameID = strings.TrimSpace(c.GameCell.Value)

	c.DateCell = h.Cell(fields, cols.date)
	c.Date, c.DateOK = feed.ParseISODate(strings.TrimSpace(c.DateCell.Value))

	c.TodCell = h.Cell(fields, cols.tod)
	c.Tod, _ = models.ParseTod(strings.TrimSpace(c.TodCell.Value))

	c.NumberCell = h.Cell(fields, cols.number)
	c.Number = strings.TrimSpace(c.NumberCell.Value)

	if cell := h.Cell(fields, cols.sequence); !cell.Blank() {
		sequence, ok := parseSequence(cell.Value)
		if !ok {
			c.Fail(cell, fmt.Sprintf("a sequence is a number from 1 to %d, or blank for 1", models.MaxSequence))
		}
		c.Sequence = sequence
	}
	for _, col := range cols.addons {
		c.AddAddon(col.name, feed.Cell{Column: h.Names[col.index], Value: fields[col.index]})
	}
}

// parseSequence reads 1…models.MaxSequence in plain digits.
func parseSequence(s string) (int, bool) {
	s = strings.TrimSpace(s)
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= models.MaxSequence && models.ValidNumber(s)
}
