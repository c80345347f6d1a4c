package catalog

import (
	"math"
	"slices"
)

// turns tells whose draw comes next where those of one key are listed for all games of so many digits: for each key,
// and each of its draws in ascending list order, the game's place among those games. A byte a draw saves comparing the
// heads of the games' lists for each draw that is listed. nil: there are too many games or keys, or but one game.
type turns []uint8

// searchTurns is the turns of one number of digits.
type searchTurns struct{ exact, box turns }

const (
	// mostTurnKeys bounds the memory that is needed to make turns: there are none for numbers of more than five digits,
	// but for their boxes.
	mostTurnKeys = 100_000
	mostPlaces   = math.MaxUint8 + 1
)

// newSearchTurns takes all games of as many digits, by id ascending.
func newSearchTurns(games []*Game) (t searchTurns) {
	if len(games) < 2 || len(games) > mostPlaces {
		return t
	}
	digits := games[0].Digits
	t.exact = newTurns(games, powerOf10(digits), games[0].exact.key)
	t.box = newTurns(games, uint64(boxCount(digits)), games[0].box.key)
	return t
}

func (t *searchTurns) of(exactOnly bool) turns {
	if exactOnly {
		return t.exact
	}
	return t.box
}

func newTurns(games []*Game, keys uint64, key keyFunc) turns {
	if keys > mostTurnKeys {
		return nil
	}
	next := make([]uint32, keys+1) // where the next draw of a key goes
	count := 0
	for _, g := range games {
		count += len(g.draws)
		for _, d := range g.draws {
			next[key(d.number())+1]++
		}
	}
	for i := range next[1:] {
		next[i+1] += next[i]
	}
	t := make(turns, count)
	eachInOrder(games, func(place int, d draw) {
		at := &next[key(d.number())]
		t[*at] = uint8(place)
		*at++
	})
	return t
}

// eachInOrder gives the draws of all games in ascending list order: ids descend within a moment.
func eachInOrder(games []*Game, give func(place int, d draw)) {
	rest := make([][]draw, len(games))
	for place, g := range games {
		rest[place] = g.draws
	}
	for {
		const none = math.MaxUint32
		moment := uint32(none)
		for _, draws := range rest {
			if len(draws) > 0 {
				moment = min(moment, draws[0].slot().moment())
			}
		}
		if moment == none {
			return
		}
		for place := len(rest) - 1; place >= 0; place-- {
			for len(rest[place]) > 0 && rest[place][0].slot().moment() == moment {
				give(place, rest[place][0])
				rest[place] = rest[place][1:]
			}
		}
	}
}

// queue is the draws of a game that are still to be listed.
type queue struct {
	game  *Game
	draws []draw
}

// inTurn lists draws of all runs as their turns say. What all games have of the key comes one after the other in turns,
// so that the draws before the cursor, of all games, are as many as the turns before it.
func (m *merge) inTurn(ascending bool, count int, dst []Ref) []Ref {
	for i := range m.runs {
		r := &m.runs[i]
		for len(m.queues) <= int(r.game.place) {
			m.queues = append(m.queues, queue{})
		}
		m.queues[r.game.place] = queue{r.game, r.draws[r.low:r.high]}
	}
	if ascending {
		for _, place := range m.turns[m.low : m.low+count] {
			of := &m.queues[place]
			dst = append(dst, m.ref(of.game, of.draws[0]))
			of.draws = of.draws[1:]
		}
		return dst
	}
	for _, place := range slices.Backward(m.turns[m.high-count : m.high]) {
		of := &m.queues[place]
		last := len(of.draws) - 1
		dst = append(dst, m.ref(of.game, of.draws[last]))
		of.draws = of.draws[:last]
	}
	return dst
}
