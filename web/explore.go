package web

import (
	"html/template"
	"net/http"
	"slices"
	"sync"

	"lottery/models"
	"lottery/models/catalog"
)

// gameView is one game and its facts, which are computed when its page is first requested. drawing guards facts.
type gameView struct {
	*catalog.Game

	page keptPage

	drawing sync.Mutex
	facts   *gameFacts
}

// gameFacts is what the page of a game shows: each drawing, and the numbers it was drawn from.
type gameFacts struct {
	Digits    digitHeat
	HeatMap   template.HTML
	Sums      []sumCount
	SumChart  template.HTML
	Gaps      gapCalendar
	GapChart  template.HTML
	Recent    []catalog.Ref
	Overdue   []catalog.OverdueDigit
	Positions []int
}

// exploreView is the data of the page that lists all games.
type exploreView struct {
	Games  []*gameView
	Totals totals
}

func (h *Handler) explore(w http.ResponseWriter, r *http.Request) error {
	var data exploreView
	m := h.remember()
	if m != nil {
		data.Games, data.Totals = m.games, m.totals
	}
	h.show(w, r, view{
		Page: "explore", Title: "Explore the draws", Section: "explore", Kept: m.kept("explore"), Data: data,
		Description: "Every available game: how often each digit came up in each position, digit sums next to what chance alone gives, and the days that are missing.",
	})
	return nil
}

// exploreGameView is the data of the page of one game.
type exploreGameView struct {
	Game  *gameView
	Facts *gameFacts
}

func (h *Handler) exploreGame(w http.ResponseWriter, r *http.Request) error {
	m := h.remember()
	if m == nil {
		return models.Errorf(models.CodeUnavailable, "the draws are being loaded")
	}
	at := slices.IndexFunc(m.games, func(g *gameView) bool { return g.ID == r.PathValue("game") })
	if at < 0 {
		return errNotFound()
	}
	g := m.games[at]
	facts, complete := h.factsOf(r, m.cat, g)
	var kept *keptPage
	if complete {
		kept = &g.page
	}
	h.show(w, r, view{
		Page: "game", Title: g.Name, Section: "explore", Kept: kept, Data: exploreGameView{g, facts},
		Description: g.Name + ": " + counted(g.Len(), "draw") + " since " + humanDay(g.First()) + ", with digit frequencies, sums, gaps and the newest draws.",
	})
	return nil
}

// factsOf returns the facts of a game, computed once per catalog. The days on which a draw is due come from the
// database; while it is down, the facts lack the gaps and are not kept, so that a later request completes them.
func (h *Handler) factsOf(r *http.Request, cat *catalog.Catalog, g *gameView) (facts *gameFacts, complete bool) {
	ctx, cancel := glance(r.Context())
	defer cancel()
	g.drawing.Lock() // perhaps until another request has waited long enough
	defer g.drawing.Unlock()
	if g.facts != nil {
		return g.facts, true
	}
	games, err := h.deps.Store.Games(ctx)
	if err != nil {
		h.deps.Log.WarnContext(ctx, "draw days cannot be read now", "error", err)
		f := drawFacts(cat, g.Game, nil)
		return &f, false
	}
	var of *models.Game
	for i := range games {
		if games[i].ID == g.ID {
			of = &games[i]
		}
	}
	f := drawFacts(cat, g.Game, of)
	g.facts = &f
	return g.facts, true
}

// recentDraws is how many draws the page of a game lists.
const recentDraws = 20

func drawFacts(cat *catalog.Catalog, g *catalog.Game, of *models.Game) gameFacts {
	all := cat.Draws(catalog.Query{Games: []*catalog.Game{g}, From: models.FirstDate, To: models.LastDate}, nil).Refs
	stats := g.Stats(models.FirstDate, models.LastDate, 0)
	f := gameFacts{Recent: append([]catalog.Ref{}, all[:min(len(all), recentDraws)]...), Overdue: stats.OverdueDigits}
	for place := range g.Digits {
		f.Positions = append(f.Positions, place+1)
	}
	f.Digits = heatOf(stats)
	f.HeatMap = f.Digits.draw(g)
	f.Sums = sumsOf(all, g.Digits)
	f.SumChart = drawSums(g, f.Sums)
	if of != nil {
		f.Gaps = gapsOf(all, g, of)
		f.GapChart = f.Gaps.draw(g)
	}
	return f
}
