package models

import (
	"fmt"
	"strings"
	"time"
)

// ImportRun records one import of one file.
type ImportRun struct {
	ID         int64 `gorm:"primaryKey"`
	Feed       string
	Source     string // file name, address or "-"
	FinishedAt time.Time
	Summary    ImportSummary `gorm:"serializer:json"`
}

// Reason says why a draw was rejected.
type Reason string

// The reasons, in the order in which they are checked: the first that applies is reported.
const (
	ReasonMalformed   Reason = "malformed"
	ReasonBadDate     Reason = "bad_date"
	ReasonFutureDate  Reason = "future_date"
	ReasonUnknownGame Reason = "unknown_game"
	ReasonBadTod      Reason = "bad_tod"
	ReasonBadDigits   Reason = "bad_digits"
	ReasonSumMismatch Reason = "sum_mismatch"
	ReasonConflict    Reason = "conflict"
)

var reasons = []Reason{
	ReasonMalformed, ReasonBadDate, ReasonFutureDate, ReasonUnknownGame, ReasonBadTod, ReasonBadDigits, ReasonSumMismatch, ReasonConflict,
}

// Rejection is one draw that was not taken.
type Rejection struct {
	File   string
	Line   int    // 1-based physical line
	Column string // the column's name, or its 1-based number if the format has no names
	Value  string // as published
	Reason Reason
	Detail string // for people: what was expected, or what it contradicts
	Draw   string // which draw it is, as far as that is readable; independent of its place in the file
}

// ImportSummary counts what an import did.
// Draws = Inserted + Unchanged + Corrected + Duplicate + Overruled + Rejected.
type ImportSummary struct {
	Feed       string         `json:"feed"`
	Files      int            `json:"files"`
	Lines      int            `json:"lines"`
	Draws      int            `json:"draws"`
	Inserted   int            `json:"inserted"`
	Unchanged  int            `json:"unchanged"`
	Corrected  int            `json:"corrected"`
	Duplicate  int            `json:"duplicate"`
	Overruled  int            `json:"overruled"`
	Rejected   int            `json:"rejected"`
	Skipped    int            `json:"skipped"` // lines: titles, headers, blanks, disclaimers
	Rejections map[Reason]int `json:"rejections"`
	DurationMS int64          `json:"duration_ms"`

	IgnoredColumns []IgnoredColumn `json:"ignored_columns,omitempty"` // in the order in which they were found

	SkippedLines []SkippedLine `json:"skipped_lines,omitempty"` // the first MostSkipped of each file

	Withdrawn      int             `json:"withdrawn,omitempty"`       // stored draws that their feed no longer publishes; they stay
	WithdrawnDraws []WithdrawnDraw `json:"withdrawn_draws,omitempty"` // the first MostWithdrawn of each file
}

// MostWithdrawn is how many withdrawn draws of a file are listed.
const MostWithdrawn = 20

// WithdrawnDraw is a stored draw that is missing from the file of the feed that it came from, though the file
// has draws of that game and time of day before and after it. It was published by mistake, perhaps under a
// wrong date, or was lost.
type WithdrawnDraw struct {
	File     string `json:"file"`
	Game     string `json:"game"`
	Date     Date   `json:"date"`
	Tod      Tod    `json:"tod"`
	Sequence int    `json:"sequence"`
	Number   string `json:"number"`
}

// String returns the draw without its file: ny-numbers 2024-05-02 Midday 123.
func (w *WithdrawnDraw) String() string {
	text := fmt.Sprintf("%s %v %v", w.Game, w.Date, w.Tod)
	if w.Sequence > 1 {
		text += fmt.Sprintf(" sequence %d", w.Sequence)
	}
	return text + " " + w.Number
}

// Add adds the counts of another import, and its lists.
func (s *ImportSummary) Add(other *ImportSummary) {
	s.Files += other.Files
	s.Lines += other.Lines
	s.Draws += other.Draws
	s.Inserted += other.Inserted
	s.Unchanged += other.Unchanged
	s.Corrected += other.Corrected
	s.Duplicate += other.Duplicate
	s.Overruled += other.Overruled
	s.Rejected += other.Rejected
	s.Skipped += other.Skipped
	s.DurationMS += other.DurationMS
	s.IgnoredColumns = append(s.IgnoredColumns, other.IgnoredColumns...)
	s.SkippedLines = append(s.SkippedLines, other.SkippedLines...)
	s.Withdrawn += other.Withdrawn
	s.WithdrawnDraws = append(s.WithdrawnDraws, other.WithdrawnDraws...)
	for reason, n := range other.Rejections {
		s.Rejections[reason] += n
	}
}

// RejectedBy lists the rejections by reason, in the order of the reasons: malformed 1, bad_date 3.
func (s *ImportSummary) RejectedBy() string {
	var list []string
	for _, reason := range reasons {
		if n := s.Rejections[reason]; n > 0 {
			list = append(list, fmt.Sprintf("%s %d", reason, n))
		}
	}
	return strings.Join(list, ", ")
}

// AllRejected reports whether there were draws and all of them were rejected.
func (s *ImportSummary) AllRejected() bool { return s.Rejected > 0 && s.Rejected == s.Draws }

// IgnoredColumn is a column that the feed does not know and whose values are not read. A lottery may
// have renamed or added it.
type IgnoredColumn struct {
	File   string `json:"file"`
	Column string `json:"column"` // the column's name, or its 1-based number if it has none
}

// MostSkipped is how many skipped lines of a file are listed.
const MostSkipped = 20

// SkippedLine is a line between the draws, or below them, that was taken for a title or a disclaimer though it holds
// several numbers: it may be a draw that is written as no draw of the feed is.
type SkippedLine struct {
	File string `json:"file"`
	Line int    `json:"line"` // 1-based
	Text string `json:"text"`
}
