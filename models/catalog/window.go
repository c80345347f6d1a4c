package catalog

import "lottery/models"

// window returns the range of slots that a query's dates and cursor allow.
func (g *Game) window(q *Query) span[slot] {
	w := span[slot]{high: lastSlot}
	if q.From > models.FirstDate {
		w.low = startOfDay(q.From)
	}
	if q.To < models.LastDate {
		w.high = max(startOfDay(q.To+1), w.low)
	}
	w.restLow, w.restHigh = w.low, w.high
	if q.After == nil {
		return w
	}
	at := slotNear(q.After)
	moment := at &^ sequenceMask
	nextMoment := moment + 1<<sequenceBits
	if q.Ascending {
		switch {
		case g.ID < q.After.GameID: // ids descend within a moment, so all of this game's draws are still to come
			at = moment
		case g.ID > q.After.GameID:
			at = nextMoment
		default:
			at++
		}
		w.restLow = min(max(w.low, at), w.high)
		return w
	}
	switch {
	case g.ID > q.After.GameID:
		at = nextMoment
	case g.ID < q.After.GameID:
		at = moment
	}
	w.restHigh = max(min(w.high, at), w.low)
	return w
}

// span is a range low…high-1 and the part of it that a cursor leaves: of slots, positions or indices of a list.
type span[T comparable] struct{ low, high, restLow, restHigh T }

// mapped returns the span with its bounds mapped by where, which is called no more often than necessary.
func (s *span[T]) mapped(where func(T) int) span[int] {
	p := span[int]{low: where(s.low), high: where(s.high)}
	p.restLow, p.restHigh = p.low, p.high
	if s.restLow != s.low {
		p.restLow = where(s.restLow)
	}
	if s.restHigh != s.high {
		p.restHigh = where(s.restHigh)
	}
	return p
}
