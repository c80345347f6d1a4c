package catalog

import "lottery/models"

// draw packs everything about one draw of a game: days since models.FirstDate (17 bits), tod (3), sequence (7), number
// (34, enough for ten digits). One memory read fetches it. Draws of a game compare like their slots (date, tod,
// sequence), since no two share a slot.
type draw uint64

// slot is the part of a draw that says when it was: date, tod, sequence.
type slot uint32

const (
	numberBits   = 34
	numberMask   = 1<<numberBits - 1
	sequenceBits = 7
	sequenceMask = 1<<sequenceBits - 1
	todBits      = 3
	todMask      = 1<<todBits - 1
	dayShift     = sequenceBits + todBits
	slotBits     = 17 + dayShift
)

// newDraw packs values that the Builder has checked.
func newDraw(date models.Date, tod models.Tod, sequence int, number uint64) draw {
	s := slot(date-models.FirstDate)<<dayShift | slot(tod)<<sequenceBits | slot(sequence)
	return draw(s)<<numberBits | draw(number)
}

func (d draw) slot() slot     { return slot(d >> numberBits) }
func (d draw) number() uint64 { return uint64(d & numberMask) }

func (s slot) date() models.Date { return models.FirstDate + models.Date(s>>dayShift) }
func (s slot) day() uint32       { return uint32(s >> dayShift) }
func (s slot) tod() models.Tod   { return models.Tod(s >> sequenceBits & todMask) }
func (s slot) sequence() int     { return int(s & sequenceMask) }

func (s slot) isStartOfDay() bool { return s&(1<<dayShift-1) == 0 }

// first is the least possible draw in s: draws less than it come before s.
func (s slot) first() draw { return draw(s) << numberBits }

// moment is the date and tod, which order draws of different games.
func (s slot) moment() uint32 { return uint32(s >> sequenceBits) }

// lastSlot comes after all slots.
const lastSlot slot = 1<<slotBits - 1

// startOfDay is the smallest slot of a date. For dates out of range it is before or after all slots.
func startOfDay(date models.Date) slot {
	return slot(min(max(date, models.FirstDate), models.LastDate+1)-models.FirstDate) << dayShift
}

// slotNear returns the slot of an unchecked position: values out of range become the nearest
// bound that compares the same.
func slotNear(p *Position) slot {
	start := startOfDay(p.Date)
	if p.Date < models.FirstDate || p.Date > models.LastDate {
		return start
	}
	return start | slot(min(p.Tod, todMask))<<sequenceBits | slot(min(max(p.Sequence, 0), sequenceMask))
}
