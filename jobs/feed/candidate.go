// Package feed is what the parsers of the lotteries' published forms share: the normalised row (Candidate),
// the form itself (Form), and the reading of lines, quoted fields, headers and dates.
//
// A parser only reads. It hands every draw that a file seems to hold to the importer as a Candidate with the
// fields as published, and the importer alone decides whether it is taken, so that one order of reasons
// (models.ReasonMalformed … models.ReasonConflict) holds for all feeds. Titles, blank lines, headers and
// disclaimers give no candidate; a line that looks like data and cannot be read gives a malformed one, so that
// nothing disappears without a word.
package feed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lottery/models"
)

// Cell is one field as it was published: the column's name (or its 1-based number where the form has no
// names) and the text in it.
type Cell struct {
	Column string
	Value  string
}

// Blank tells whether c holds nothing but spaces.
func (c Cell) Blank() bool { return strings.TrimSpace(c.Value) == "" }

// The add-ons that the lotteries' forms have.
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

// Candidate is one draw that a file seems to hold, not yet checked against its game.
// Parsers hand candidates out in the order of their lines and, within a line, of their columns.
type Candidate struct {
	Line int    // 1-based physical line where the row begins
	Raw  string // that line (of JSON: what is known of the record), for the report of a malformed one

	// Malformed says why the row cannot be read, and MalformedCell which field of it (no column = the row as a whole,
	// Raw). Where Malformed is not empty, only Line counts besides, and the cells that tell which draw it is.
	Malformed     string
	MalformedCell Cell

	DateCell Cell
	Date     models.Date
	DateOK   bool // Date is a day of the calendar from models.FirstDate on

	GameCell   Cell
	GameID     string
	GameUntold bool // the file does not tell its game, or not up to here (Virginia)

	TodCell Cell
	Tod     models.Tod // 0 = blank, or no time of day of this form

	NumberCell Cell   // of a form with a field a ball: the first wrong ball, else the first ball's column
	Number     string // the digits, trimmed and joined; "" where a ball is not one digit
	Balls      bool   // published ball by ball: 0,3,4
	Padded     bool   // leading zeros may be lost: a shorter number is to be padded (New York only)

	SumCell Cell // the published sum to check; blank = nothing to check

	Sequence int // 1…models.MaxSequence
	Addons   []Addon
}

// Reset makes c an empty candidate of the given line, keeping its memory.
func (c *Candidate) Reset(line int, raw string) {
	*c = Candidate{Line: line, Raw: raw, Sequence: 1, Addons: c.Addons[:0]}
}

// Identity tells which draw c is, as far as that can be read, wherever in the file it stands.
func (c *Candidate) Identity() string {
	if c.Malformed != "" {
		return Shown(c.Raw)
	}
	return Shown(strings.Join([]string{
		c.GameID, c.DateCell.Value, c.TodCell.Value, c.NumberCell.Column, c.NumberCell.Value, strconv.Itoa(c.Sequence),
	}, " "))
}

// Fail marks c as malformed by one of its fields, unless it already is: the first fault stands.
func (c *Candidate) Fail(cell Cell, detail string) {
	if c.Malformed == "" {
		c.Malformed, c.MalformedCell = detail, cell
	}
}

// FailRow marks c as malformed as a whole, as Fail does.
func (c *Candidate) FailRow(detail string) { c.Fail(Cell{Value: c.Raw}, detail) }

// AddAddon adds a value to c unless it is blank; spaces around it go. Values that no database or report could
// give back as they were (control characters, broken UTF-8, over maxAddonValue bytes) make c malformed, and so
// does a Fireball of anything but one digit: the columns are then not where they are thought to be.
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

// SetBalls joins the balls into c.Number. Each must be exactly one digit (spaces around it aside); the first
// that is not becomes the NumberCell and leaves Number empty.
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

// Clone is a copy of c that outlives the parser's next step.
func (c *Candidate) Clone() Candidate {
	copied := *c
	copied.Addons = slices.Clone(c.Addons)
	return copied
}

// WithCommas writes a number as the ball-by-ball forms publish it: 034 → 0,3,4.
func WithCommas(number string) string {
	return strings.Join(strings.Split(number, ""), ",")
}
