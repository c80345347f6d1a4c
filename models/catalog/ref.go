package catalog

import "lottery/models"

// Ref is one draw of a Catalog: a small value that contains the draw itself and never becomes invalid. It keeps all
// draws of its game in memory, so clear pooled slices of Refs before putting them back.
type Ref struct {
	game *Game
	draw draw // with exactFlag
}

// exactFlag is a bit that draws do not use.
const exactFlag draw = 1 << 63

func (r Ref) slot() slot { return (r.draw &^ exactFlag).slot() }

// Game is the game that drew.
func (r Ref) Game() *Game { return r.game }

// Date is the date of the draw in the game's own time zone.
func (r Ref) Date() models.Date { return r.slot().date() }

// Tod is the time of day of the draw.
func (r Ref) Tod() models.Tod { return r.slot().tod() }

// Sequence is 1, or more if several draws of one slot count.
func (r Ref) Sequence() int { return r.slot().sequence() }

// Number is the drawn digits as a decimal number; Game().Digits says how many leading zeros to add.
func (r Ref) Number() uint64 { return r.draw.number() }

// Exact reports whether the draw has the searched digits in the same order. It is false outside of Search.
func (r Ref) Exact() bool { return r.draw&exactFlag != 0 }

// Position is where a list was cut: it identifies the last draw listed.
type Position struct {
	Date     models.Date
	Tod      models.Tod
	GameID   string
	Sequence int
}

// Position identifies the draw; pass it as Query.After to continue after it.
func (r Ref) Position() Position {
	return Position{Date: r.Date(), Tod: r.Tod(), GameID: r.game.ID, Sequence: r.Sequence()}
}
