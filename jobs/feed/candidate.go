// Package feed is what the parsers of the lotteries' published forms share: the normalised row (Candidate), the form
// itself (Form), and the reading of lines, quoted fields, headers and dates.
//
// A parser only reads. It hands every draw that a file seems to hold to the importer as a Candidate with the fields as
// published; only the importer decides whether to accept it, so that all feeds share one order of reasons
// (models.ReasonMalformed … models.ReasonConflict). Titles, blank lines, headers and disclaimers give no candidate; a
// line that looks like data but cannot be read gives a malformed one, so that nothing disappears silently.
package feed

import (
	"fmt"
	"strconv"
	"strings"

	"lottery/models"
)

// Cell is one field as published: the column's name (or its 1-based number if the form has no names) and the text in
// it.
type Cell struct {
	Column string
	Value  string
}

// Blank reports whether c holds nothing but spaces.
func (c Cell) Blank() bool { return strings.TrimSpace(c.Value) == "" }

// The add-ons in the lotteries' forms.
const (
	Fireball  = "fireball"  // Texas, North Carolina, Virginia: one digit
	Booster   = "booster"   // New York: the multiplier as published
	GreenBall = "greenball" // North Carolina Pick 3: True or False
)

// Addon is an add-on ball or multiplier: a lower-case name and the value as published.
type Addon struct {
	Name  string
	Value string
}

// Candidate is one draw that a file seems to hold, not yet checked against its game. Parsers yield candidates in the
// order of their lines and, within a line, of their columns.
type Candidate struct {
	Line int    // 1-based physical line where the row begins
	Raw  string // that line (of JSON: what is known of the record), for the report of a malformed one

	// Malformed says why the row cannot be read, and MalformedCell which field of it (no column = the whole row, in
	// Raw). If Malformed is not empty, only Line and the cells that identify the draw are meaningful besides.
	Malformed     string
	MalformedCell Cell

	DateCell Cell
	Date     models.Date
	DateOK   bool // Date is a day of the calendar from models.FirstDate on

	GameCell   Cell
	GameID     string
	GameUntold bool // the file has not named its game up to here (Virginia)

	TodCell Cell
	Tod     models.Tod // 0 = blank, or no time of day of this form

	NumberCell Cell   // in a form with one field per ball: the first wrong ball, else the first ball's column
	Number     string // the digits, trimmed and joined; "" if a ball is not one digit
	Balls      bool   // published ball by ball: 0,3,4
	Padded     bool   // leading zeros may be lost: pad a shorter number (New York only)

	SumCell Cell // the published sum to check; blank = nothing to check

	Sequence int // 1…models.MaxSequence
	Addons   []Addon
}

// Reset empties c for the given line, reusing its memory.
func (c *Candidate) Reset(line int, raw string) {
	*c = Candidate{Line: line, Raw: raw, Sequence: 1, Addons: c.Addons[:0]}
}

// Identity identifies the draw, as far as it can be read and independently of its place in the file.
func (c *Candidate) Identity() string {
	if c.Malformed != "" {
		return Shown(c.Raw)
	}
	return Shown(strings.Join([]string{
		c.GameID, c.DateCell.Value, c.TodCell.Value, c.NumberCell.Column, c.NumberCell.Value, strconv.Itoa(c.Sequence),
	}, " "))
}

// Fail marks c as malformed because of a field. The first fault stands; later calls do nothing.
func (c *Candidate) Fail(cell Cell, detail string) {
	if c.Malformed == "" {
		c.Malformed, c.MalformedCell = detail, cell
	}
}

// FailRow marks c as malformed as a whole, as Fail does.
func (c *Candidate) FailRow(detail string) { c.Fail(Cell{Value: c.Raw}, detail) }

// AddAddon adds a value to c, trimmed, unless it is blank. It makes c malformed if no database or report could return
// the value unchanged (control characters, broken UTF-8, over maxAddonValue bytes), or if a Fireball is not exactly one
// digit: then the columns are not where they were assumed to be.
func (c *Candidate) AddAddon(name string, cell Cell) {
	value := strings.TrimSpace(cell.Value)
	switch {
	case value == "":
	case name == Fireball && !oneDigit(value):
		c.Fail(cell, "a Fireball is one digit or blank")
	case len(value) > maxAddonValue || !printable(value):
		c.Fail(cell, fmt.Sprintf("an add-on is plain text of at most %d bytes", maxAddonValue))
	default:
		c.Addons = append(c.Addons, Addon{name, value})
	}
}

// SetBalls joins the balls into c.Number. Each must be exactly one digit, apart from spaces; the first that is not
// becomes NumberCell, and Number stays empty.
func (c *Candidate) SetBalls(balls []Cell) {
	c.Balls = true
	joined := make([]byte, 0, 2*models.MaxDigits)
	for _, ball := range balls {
		value := strings.TrimSpace(ball.Value)
		if !oneDigit(value) {
			c.NumberCell, c.Number = ball, ""
			return
		}
		joined = append(joined, value[0])
	}
	c.Number = string(joined)
	if len(balls) > 0 {
		c.NumberCell = Cell{balls[0].Column, WithCommas(c.Number)}
	}
}

// WithCommas writes a number as the forms with one field per ball publish it: 034 → 0,3,4.
func WithCommas(number string) string {
	return strings.Join(strings.Split(number, ""), ",")
}
