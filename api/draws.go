package api

import (
	"lottery/models"
	"lottery/models/catalog"
)

// Bounds and defaults of limit and count.
const (
	maxLimit     = 1000
	defaultLimit = "100"
	defaultCount = "10"
)

// The years that a history may be requested for: those of models.FirstDate and models.LastDate.
const (
	firstYear = 1900
	lastYear  = 2100
)

// recent is /v1/draws/recent: the newest draws of a game.
func (h *Handler) recent() endpoint {
	return endpoint{
		parameters: []parameter{
			{name: "game", required: true}, {name: "count", fallback: defaultCount}, {name: "tod"}, {name: "cursor"},
		},
		lists: true,
		answer: func(x *call) error {
			b := &x.bind
			g := b.game(x.cat)
			q := catalog.Query{
				Games: x.only(g), Tod: b.tod(), From: models.FirstDate, To: models.LastDate,
				Limit: b.number("count", 1, maxLimit), After: b.cursor(x.c.Request.URL.Path),
			}
			if done, err := x.finished(); done {
				return err
			}
			return x.write(list{page: x.cat.Draws(q, x.refs[:0]), game: g.ID})
		},
	}
}

// byDate is /v1/draws/date/{date}: everything drawn on one date.
func (h *Handler) byDate() endpoint {
	return endpoint{
		parameters: []parameter{
			{name: "game_type"}, {name: "game"}, {name: "tod"}, {name: "order", fallback: "desc"},
		},
		lists: true,
		answer: func(x *call) error {
			b := &x.bind
			date := b.date("date", segment(x.c, "date"))
			games, name := b.games(x.cat)
			q := catalog.Query{Games: games, From: date, To: date, Tod: b.tod(), Ascending: b.ascending()}
			if done, err := x.finished(); done {
				return err
			}
			return x.write(list{page: x.cat.Draws(q, x.refs[:0]), game: name})
		},
	}
}

// history is /v1/draws/history: a whole year of one game.
func (h *Handler) history() endpoint {
	return endpoint{
		parameters: []parameter{
			{name: "game", required: true}, {name: "year", required: true}, {name: "tod"}, {name: "order", fallback: "desc"},
		},
		lists: true,
		answer: func(x *call) error {
			b := &x.bind
			g := b.game(x.cat)
			year := b.number("year", firstYear, lastYear)
			q := catalog.Query{
				Games: x.only(g), From: models.NewDate(year, 1, 1), To: models.NewDate(year, 12, 31), Tod: b.tod(), Ascending: b.ascending(),
			}
			if done, err := x.finished(); done {
				return err
			}
			return x.write(list{page: x.cat.Draws(q, x.refs[:0]), game: g.ID})
		},
	}
}

// bySum is /v1/draws/by-sum: draws of a game whose digits add up to sum.
func (h *Handler) bySum() endpoint {
	return endpoint{
		parameters: []parameter{
			{name: "sum", required: true}, {name: "game", required: true}, {name: "tod"}, {name: "from"}, {name: "to"},
			{name: "limit", fallback: defaultLimit}, {name: "order", fallback: "desc"}, {name: "cursor"},
		},
		lists: true,
		answer: func(x *call) error {
			sum := x.bind.number("sum", 0, 9*models.MaxDigits)
			g, q := x.gameQuery()
			if done, err := x.finished(); done {
				return err
			}
			return x.write(list{page: x.cat.BySum(q, sum, x.refs[:0]), game: g.ID})
		},
	}
}

// byPair is /v1/draws/by-pair: draws of a game that contain two digits, anywhere or in given positions.
func (h *Handler) byPair() endpoint {
	positions := map[string]catalog.PairPosition{
		"any": catalog.PairAny, "front": catalog.PairFront, "back": catalog.PairBack, "split": catalog.PairSplit,
	}
	return endpoint{
		parameters: []parameter{
			{name: "pair", required: true}, {name: "game", required: true}, {name: "position", fallback: "any"}, {name: "tod"},
			{name: "from"}, {name: "to"}, {name: "limit", fallback: defaultLimit}, {name: "order", fallback: "desc"},
			{name: "cursor"},
		},
		lists: true,
		answer: func(x *call) error {
			text := x.bind.digits("pair", 2, 2)
			position := positions[x.bind.oneOf("position", "any", "front", "back", "split")]
			g, q := x.gameQuery()
			if done, err := x.finished(); done {
				return err
			}
			pair := catalog.Pair{Position: position, First: text[0] - '0', Second: text[1] - '0'}
			return x.write(list{page: x.cat.ByPair(q, pair, x.refs[:0]), game: g.ID})
		},
	}
}

// search is /v1/draws/search: a number across all games, with its digits in this order or any.
func (h *Handler) search() endpoint {
	return endpoint{
		parameters: []parameter{
			{name: "number", required: true}, {name: "match", fallback: "any"}, {name: "game_type"}, {name: "game"}, {name: "tod"},
			{name: "from"}, {name: "to"}, {name: "limit", fallback: defaultLimit}, {name: "order", fallback: "desc"},
			{name: "cursor"},
		},
		lists: true,
		answer: func(x *call) error {
			b := &x.bind
			number := b.digits("number", 1, models.MaxDigits)
			exactOnly := b.oneOf("match", "any", "exact") == "exact"
			games, name := b.games(x.cat)
			q := x.listQuery()
			q.Games = games
			if done, err := x.finished(); done {
				return err
			}
			found := x.cat.Search(q, number, exactOnly, x.refs[:0])
			return x.write(list{page: found.Page, game: name, search: &searchTotals{
				number: number, normalized: models.Normalized(number), exact: found.ExactTotal, box: found.BoxTotal,
			}})
		},
	}
}

// gameQuery reads the required game and the parameters of listQuery.
func (x *call) gameQuery() (*catalog.Game, catalog.Query) {
	g := x.bind.game(x.cat)
	q := x.listQuery()
	q.Games = x.only(g)
	return g, q
}

// only returns a slice of just g without allocating one per request.
func (x *call) only(g *catalog.Game) []*catalog.Game {
	x.games[0] = g
	return x.games[:]
}

// listQuery reads tod, from, to, order, limit and cursor.
func (x *call) listQuery() catalog.Query {
	b := &x.bind
	q := catalog.Query{Tod: b.tod(), Ascending: b.ascending()}
	q.From, q.To = b.dates()
	q.Limit = b.number("limit", 1, maxLimit)
	q.After = b.cursor(x.c.Request.URL.Path)
	return q
}
