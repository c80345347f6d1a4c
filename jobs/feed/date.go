package feed

import (
	"errors"
	"strconv"
	"strings"

	"lottery/models"
)

// ParseUSDate reads M/D/YYYY or MM/DD/YYYY, ignoring surrounding spaces. The year must have four digits: the century of
// a shorter one would be a guess.
func ParseUSDate(s string) (models.Date, bool) {
	month, rest, ok1 := strings.Cut(strings.TrimSpace(s), "/")
	day, year, ok2 := strings.Cut(rest, "/")
	if !ok1 || !ok2 {
		return 0, false
	}
	return CivilDate(month, day, year)
}

// CivilDate reads month and day of one or two digits and a year of four.
func CivilDate(month, day, year string) (models.Date, bool) {
	m, ok1 := number(month, 1, 2)
	d, ok2 := number(day, 1, 2)
	y, ok3 := number(year, 4, 4)
	if !ok1 || !ok2 || !ok3 {
		return 0, false
	}
	return readDate(models.CheckedDate(y, m, d))
}

// ParseISODate reads YYYY-MM-DD.
func ParseISODate(s string) (models.Date, bool) { return readDate(models.ParseDate(s)) }

// readDate reports whether a date was read. One after models.LastDate counts: the importer rejects it as in the future.
func readDate(date models.Date, err error) (models.Date, bool) {
	return date, err == nil || (errors.Is(err, models.ErrDateRange) && date > models.LastDate)
}

// number reads from lo to hi ASCII digits.
func number(s string, lo, hi int) (int, bool) {
	if len(s) < lo || len(s) > hi || !models.ValidNumber(s) { // Atoi would take a sign
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
