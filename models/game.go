package models

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Game is one digit game of one lottery.
type Game struct {
	ID           string    `gorm:"primaryKey" yaml:"id"`      // lower-case words joined by hyphens: ny-win-4
	Name         string    `yaml:"name"`                      // New York Win 4
	Digits       int       `yaml:"digits"`                    // digits of a number, 1…MaxDigits
	Tods         TodSet    `gorm:"column:tods" yaml:"-"`      // times of day at which it draws or used to draw
	Jurisdiction string    `yaml:"jurisdiction"`              // NY
	Timezone     string    `yaml:"timezone"`                  // IANA name; the zone of its dates
	DrawDays     DrawDays  `gorm:"column:draw_days" yaml:"-"` // when it draws; empty = every day
	Builtin      bool      `gorm:"column:builtin" yaml:"-"`   // ships with the product
	CreatedAt    time.Time `yaml:"-"`
}

var gameIDForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// ValidGameID reports whether s has the form of a game's id. The game need not exist.
func ValidGameID(s string) bool { return len(s) <= 64 && gameIDForm.MatchString(s) }

// Type is the game type: pick + the number of digits.
func (g *Game) Type() string { return "pick" + strconv.Itoa(g.Digits) }

// Location returns the game's time zone.
func (g *Game) Location() (*time.Location, error) {
	loc, err := time.LoadLocation(g.Timezone)
	if err != nil || g.Timezone == "" || g.Timezone == "Local" {
		return nil, Errorf(CodeInvalid, "%q is not a time zone from the IANA database, such as America/New_York", g.Timezone)
	}
	return loc, nil
}

// Validate returns the first problem with g, or nil.
func (g *Game) Validate() error {
	switch {
	case !ValidGameID(g.ID):
		return Errorf(CodeInvalid, "game ID %q must be lowercase words or numbers joined by single hyphens, at most 64 characters", g.ID)
	case g.ID == "all":
		return Errorf(CodeInvalid, `game id "all" stands for answers that span games: choose another`)
	case g.Digits < 1 || g.Digits > MaxDigits:
		return Errorf(CodeInvalid, "a game has 1 to %d digits, not %d", MaxDigits, g.Digits)
	case g.Tods.Len() == 0:
		return Errorf(CodeInvalid, "a game needs at least one time of day")
	}
	if err := CheckText("a game's name", g.Name, 1, 100); err != nil {
		return err
	}
	if strings.ContainsRune("=+-@", rune(g.Name[0])) {
		return Errorf(CodeInvalid, "a game's name must not begin with %q: it is in customers' CSV files, and spreadsheets would take it for a formula", g.Name[:1])
	}
	if err := CheckText("a game's jurisdiction", g.Jurisdiction, 1, 20); err != nil {
		return err
	}
	_, err := g.Location()
	return err
}

// DrawPeriod is a span of dates during which a game draws on the same weekdays.
type DrawPeriod struct {
	From   *Date    `json:"from,omitempty" yaml:"from"`     // first day; nil = open
	To     *Date    `json:"to,omitempty" yaml:"to"`         // last day; nil = open
	Tods   []string `json:"tods,omitempty" yaml:"tods"`     // times of day that it covers; none = all of the game's
	Days   []string `json:"days,omitempty" yaml:"days"`     // weekdays, three letters (Mon); none = every day
	Except []string `json:"except,omitempty" yaml:"except"` // days of the year without a draw, as MM-DD
}

// DrawDays is when a game draws. Empty means every tod on every day. It is stored as JSON.
type DrawDays []DrawPeriod

// On returns which of the game's tods should be drawn on d.
func (days DrawDays) On(d Date, all TodSet) TodSet {
	if len(days) == 0 {
		return all
	}
	var set TodSet
	for i := range days {
		set |= days[i].on(d, all)
	}
	return set & all
}

func (p *DrawPeriod) on(d Date, all TodSet) TodSet {
	if (p.From != nil && d < *p.From) || (p.To != nil && d > *p.To) {
		return 0
	}
	if len(p.Except) > 0 {
		_, month, day := d.Civil()
		monthDay := [...]byte{'0' + byte(month)/10, '0' + byte(month)%10, '-', '0' + byte(day/10), '0' + byte(day%10)}
		if slices.Contains(p.Except, string(monthDay[:])) { // called for every date of a game, so it avoids formatting
			return 0
		}
	}
	held := len(p.Days) == 0
	for _, name := range p.Days {
		held = held || name == d.Weekday().String()[:3]
	}
	if !held {
		return 0
	}
	if len(p.Tods) == 0 {
		return all
	}
	var set TodSet
	for _, name := range p.Tods {
		if t, ok := ParseTod(name); ok {
			set = set.With(t)
		}
	}
	return set
}

// Value stores days as JSON.
func (days DrawDays) Value() (driver.Value, error) {
	if days == nil {
		return "[]", nil
	}
	b, err := json.Marshal([]DrawPeriod(days))
	return string(b), err
}

// Scan reads what Value wrote.
func (days *DrawDays) Scan(src any) error { return scanJSON(src, (*[]DrawPeriod)(days)) }

// scanJSON reads a JSON text column into dst.
func scanJSON(src, dst any) error {
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), dst)
	case []byte:
		return json.Unmarshal(v, dst)
	default:
		return fmt.Errorf("cannot read JSON from %T", src)
	}
}
