package models

import (
	"database/sql/driver"
	"fmt"
	"math/bits"
	"strings"
)

// Tod is the time of day of a draw. Its numeric order is the order of draws within a day, and the
// database stores the number.
type Tod uint8

// The six times of day. The zero Tod is none of them.
const (
	Morning Tod = iota + 1
	Midday
	Day
	Afternoon
	Evening
	Night
)

// TodCount is the number of times of day; valid Tods are 1…TodCount.
const TodCount = int(Night)

var todNames = [...]string{"", "Morning", "Midday", "Day", "Afternoon", "Evening", "Night"}

// ParseTod parses a capitalised name, case-sensitively.
func ParseTod(s string) (Tod, bool) {
	for t := Morning; t <= Night; t++ {
		if todNames[t] == s {
			return t, true
		}
	}
	return 0, false
}

func (t Tod) String() string {
	if int(t) < len(todNames) {
		return todNames[t]
	}
	return fmt.Sprintf("Tod(%d)", uint8(t))
}

// MarshalText encodes t as its name.
func (t Tod) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// TodSet is a set of Tods; the zero set is empty. It is stored as names in day order, joined by commas.
type TodSet uint8

// NewTodSet returns the set of the given tods.
func NewTodSet(tods ...Tod) TodSet {
	var s TodSet
	for _, t := range tods {
		s = s.With(t)
	}
	return s
}

// ParseTodSet parses names joined by commas: at least one, none twice.
func ParseTodSet(s string) (TodSet, error) {
	var set TodSet
	for name := range strings.SplitSeq(s, ",") {
		t, ok := ParseTod(strings.TrimSpace(name))
		if !ok {
			return 0, fmt.Errorf("%q is not a time of day; use %s", name, strings.Join(todNames[1:], ", "))
		}
		if set.Has(t) {
			return 0, fmt.Errorf("%q is named twice", t)
		}
		set = set.With(t)
	}
	return set, nil
}

// With returns s with t added.
func (s TodSet) With(t Tod) TodSet { return s | 1<<t }

// Has reports whether t is in s.
func (s TodSet) Has(t Tod) bool { return s&(1<<t) != 0 }

// Len is how many tods s holds.
func (s TodSet) Len() int { return bits.OnesCount8(uint8(s)) }

// Tods returns the members of s in day order.
func (s TodSet) Tods() []Tod {
	list := make([]Tod, 0, s.Len())
	for t := Morning; t <= Night; t++ {
		if s.Has(t) {
			list = append(list, t)
		}
	}
	return list
}

func (s TodSet) String() string {
	names := make([]string, 0, s.Len())
	for _, t := range s.Tods() {
		names = append(names, t.String())
	}
	return strings.Join(names, ",")
}

// Value stores s as its names.
func (s TodSet) Value() (driver.Value, error) { return s.String(), nil }

// Scan reads what Value wrote.
func (s *TodSet) Scan(src any) error {
	var text string
	switch v := src.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return fmt.Errorf("cannot read tods from %T", src)
	}
	set, err := ParseTodSet(text)
	*s = set
	return err
}
