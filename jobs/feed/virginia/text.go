// Package virginia parses the downloads of the Virginia Lottery: a title, lines such as
// `M/D/YYYY; Day: 0,3,4; Fireball: 5; Night: 2,8,4; Fireball: 2`, and a disclaimer.
package virginia

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

// Form is the feed "va-lottery".
//
// A title "Results for Pick N" sets the game to va-pick-N until the next title. For draws above any title, the game is
// the one whose number of digits more than half of the well-formed draws have, among the first 100 lines or, if those
// do not decide it, further hundreds: one damaged draw, wherever it is, must not decide for all others. A draw with a
// number of digits that no game has is not well-formed. A Fireball belongs to the draw before it.
//
// A line is data if its first segment is a draw or a Fireball, in which case its date is lost; if a later segment reads
// `name: digits`; if the first may be a date in another form and a later one is named Day, Night or Fireball; or if the
// line begins with a digit and any later segment has a colon. Any other line that begins with a digit is malformed; all
// remaining lines are notices and skipped. Something like a date after the first segment means that two lines have
// become one: from there on no segment is taken, since its date is uncertain. Rejections name a draw by its segment's
// name, or by the segment's number if the name is unknown.
var Form = feed.Form{
	Feed:     models.FeedVirginia,
	Expected: `the title "Results for Pick 3" (or 4) and lines such as 9/30/2024; Day: 0,3,4; Fireball: 5; Night: 2,8,4`,
	Dates:    "9/30/2024",
	Whole:    true,
	Parse:    parse,
}

const titlePrefix = "results for "

// dateLike matches dates, even damaged ones, and nothing else in a line: a slash alone may be that of N/A.
var dateLike = regexp.MustCompile(`\d\s*/\s*\d`)

// Virginia draws Pick 3, Pick 4 and Pick 5.
const (
	fewestDigits = 3
	mostDigits   = 5
)

// heldLines is how many lines are examined at once before any is read, while no title names the game.
const heldLines = 100

type parser struct {
	form  feed.Form
	title string      // the title line in force; "" = none yet
	game  string      // "" = not known yet
	held  []feed.Line // lines above any title, waiting until the game is known
	votes [mostDigits + 1]int
	c     feed.Candidate
	open  bool // c is filled but may still get its Fireball
	yield func(*feed.Candidate) error
}

func parse(f feed.Form, r *bufio.Reader, yield func(*feed.Candidate) error) (int, error) {
	lines := feed.NewLines(r)
	p := parser{form: f, yield: yield}
	count, err := lines.Each(p.line)
	if err == nil {
		err = p.release()
	}
	return count, err
}

func (p *parser) line(line feed.Line) error {
	text := strings.TrimSpace(line.Text)
	switch {
	case line.Fault == "" && len(text) > len(titlePrefix) && strings.EqualFold(text[:len(titlePrefix)], titlePrefix):
		if err := p.release(); err != nil {
			return err
		}
		p.title, p.game = text, "va-"+feed.Kebab(text[len(titlePrefix):])
		return nil
	case p.game != "":
		return p.read(line)
	}
	p.held = append(p.held, line)
	if len(p.held) < heldLines {
		return nil
	}
	return p.release()
}

// release lets the draws in the held lines decide the game, and reads those lines. If no number of digits has more than
// half of the draws, the game stays unknown.
func (p *parser) release() error {
	held := p.held
	p.held = nil
	for _, line := range held {
		if err := p.vote(line); err != nil {
			return err
		}
	}
	draws := 0
	for _, n := range p.votes {
		draws += n
	}
	for digits, n := range p.votes {
		if p.game == "" && n > draws-n {
			p.game = fmt.Sprintf("va-pick-%d", digits)
		}
	}
	for _, line := range held {
		if err := p.read(line); err != nil {
			return err
		}
	}
	return nil
}

// vote counts the well-formed draws of line by their digits.
func (p *parser) vote(line feed.Line) error {
	counter := parser{yield: func(c *feed.Candidate) error {
		if n := len(c.Number); c.Malformed == "" && c.DateOK && c.Tod != 0 && n >= fewestDigits && n <= mostDigits {
			p.votes[n]++
		}
		return nil
	}}
	return counter.read(line)
}

// read reads a line that is no title.
func (p *parser) read(line feed.Line) error {
	if line.Fault != "" {
		return p.malformed(line, feed.Cell{Value: line.Text}, line.Fault)
	}
	text := strings.TrimSpace(line.Text)
	segments := strings.Split(text, ";")
	switch {
	case isDraw(segments[0]):
		return p.draws(line, "", segments, 1)
	case hasDraws(segments):
		return p.draws(line, segments[0], segments[1:], 2)
	case feed.BeginsWithDigit(text):
		return p.malformed(line, feed.Cell{Value: line.Text}, "no draw such as Day: 0,3,4 follows the date")
	case feed.InMarkup(text):
		return p.malformed(line, feed.Cell{Value: line.Text}, feed.FaultMarkup)
	default:
		p.form.Skip(line)
		return nil
	}
}

// dateWords matches a first segment that may be a date in another form, after at most one word: three numbers, or the
// name of a month and two numbers.
var dateWords = regexp.MustCompile(`^\W*(?:\pL+\W+)?\d{1,4}\W+\d{1,2}\W+\d{1,4}\W*$|^\W*\pL{3,9}\W+\d{1,2}\W+\d{4}\W*$`)

// isDraw reports whether a segment is a draw or a Fireball. If it is the first, the line has lost its date.
func isDraw(segment string) bool {
	name, value, named := strings.Cut(segment, ":")
	return named && knownName(strings.TrimSpace(name)) && digitsOnly(value)
}

// hasDraws distinguishes data from notices: see Form.
func hasDraws(segments []string) bool {
	dated, perhaps := feed.BeginsWithDigit(segments[0]), dateWords.MatchString(segments[0])
	for _, s := range segments[1:] {
		name, value, ok := strings.Cut(s, ":")
		name = strings.TrimSpace(name)
		if ok && name != "" && (dated || digitsOnly(value) || (perhaps && knownName(name))) {
			return true
		}
	}
	return false
}

// knownName reports whether a segment with that name is part of a draw, ignoring case.
func knownName(name string) bool {
	name = feed.Bare(name)
	return slices.ContainsFunc([]string{"Day", "Night", feed.Fireball}, func(known string) bool { return strings.EqualFold(name, known) })
}

const asciiDigits = "0123456789"

// digitsOnly reports whether s is digits, commas and spaces, with at least one digit.
func digitsOnly(s string) bool {
	return strings.Trim(s, asciiDigits+", \t") == "" && strings.ContainsAny(s, asciiDigits)
}

// draws reads a line of data: a date and its draws, which are the segments from index from on.
func (p *parser) draws(line feed.Line, date string, segments []string, from int) error {
	melted := false
	for i, segment := range segments {
		if strings.TrimSpace(segment) == "" {
			continue
		}
		number := strconv.Itoa(from + i)
		name, value, named := strings.Cut(segment, ":")
		name = strings.TrimSpace(name)
		melted = melted || (strings.Contains(segment, "/") && dateLike.MatchString(segment))
		var err error
		switch {
		case melted:
			err = p.malformed(line, feed.Cell{Column: number, Value: segment},
				"two lines have become one here: which date this belongs to cannot be told; give each line of the file its own again")
		case !named:
			err = p.malformed(line, feed.Cell{Column: number, Value: segment}, fmt.Sprintf("%q is not a draw such as Day: 0,3,4", feed.Shown(strings.TrimSpace(segment))))
		case strings.EqualFold(name, feed.Fireball):
			err = p.fireball(line, feed.Cell{Column: number, Value: value})
		default:
			err = p.draw(line, feed.Cell{Column: "1", Value: date}, feed.Cell{Column: number, Value: name}, value)
		}
		if err != nil {
			return err
		}
	}
	if err := p.close(); err != nil || !line.Open || strings.TrimSpace(segments[len(segments)-1]) != "" {
		return err
	}
	return p.malformed(line, feed.Cell{Column: strconv.Itoa(from + len(segments) - 1)}, "the file ends here, after a semicolon: get it again")
}

// draw yields the open draw, and opens another, which waits for its Fireball.
func (p *parser) draw(line feed.Line, date, name feed.Cell, balls string) error {
	if err := p.close(); err != nil {
		return err
	}
	c := &p.c
	c.Reset(line.Number, line.Text)
	c.DateCell = date
	c.Date, c.DateOK = feed.ParseUSDate(date.Value)
	c.TodCell = name
	switch name.Value {
	case "Day":
		c.Tod = models.Day
	case "Night":
		c.Tod = models.Night
	}
	split := strings.Split(balls, ",")
	cells := make([]feed.Cell, len(split))
	for i, ball := range split {
		cells[i] = feed.Cell{Column: name.Value, Value: ball}
	}
	c.SetBalls(cells)
	if c.Number == "" {
		c.NumberCell.Value = balls // a segment is one field: all of it could not be read
	}
	c.GameCell, c.GameID, c.GameUntold = feed.Cell{Value: p.title}, p.game, p.game == ""
	p.open = true
	return nil
}

// fireball sets the Fireball of the open draw.
func (p *parser) fireball(line feed.Line, cell feed.Cell) error {
	if !p.open {
		return p.malformed(line, cell, "a Fireball stands before any draw")
	}
	for _, a := range p.c.Addons {
		if a.Name == feed.Fireball {
			p.c.Fail(cell, "a second Fireball follows one draw")
			return nil
		}
	}
	p.c.AddAddon(feed.Fireball, cell)
	return nil
}

// close yields the open draw.
func (p *parser) close() error {
	if !p.open {
		return nil
	}
	p.open = false
	return p.yield(&p.c)
}

// malformed yields the open draw, and then a candidate that cannot be read.
func (p *parser) malformed(line feed.Line, cell feed.Cell, detail string) error {
	if err := p.close(); err != nil {
		return err
	}
	c := &p.c
	c.Reset(line.Number, line.Text)
	c.Fail(cell, detail)
	return p.yield(c)
}
