package models

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// Draw is a drawn number in a slot, as stored in the database. What follows from the number (normalized, sum, pairs)
// is computed, not stored.
type Draw struct {
	GameID   string `gorm:"primaryKey"`
	Date     Date   `gorm:"primaryKey"` // in the game's own time zone
	Tod      Tod    `gorm:"primaryKey"`
	Sequence int    `gorm:"primaryKey"` // 1, or 2… if several draws of a lottery count in one slot
	Number   string // in drawn order, with leading zeros
	Addons   Addons // add-on balls by lower-case name; may be empty
	Feed     string // the feed that last said so
	Revision int    // starts at 1, grows with each correction
	Void     bool   // an operator declared that this slot has no draw; if Feed is not FeedOperator, nobody does any more
	Reason   string // the operator's reason; empty unless Feed is FeedOperator
	// IngestedAt is when the slot was first filled.
	IngestedAt time.Time
}

// MaxSequence is the highest sequence a slot may have.
const MaxSequence = 99

// Slot identifies a draw.
type Slot struct {
	GameID   string
	Date     Date
	Tod      Tod
	Sequence int
}

// String names the slot for people: "ny-win-4 2007-06-10 Midday 1".
func (s Slot) String() string { return fmt.Sprintf("%s %s %s %d", s.GameID, s.Date, s.Tod, s.Sequence) }

// Slot identifies d.
func (d *Draw) Slot() Slot { return Slot{d.GameID, d.Date, d.Tod, d.Sequence} }

// DrawRevision keeps the contents of a slot before a correction.
type DrawRevision struct {
	ID         int64 `gorm:"primaryKey"`
	GameID     string
	Date       Date
	Tod        Tod
	Sequence   int
	Revision   int // the revision that had this number
	Number     string
	Addons     Addons
	Feed       string
	Void       bool
	Reason     string
	ReplacedAt time.Time
	ReplacedBy string // the feed that corrected it
}

// Addons is add-on balls and multipliers by lower-case name: {"fireball":"7"}. It is stored as JSON, or "" if empty.
type Addons map[string]string

// Value stores a as JSON with sorted names.
func (a Addons) Value() (driver.Value, error) {
	if len(a) == 0 {
		return "", nil
	}
	b, err := json.Marshal(map[string]string(a))
	return string(b), err
}

// Scan reads what Value wrote.
func (a *Addons) Scan(src any) error {
	switch v := src.(type) {
	case string:
		if v == "" {
			return nil
		}
	case []byte:
		if len(v) == 0 {
			return nil
		}
	}
	return scanJSON(src, (*map[string]string)(a))
}

// DataVersion names a state of all draws and games. Number grows by one with every change; Token is random for each
// change, so a restored backup never repeats a version.
type DataVersion struct {
	Number    int64
	Token     string
	UpdatedAt time.Time
}

// String returns the opaque name that the API shows.
func (v DataVersion) String() string { return v.Token }
