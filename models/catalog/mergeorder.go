package catalog

import (
	"math"
	"slices"

	"lottery/models"
)

// mergeOrder says whose draw comes next when the draws of one key are listed across all games with the same
// number of digits: for each key, and each of its draws in ascending list order, the game's index among those
// games. That byte per draw saves comparing the heads of the games' lists for each draw listed. nil = too many
// games or keys, or only one game.
type mergeOrder []uint8

// mergeOrders has the merge orders for one number of digits.
type mergeOrders struct{ exact, box mergeOrder }

const (
	// mostOrderedKeys bounds the memory needed to build merge orders: beyond five digits there are none for
	// numbers, only for boxes.
	mostOrderedKeys = 100_000
	mostPlaces      = math.MaxUint8 + 1
)

// newMergeOrders takes all games with the same number of digits, ascending by id.
func newMergeOrders(games []*Game) (t mergeOrders) {
	if len(games) < 2 || len(games) > mostPlaces {
		return t
	}
	digits := games[0].Digits
	t.exact = newMergeOrder(games, models.PowerOf10(digits), games[0].exact.key)
	t.box = newMergeOrder(games, uint64(boxCount(digits)), games[0].box.key)
	return t
}

func (t *mergeOrders) of(exactOnly bool) mergeOrder {
	if exactOnly {
		return t.exact
	}
	return t.box
}

func newMergeOrder(games []*Game, keys uint64, key keyFunc) mergeOrder {
	if keys > mostOrderedKeys {
		return nil
	}
	next := make([]uint32, keys+1) // index of the next draw of each key
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
	t := make(mergeOrder, count)
	eachInOrder(games, func(place int, d draw) {
		at := &next[key(d.number())]
		t[*at] = uint8(place)
		*at++
	})
	return t
}

// eachInOrder calls give for the draws of all games in ascending list order; within a moment, ids descend.
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

// queue is the draws of a game that have not been listed yet.
type queue struct {
	game  *Game
	draws []draw
}

// inMergeOrder lists draws of all runs in their merge order. It relies on the entries of a key being contiguous there,
// so that as many of them precede the cursor as draws of all games do.
func (m *merge) inMergeOrder(ascending bool, count int, dst []Ref) []Ref {
	for i := range m.runs {
		r := &m.runs[i]
		for len(m.queues) <= int(r.game.place) {
			m.queues = append(m.queues, queue{})
		}
		m.queues[r.game.place] = queue{r.game, r.draws[r.low:r.high]}
	}
	if ascending {
		for _, place := range m.order[m.low : m.low+count] {
			of := &m.queues[place]
			dst = append(dst, m.ref(of.game, of.draws[0]))
			of.draws = of.draws[1:]
		}
		return dst
	}
	for _, place := range slices.Backward(m.order[m.high-count : m.high]) {
		of := &m.queues[place]
		last := len(of.draws) - 1
		dst = append(dst, m.ref(of.game, of.draws[last]))
		of.draws = of.draws[:last]
	}
	return dst
}
