package web

import (
	"fmt"
	"html/template"
	"net/http"

	"lottery/models"
	"lottery/models/catalog"
)

// endpoint is one path of the API as the landing page lists it.
type endpoint struct{ Path, Query, Text, Anchor string }

var endpoints = []endpoint{
	{"/v1/games", "", "Every game, with its latest draws", "listGames"},
	{"/v1/draws/recent", "?game=", "The newest draws of a game", "listRecentDraws"},
	{"/v1/draws/date/", "2025-09-29", "Everything drawn on a date", "listDrawsByDate"},
	{"/v1/draws/search", "?number=", "A number in all games, exact and box", "searchDraws"},
	{"/v1/draws/by-sum", "?sum=&game=", "Draws by the sum of their digits", "listDrawsBySum"},
	{"/v1/draws/by-pair", "?pair=&game=", "Draws that contain a pair: anywhere, front, back, split", "listDrawsByPair"},
	{"/v1/draws/history", "?game=&year=", "A whole year at once", "listDrawsOfYear"},
	{"/v1/stats", "?game=", "Frequencies, next to what chance alone gives", "getStats"},
	{"/v1/overview", "", "What data there is, and what is missing", "getOverview"},
	{"/v1/usage", "", "What you have used; calling it does not count", "getUsage"},
}

// homeView is the data of the landing page.
type homeView struct {
	Sample    *sample
	Totals    totals
	Endpoints []endpoint
	Plans     plansView
}

// totals sums up the catalog.
type totals struct {
	Draws, Games int
	First, Last  models.Date
	FirstYear    int
}

// plansView shows the plans side by side.
type plansView struct {
	Free, Pro models.PlanTerms
	Nothing   string // price of Free: zero in the currency of Price
	Price     string // monthly price of Pro
	OnPro     bool   // the visitor has Pro
	Sold      bool   // Pro is for sale here
}

func (h *Handler) plansView(r *http.Request) plansView {
	price := h.soldPrice(r.Context())
	p := plansView{
		Free: h.deps.Plans[models.PlanFree], Pro: h.deps.Plans[models.PlanPro], Nothing: nothing(&price), Price: priceText(&price), Sold: h.deps.Billing != nil,
	}
	if v := visitorOf(r); v != nil {
		plan, _ := v.Account.Plan()
		p.OnPro = plan == models.PlanPro
	}
	return p
}

func (h *Handler) home(w http.ResponseWriter, r *http.Request) error {
	data := homeView{Endpoints: endpoints, Plans: h.plansView(r)}
	m := h.remember()
	if m != nil {
		data.Sample, data.Totals = m.sample, m.totals
	}
	h.show(w, r, view{
		Page: "home", Kept: m.kept("home"), KeptOf: data.Plans, Data: data,
		Description: "Historical draws of the US digit games (Pick 3, Pick 4, Pick 5) as a JSON API: by date, number, box, digit sum and pair. Free to start.",
	})
	return nil
}

func (h *Handler) pricing(w http.ResponseWriter, r *http.Request) error {
	plans := h.plansView(r)
	h.show(w, r, view{
		Page: "pricing", Title: "Pricing", Section: "pricing", Kept: h.remember().kept("pricing"), KeptOf: plans, Data: plans,
		Description: fmt.Sprintf("Free: %s requests a day. Pro: %s requests a day, %s. All endpoints and all draws in both.",
			thousands(plans.Free.RequestsPerDay), thousands(plans.Pro.RequestsPerDay), h.proOffer(r.Context())),
	})
	return nil
}

// sample is a real request to the API and its response.
type sample struct {
	Game, GameName string
	Path           string // of the request, with its query
	JSON           template.HTML
	Latest         sampleDraw
}

type sampleDraw struct {
	Date models.Date
	Tod  string
	Text string
}

// liveliest returns the game with the newest draw. Of several, it prefers more digits, up to four: they show more.
func liveliest(cat *catalog.Catalog) *catalog.Game {
	best := cat.Games()[0]
	for _, g := range cat.Games() {
		if g.Last() > best.Last() || g.Last() == best.Last() && g.Digits > best.Digits && g.Digits <= 4 {
			best = g
		}
	}
	return best
}

// sampleOf makes the sample from the newest draw of a game. The request names its date and time of day, so the response
// is short and complete.
func sampleOf(cat *catalog.Catalog, g *catalog.Game) *sample {
	newest := g.Latest()[0]
	page := cat.Draws(catalog.Query{Games: []*catalog.Game{g}, From: newest.Date(), To: newest.Date(), Tod: newest.Tod()}, nil)
	return &sample{
		Game: g.ID, GameName: g.Name, JSON: highlightJSON(listJSON(page, g)),
		Path:   fmt.Sprintf("/v1/draws/date/%s?game=%s&tod=%s", newest.Date(), g.ID, newest.Tod()),
		Latest: sampleDraw{newest.Date(), newest.Tod().String(), numberOf(newest)},
	}
}

// sampleGame returns the id of the game that examples use.
func (m *memory) sampleGame() string {
	if m != nil && m.sample != nil {
		return m.sample.Game
	}
	return "ny-win-4"
}
