package catalog

import "lottery/models"

// Query says which draws to list, and how.
//
// Lists run newest first: date descending, then tod descending (Night … Morning), then game id ascending,
// then sequence descending.
type Query struct {
	Games     []*Game     // of this catalog, each once, in any order; nil: all games of the catalog
	Tod       models.Tod  // 0: any
	From, To  models.Date // inclusive; models.FirstDate and LastDate mean no bound
	Ascending bool        // the list reversed
	After     *Position   // only draws after it in the list; neither that draw nor its game need exist
	Limit     int         // most draws to list; 0 = no limit
}

// Page is a part of a list.
type Page struct {
	Refs  []Ref // the slice that the caller passed, with the draws appended
	Total int   // all matches of the query, before After and Limit
	More  bool  // there are matches after the last of Refs
}

// SearchPage is a part of a list of draws with certain digits.
type SearchPage struct {
	Page
	ExactTotal int // matches with the digits in their order
	BoxTotal   int // matches with the digits in any order: ExactTotal is part of it
}

// Draws lists every draw that q allows, appending to dst.
func (c *Catalog) Draws(q Query, dst []Ref) Page {
	m := newMerge(notSearched)
	defer m.release()
	for _, g := range c.scope(&q) {
		m.addAll(g, &q)
	}
	return m.page(&q, dst)
}

// BySum lists the draws whose digits add up to sum, appending to dst.
func (c *Catalog) BySum(q Query, sum int, dst []Ref) Page {
	m := newMerge(notSearched)
	defer m.release()
	for _, g := range c.scope(&q) {
		if sum < 0 || sum > 9*g.Digits {
			continue
		}
		if set := g.bySum[sum].of(g, q.Tod); set != nil {
			m.addSet(g, &q, set)
		}
	}
	return m.page(&q, dst)
}

// ByPair lists the draws that contain the pair, appending to dst. An invalid pair matches nothing.
func (c *Catalog) ByPair(q Query, pair Pair, dst []Ref) Page {
	m := newMerge(notSearched)
	defer m.release()
	for _, g := range c.scope(&q) {
		if g.Digits < 2 || !pair.valid() {
			continue
		}
		if places := g.pairs.ordered(pair.Position); places != nil {
			m.addPostings(g, &q, places, pair.key())
		} else if set := g.pairs.any[pairSlot[pair.First][pair.Second]].of(g, q.Tod); set != nil {
			m.addSet(g, &q, set)
		}
	}
	return m.page(&q, dst)
}

// Search lists the draws that have the digits of number, in the same order or any, appending to dst. With
// exactOnly it lists only those with the same order, which changes Total but not the other totals. Games with
// another number of digits do not match.
func (c *Catalog) Search(q Query, number string, exactOnly bool, dst []Ref) SearchPage {
	value, ok := parseNumber(number)
	if !ok {
		return SearchPage{Page: Page{Refs: dst}}
	}
	m := newMerge(value)
	defer m.release()
	same := c.byDigits[len(number)]
	games := q.Games
	if games == nil {
		games = same
	}
	for _, g := range games {
		if g.Digits == len(number) {
			m.readAhead(g, &q, &g.exact, value)
			m.readAhead(g, &q, &g.box, g.box.key(value))
		}
	}
	unlisted, searched := 0, 0
	for _, g := range games {
		if g.Digits != len(number) {
			continue
		}
		searched++
		box := g.box.key(value)
		if exactOnly {
			m.addKey(g, &q, &g.exact, value)
			unlisted += countKey(g, &q, &g.box, box)
		} else {
			m.addKey(g, &q, &g.box, box)
			unlisted += countKey(g, &q, &g.exact, value)
		}
	}
	if q.Tod == 0 && searched == len(same) {
		m.order = c.orders[len(number)].of(exactOnly)
	}
	page := m.page(&q, dst)
	if exactOnly {
		return SearchPage{Page: page, ExactTotal: page.Total, BoxTotal: unlisted}
	}
	return SearchPage{Page: page, ExactTotal: unlisted, BoxTotal: page.Total}
}

func (c *Catalog) scope(q *Query) []*Game {
	if q.Games != nil {
		return q.Games
	}
	return c.games
}
