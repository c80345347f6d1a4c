package web_test

import (
	"net/http"
	"strings"
	"testing"

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
