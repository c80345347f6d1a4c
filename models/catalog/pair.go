package catalog

import "lottery/models"

// PairPosition says where in a number a pair of digits must stand.
type PairPosition uint8

// The positions of pairs.
const (
	PairAny   PairPosition = iota // any two places, digits in either order: what pairs_2dp lists
	PairFront                     // the first two places, in this order
	PairBack                      // the last two places, in this order
	PairSplit                     // the first and the last place, in this order
)

// Pair is two digits (0…9) and where they stand. Games of one digit have no pairs.
type Pair struct {
	Position      PairPosition
	First, Second byte
}

func (p Pair) valid() bool {
	return p.First <= 9 && p.Second <= 9 && p.Position <= PairSplit
}

// key is the index of the two digits, in this order, among the hundred ordered pairs.
func (p Pair) key() int { return int(p.First)*10 + int(p.Second) }

// pairIndex finds the draws of a game that contain a pair.
type pairIndex struct {
	front, back, split postings  // by the pair's key
	any                []drawSet // by pairSlot
}

func newPairIndex(g *Game, s *scratch) (x pairIndex) {
	if g.Digits < 2 {
		return x
	}
	top := models.PowerOf10(g.Digits - 1)
	x.any = newPairSets(g)
	x.back = newPostings(g, s, 100, func(number uint64) uint64 { return number % 100 })
	if g.Digits == 2 { // with two places, front, back and split are the same
		x.front, x.split = x.back, x.back
		return x
	}
	x.front = newPostings(g, s, 100, func(number uint64) uint64 { return number / (top / 10) })
	x.split = newPostings(g, s, 100, func(number uint64) uint64 { return number/top*10 + number%10 })
	return x
}

// ordered returns the postings of a position in which the order of digits matters, or nil.
func (x *pairIndex) ordered(position PairPosition) *postings {
	switch position {
	case PairFront:
		return &x.front
	case PairBack:
		return &x.back
	case PairSplit:
		return &x.split
	default:
		return nil
	}
}

// unorderedPairs is the number of pairs if their order does not matter.
const unorderedPairs = 55

// pairSlot numbers pairs regardless of order: both orders have the same number.
var pairSlot = func() (index [10][10]uint8) {
	next := uint8(0)
	for a := range 10 {
		for b := a; b < 10; b++ {
			index[a][b], index[b][a] = next, next
			next++
		}
	}
	return index
}()

// newPairSets returns the set of draws for each unordered pair. They take 9 bytes a draw for any number of digits;
// postings would take 12 bytes for three digits, 24 for four, 40 for five, 180 for ten.
func newPairSets(g *Game) []drawSet {
	sets := newWords(g, unorderedPairs)
	var digit [models.MaxDigits]uint8
	for word := range sets[0] {
		var found [unorderedPairs]uint64
		for bit, d := range g.draws[word<<wordShift : min((word+1)<<wordShift, len(g.draws))] {
			number := d.number()
			for i := range g.Digits {
				digit[i] = uint8(number % 10)
				number /= 10
				for _, other := range digit[:i] {
					found[pairSlot[digit[i]][other]] |= 1 << bit
				}
			}
		}
		for i, w := range found {
			sets[i][word] = w
		}
	}
	return newDrawSets(g, sets)
}
