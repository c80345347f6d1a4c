package catalog

import "lottery/models"

// draw packs all that the catalog knows of one draw of a game: days since models.FirstDate (17 bits), tod (3),
// sequence (7), number (34, which holds ten digits). One read of memory fetches it, and the draws of a game
// compare as their slots (date, tod, sequence) do, since no two have the same.
type draw uint64

// slot is the part of a draw that tells when it was: date, tod, sequence.
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

// newDraw packs what the Builder has checked.
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

// first is the least draw that s can hold: draws below it come before s.
func (s slot) first() draw { return draw(s) << numberBits }

// moment is the date and tod: what orders draws of different games.
func (s slot) moment() uint32 { return uint32(s >> sequenceBits) }

// lastSlot comes after all slots.
const lastSlot slot = 1<<slotBits - 1

// startOfDay is the smallest slot of a date, and the one before or after all slots for dates out of range.
func startOfDay(date models.Date) slot {
	return slot(min(max(date, models.FirstDate), models.LastDate+1)-models.FirstDate) << dayShift
}

// slotNear is the slot of a position that nobody has checked: what is out of range becomes the nearest bound
// that compares in the same way.
func slotNear(p *Position) slot {
	start := startOfDay(p.Date)
	if p.Date < models.FirstDate || p.Date > models.LastDate {
		return start
	}
	return start | slot(min(p.Tod, todMask))<<sequenceBits | slot(min(max(p.Sequence, 0), sequenceMask))
}
