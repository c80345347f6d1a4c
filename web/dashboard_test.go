package web_test

import (
	"net/http"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store/storetest"
)

// The dashboard says of each endpoint how many calls were answered and how many refused, the most used first, and
// counts the last 30 days.
func TestUsageByEndpoint(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	id, today := h.account("ada@example.com").ID, models.DateOf(h.clock.now().UTC())
	var rows []models.UsageDay
	for _, u := range []models.UsageDay{
		{Day: today - 1, Endpoint: "/v1/stats", Class: 2, Requests: 308},
		{Day: today - 1, Endpoint: "/v1/games", Class: 2, Requests: 30}, {Day: today - 29, Endpoint: "/v1/games", Class: 3, Requests: 2},
		{Day: today - 2, Endpoint: "/v1/games", Class: 4, Requests: 1200}, {Day: today - 30, Endpoint: "/v1/games", Class: 2, Requests: 5},
	} {
		u.AccountID = id
		rows = append(rows, u)
	}
	if err := h.store.AddUsage(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	got := p.get("/dashboard")
	got.says(t, http.StatusOK, `<span class="small soft">1,540 requests</span>`, `class="tick-strong">limit 100</text>`)
	_, table, _ := strings.Cut(got.text, "By endpoint")
	at := -1
	for _, want := range []string{
		`<code>/v1/games</code>`, `<rect width="100" `, `<td class="num">32</td><td class="num">1,200</td></tr>`,
		`<code>/v1/stats</code>`, `<rect width="25" `, `<td class="num">308</td><td class="num">0</td></tr>`,
	} {
		next := strings.Index(table, want)
		if next <= at {
			t.Fatalf("%s is not there, or not in its place: %.1500s", want, table)
		}
		at = next
	}
}

// Pro has priority, which is told to nobody else; the subject tells the operator.
func TestSupportPage(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	id := h.account("ada@example.com").ID
	got := p.get("/dashboard/support")
	got.says(t, http.StatusOK, "mailto:help@example.com?subject=Question%20about%20the%20API%2c%20account%20"+id)
	if strings.Contains(got.text, "Priority") || strings.Contains(got.text, "You are on Pro") {
		t.Errorf("a Free account is told that it has priority: %s", got.text)
	}
	h.grant("ada@example.com", models.PlanPro)
	p.get("/dashboard/support").says(t, http.StatusOK, "?subject=%5bPro%5d%20Question%20about%20the%20API%2c%20account%20"+id, "Priority</span>", "You are on Pro")
}

// Where nothing is sold, what Stripe's pages lead to leads to the page of the plan.
func TestNothingIsSold(t *testing.T) {
	t.Parallel()
	p := open(t, nil).signedIn("ada@example.com")
	p.get("/dashboard/billing/return?session_id=cs_test_x").leads(t, "/dashboard/plan")
	p.post("/dashboard/plan/portal").leads(t, "/dashboard/plan")
	p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan")
}
