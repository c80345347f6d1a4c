package catalog

import "lottery/models"

// Ref is one draw of a Catalog: a small value that holds the draw itself and stays valid as long as it is kept.
// It keeps all draws of its game in memory, so pooled slices of Refs should be cleared before they are put back.
type Ref struct {
	game *Game
	draw draw // with exactFlag
}

// exactFlag is a bit that no draw uses.
const exactFlag draw = 1 << 63

func (r Ref) slot() slot { return (r.draw &^ exactFlag).slot() }

// Game is the game that drew.
func (r Ref) Game() *Game { return r.game }

// Date is the date of the draw in the game's own zone.
func (r Ref) Date() models.Date { return r.slot().date() }

// Tod is the time of day of the draw.
func (r Ref) Tod() models.Tod { return r.slot().tod() }

// Sequence is 1, or more where several draws of one slot were honoured.
func (r Ref) Sequence() int { return r.slot().sequence() }

// Number is the drawn digits as a decimal number; Game().Digits tells how many leading zeros it has lost.
func (r Ref) Number() uint64 { return r.draw.number() }

// Exact tells whether the draw has the digits searched for in their order. It is false outside of Search.
func (r Ref) Exact() bool { return r.draw&exactFlag != 0 }

// Position is where a list was cut: the identity of the last draw given.
type Position struct {
	Date     models.Date
	Tod      models.Tod
	GameID   string
	Sequence int
}

// Position is the draw's identity, to go on after it with Query.After.
func (r Ref) Position() Position {
	return Position{Date: r.Date(), Tod: r.Tod(), GameID: r.game.ID, Sequence: r.Sequence()}
}
