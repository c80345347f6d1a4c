// Package texas parses the winning numbers of the Texas Lottery: CSV without a header, one file per game and time of
// day, `Pick 3 Morning,M,D,YYYY,d1,d2,d3,sum,fireball`, where the last columns may be blank or absent.
package texas

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

// Form is the feed "tx-lottery".
//
// The game is tx- and the words of the first field before the tod (Pick 3 Morning → tx-pick-3); the number in them is
// how many balls follow the date. After the balls, position counts: first the sum, which is not checked, then the
// Fireball; anything further must be blank.
//
// A line is data if it begins with a game's name and also has the game's time of day, its beginning, or a field that
// begins with a digit; if it has seven or more fields, of which any after the first begins with a digit; if it has five
// or more, of which all after the first do; or if its words, whatever separates them, are those of a draw (holdsDraw).
// All other lines are titles and skipped, except one that may be a row within markup, or at which the text ends within a
// row. So is a line of column names: one that has Month, Day and Year in their places and does not begin with a game's
// name. Rejections name columns by number.
var Form = feed.Form{
	Feed:     models.FeedTexas,
	Expected: "lines such as Pick 3 Morning,9,30,2024,1,2,3,6,4",
	Dates:    "9,30,2024",
	Whole:    true,
	Parse:    parse,
}

const (
	dateFields = 4 // the name, month, day, year
	dataFields = 7 // a line with this many is data, whatever it begins with
)

// knownGame matches the name of a digit game: the game's own words, the number of its balls, and the rest.
var knownGame = regexp.MustCompile(`(?i)^\s*((?:pick|daily)\s*(\d{1,2}))(?:\s+(.*))?$`)

// namedLine matches a line that begins with a game's name, whatever follows; the submatch is the rest without the time
// of day.
var namedLine = regexp.MustCompile(`(?i)^\W*(?:pick|daily)\W*\d{1,2}\b(?:\W+(?:morning|day|evening|night)\b)?(.*)$`)

// yearDate matches a date with a four-digit year.
var yearDate = regexp.MustCompile(`^\d{1,2}[/.-]\d{1,2}[/.-]\d{4}$`)

func parse(f feed.Form, r *bufio.Reader, yield func(*feed.Candidate) error) (int, error) {
	var (
		lines  = feed.NewLines(r)
		c      feed.Candidate
		fields []string
		row    string // the last line of data
	)
	return lines.Each(func(line feed.Line) error {
		var fault string
		fields, fault = feed.SplitFields(fields[:0], line.Text)
		switch {
		case line.Fault != "":
			fault = line.Fault
		case looksLikeData(line.Text, fields, fault == ""):
			row = line.Text
		case line.Open && strings.HasPrefix(row, line.Text) && strings.TrimSpace(line.Text) != "":
			fault = "the file ends here, within a row: get it again"
		case feed.InMarkup(line.Text):
			fault = feed.FaultMarkup
		default:
			f.Skip(line)
			return nil
		}
		c.Reset(line.Number, line.Text)
		if fault != "" {
			c.FailRow(fault)
		} else {
			read(&c, fields)
		}
		return yield(&c)
	})
}

func looksLikeData(text string, fields []string, split bool) bool {
	if !split {
		first, _, _ := strings.Cut(text, ",")
		return strings.Count(text, ",")+1 >= dataFields || knownGame.MatchString(strings.Trim(first, `" `))
	}
	var digits int
	for _, f := range fields[1:] {
		if feed.BeginsWithDigit(f) {
			digits++
		}
	}
	name := strings.Join(feed.Words(fields[0]), " ")
	known := knownGame.FindStringSubmatch(name)
	switch {
	case known != nil && (digits > 0 || cutOff(known[3])),
		digits > 0 && len(fields) >= dataFields && !namesDate(fields[1:dateFields]),
		digits >= dateFields && digits == len(fields)-1:
		return true
	default:
		return holdsDraw(text)
	}
}

// cutOff reports whether rest, which follows a game's own name, is a time of day or the beginning of one: Pick 3 Mor.
func cutOff(rest string) bool {
	return rest != "" && slices.ContainsFunc([]string{"Morning", "Day", "Evening", "Night"}, func(tod string) bool { return strings.HasPrefix(tod, rest) })
}

// holdsDraw reports whether a line that is not divided into fields has the words of a draw: after a game's name, at
// least two numbers and fewer words that are not; without a name, at least five numbers and nothing else. A title has a
// year, one or two dates, or a clock time. A dash between words counts as one that is no number, since titles have them
// (Pick 3 Results 2013 - 2016), unless there are no others and at least four numbers.
func holdsDraw(text string) bool {
	fewest := dateFields + 1
	m := namedLine.FindStringSubmatch(text)
	if m != nil {
		text, fewest = m[1], 2
	}
	words, numbers, dates, dashes := feed.Words(text), 0, 0, 0
	for _, w := range words {
		w = strings.Trim(w, ":")
		date := yearDate.MatchString(w)
		if date {
			dates++
		}
		if feed.BeginsWithDigit(w) && !strings.Contains(w, ":") && (!date || dates == 1) {
			numbers++
		}
	}
	for w := range strings.FieldsSeq(text) {
		if strings.Trim(w, "-–—") == "" {
			dashes++
		}
	}
	others := len(words) - numbers
	return numbers >= fewest && (others == 0 && (dashes == 0 || numbers >= dateFields) || m != nil && others+dashes < numbers)
}

// namesDate reports whether the fields of a date are column names: the files come without a header, but some programs
// add one.
func namesDate(fields []string) bool {
	return slices.EqualFunc(fields, []string{"month", "day", "year"}, func(field, name string) bool { return feed.FoldName(field) == name })
}

// read fills c from the fields of a line that looks like data.
func read(c *feed.Candidate, fields []string) {
	game, tod, balls := splitName(fields[0])
	if balls == 0 { // the importer will reject the game as unknown; here all further fields count as balls
		balls = max(0, len(fields)-dateFields)
	}
	if need := dateFields + balls; len(fields) < need {
		c.FailRow(fmt.Sprintf("the line has %s; the game's name, month, day, year and the balls make %d", models.Count(len(fields), "field"), need) +
			feed.Undivided(fields, c.Raw))
		return
	}
	c.GameCell, c.GameID = cell(fields, 0), game
	c.TodCell, c.Tod = cell(fields, 0), tod

	month, day, year := strings.TrimSpace(fields[1]), strings.TrimSpace(fields[2]), strings.TrimSpace(fields[3])
	c.DateCell = feed.Cell{Column: "2", Value: strings.Join(fields[1:dateFields], ",")}
	c.Date, c.DateOK = feed.CivilDate(month, day, year)

	cells := make([]feed.Cell, balls)
	for i := range cells {
		cells[i] = cell(fields, dateFields+i)
	}
	c.SetBalls(cells)

	fireball := dateFields + balls + 1 // after the sum
	for i := fireball; i < len(fields); i++ {
		switch at := cell(fields, i); {
		case i == fireball:
			c.AddAddon(feed.Fireball, at)
		case !at.Blank():
			c.Fail(at, "nothing is known to follow the Fireball")
		}
	}
}

// cell returns field i (from 0) with its column number (from 1).
func cell(fields []string, i int) feed.Cell {
	return feed.Cell{Column: strconv.Itoa(i + 1), Value: fields[i]}
}

// splitName splits a first field: "Daily 4 Night" → tx-daily-4, Night, 4. tod is 0 if it is missing or unknown, balls
// is 0 if the game is not a known digit game.
func splitName(name string) (game string, tod models.Tod, balls int) {
	name = strings.Join(strings.Fields(name), " ")
	if m := knownGame.FindStringSubmatch(name); m != nil {
		tod, _ = models.ParseTod(strings.TrimSpace(m[3]))
		if balls, _ = strconv.Atoi(m[2]); balls > models.MaxDigits {
			balls = 0
		}
		return "tx-" + feed.Kebab(m[1]), tod, balls
	}
	words := strings.Fields(name)
	if last := len(words) - 1; last > 0 {
		if tod, ok := models.ParseTod(words[last]); ok {
			return "tx-" + feed.Kebab(strings.Join(words[:last], " ")), tod, 0
		}
	}
	return "tx-" + feed.Kebab(name), 0, 0
}
