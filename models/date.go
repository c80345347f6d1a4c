package models

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Date is a calendar date without a time zone, as days since 1970-01-01 (proleptic Gregorian).
// It is stored as YYYY-MM-DD text (SQLite) or DATE (PostgreSQL).
type Date int32

// The dates that the product accepts. Draws before FirstDate or after LastDate do not exist.
var (
	FirstDate = NewDate(1900, time.January, 1)
	LastDate  = NewDate(2100, time.December, 31)
)

// ErrDateRange is the error for a day that exists but is before FirstDate or after LastDate.
var ErrDateRange = errors.New("not between " + FirstDate.String() + " and " + LastDate.String())

const (
	secondsPerDay = 86400
	isoDate       = "2006-01-02"
)

// NewDate returns the given day; month and day may overflow as in time.Date.
func NewDate(year int, month time.Month, day int) Date {
	return Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay)
}

// DateOf is the calendar date of t in t's own location.
func DateOf(t time.Time) Date { return NewDate(t.Year(), t.Month(), t.Day()) }

// ParseDate parses only YYYY-MM-DD; the day must exist and lie in [FirstDate, LastDate], as for CheckedDate.
func ParseDate(s string) (Date, error) {
	if len(s) != len(isoDate) || s[4] != '-' || s[7] != '-' {
		return 0, fmt.Errorf("%q is not a date in the form YYYY-MM-DD", s)
	}
	year, ok1 := atoi(s[:4])
	month, ok2 := atoi(s[5:7])
	day, ok3 := atoi(s[8:])
	if !ok1 || !ok2 || !ok3 {
		return 0, fmt.Errorf("%q is not a date in the form YYYY-MM-DD", s)
	}
	return CheckedDate(year, month, day)
}

// CheckedDate returns the given day if it exists and lies in [FirstDate, LastDate]. With
// ErrDateRange it returns the day too.
func CheckedDate(year, month, day int) (Date, error) {
	d := NewDate(year, time.Month(month), day)
	y, m, dd := d.Civil()
	if y != year || int(m) != month || dd != day {
		return 0, fmt.Errorf("%04d-%02d-%02d is not a valid date", year, month, day)
	}
	if d < FirstDate || d > LastDate {
		return d, fmt.Errorf("%04d-%02d-%02d is %w", year, month, day, ErrDateRange)
	}
	return d, nil
}

func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && ValidNumber(s) // Atoi takes a sign, too
}

// Civil returns the year, month and day of d.
func (d Date) Civil() (year int, month time.Month, day int) { return d.Time().Date() }

// Time returns midnight UTC of d.
func (d Date) Time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// Weekday is d's day of the week.
func (d Date) Weekday() time.Weekday {
	return time.Weekday(((int(d)+4)%7 + 7) % 7) // 1970-01-01 was a Thursday
}

// AppendTo appends d as YYYY-MM-DD.
func (d Date) AppendTo(b []byte) []byte {
	y, m, day := d.Civil()
	return append(b,
		byte('0'+y/1000%10), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10), '-',
		byte('0'+int(m)/10), byte('0'+int(m)%10), '-',
		byte('0'+day/10), byte('0'+day%10))
}

func (d Date) String() string { return string(d.AppendTo(make([]byte, 0, len(isoDate)))) }

// MarshalText encodes d as YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) { return d.AppendTo(nil), nil }

// UnmarshalText decodes YYYY-MM-DD.
func (d *Date) UnmarshalText(b []byte) error {
	v, err := ParseDate(string(b))
	*d = v
	return err
}

// Value stores d as YYYY-MM-DD text.
func (d Date) Value() (driver.Value, error) { return d.String(), nil }

// Scan reads what SQLite (text) and PostgreSQL (DATE) return.
func (d *Date) Scan(src any) error {
	switch v := src.(type) {
	case string:
		return d.UnmarshalText([]byte(v[:min(len(v), len(isoDate))]))
	case []byte:
		return d.UnmarshalText(v[:min(len(v), len(isoDate))])
	case time.Time:
		*d = DateOf(v.UTC())
		return nil
	default:
		return fmt.Errorf("cannot read a date from %T", src)
	}
}
