package web_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"lottery/api/quota"
	"lottery/models"
	"lottery/web"
)

// An account with a limit of 0 is not told that it can make requests tomorrow.
func TestDashboardOfALimitOfNothing(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	s := openShop(t)
	p := s.signedIn(email)
	if _, err := s.store.OverrideLimit(t.Context(), email, new(0)); err != nil {
		t.Fatal(err)
	}
	got := p.get("/dashboard")
	got.says(t, http.StatusOK, "Your daily limit is 0", "Calls get a 429, today and every day", "contact support")
	if strings.Contains(got.text, "used all of today") || strings.Contains(got.text, "Upgrade to Pro") || strings.Contains(got.text, "Resets in") {
		t.Errorf("the dashboard promises another day: %.4000s", got.text)
	}
}

// Where Free has no requests, the dashboard suggests Pro, which has some.
func TestDashboardWhereFreeHasNoRequests(t *testing.T) {
	t.Parallel()
	s := openShop(t, func(d *web.Deps) {
		d.Plans = models.DefaultPlans()
		d.Plans[models.PlanFree] = models.PlanTerms{MaxKeys: 2}
	})
	p := s.signedIn("ada@example.com")
	p.get("/dashboard").says(t, http.StatusOK, "Your daily limit is 0", "Calls get a 429, today and every day", "Upgrade to Pro and continue")
}

// Where Free allows no keys, people can sign up all the same, and no page suggests revoking keys.
func TestSignUpWhereFreeHasNoKeys(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) {
		d.Plans = models.DefaultPlans()
		d.Plans[models.PlanFree] = models.PlanTerms{RequestsPerDay: 100}
	})
	p := h.person()
	p.signIn("ada@example.com").leads(t, "/dashboard")
	for _, got := range []page{p.get("/dashboard"), p.get("/dashboard/keys"), p.post("/dashboard/keys", "name", "report")} {
		if strings.Contains(got.text, "make your first call") || strings.Contains(got.text, "Revoke ") || strings.Contains(got.text, "and you have") {
			t.Errorf("a page speaks of keys that there cannot be: %.4000s", got.text)
		}
	}
	p.post("/dashboard/keys", "name", "report").says(t, http.StatusConflict, "Your plan allows no keys.")

	h.grant("ada@example.com", models.PlanPro)
	p.post("/dashboard/keys", "name", "report").says(t, http.StatusOK, "Your new key")
	h.grant("ada@example.com", models.PlanFree)
	p.get("/dashboard/keys").says(t, http.StatusOK, "Your plan allows no keys; the ones you have keep working.")
}

// Statistics by endpoint are written every few seconds: until then, the dashboard does not say that there were no calls
// below their number. Nor does it tell somebody who came back after a while that there never were any.
func TestCallsThatAreNotInTheStatisticsYet(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) {
		d.Quota = quota.New(d.Store, quota.Options{Now: d.Now, Log: slog.New(slog.DiscardHandler)})
	})
	p := h.person()
	p.signIn("ada@example.com")
	account := h.account("ada@example.com").ID
	today := models.DateOf(h.clock.now().UTC())
	call := func(day models.Date) {
		t.Helper()
		if err := h.store.AddUsage(t.Context(), []models.UsageDay{{AccountID: account, Day: day, Endpoint: "stats", Class: 2, Requests: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	says := func(want string) {
		t.Helper()
		got := p.get("/dashboard")
		for _, text := range []string{"No calls in the last 30 days", "a few seconds after", "<code>stats</code>"} {
			if strings.Contains(got.text, text) != (text == want) {
				t.Errorf("%q:\n%s", text, got.text)
			}
		}
		if strings.Contains(got.text, "No calls yet") {
			t.Error("it says that there never were any")
		}
	}
	call(today - 40)
	says("No calls in the last 30 days")
	h.uses("ada@example.com", 3)
	says("a few seconds after")
	call(today)
	says("<code>stats</code>")
}

// The examples in the docs keep to the limits that the operator has set. They are of a response to a request that
// counted, after which not all of the limit can be left.
func TestExamplesOfLimits(t *testing.T) {
	t.Parallel()
	for free, want := range map[int]struct{ left, served string }{
		100: {"73", "request 100 of 100 is served"}, 10: {"7", "request 10 of 10 is served"}, 1: {"0", "request 1 of 1 is served"}, 0: {"0", "The count is exact."},
	} {
		s := openShop(t, func(d *web.Deps) {
			d.Plans = models.Plans{models.PlanFree: {RequestsPerDay: free, MaxKeys: 2}, models.PlanPro: {RequestsPerDay: 10, MaxKeys: 20}}
		})
		got := s.person().get("/docs/limits")
		got.says(t, http.StatusOK, "X-RateLimit-Remaining: "+want.left+"\n", ";r="+want.left+";", want.served)
		if home := s.person().get("/"); strings.Contains(home.text, "is served") != (free > 0) {
			t.Errorf("with %d, the home page says otherwise", free)
		}
		if gives := strings.Contains(got.text, "more for the day"); gives != (free < 10) {
			t.Errorf("with %d: that Pro gives more is said: %t", free, gives)
		}
	}
}
