package web_test

import (
	"net/http"
	"strings"
	"testing"

	"lottery/models"
	"lottery/web"
)

// Where a plan allows no key, people sign up all the same, and no page speaks of keys that they could revoke.
func TestSignUpWhereFreeHasNoKeys(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) {
		d.Plans = models.DefaultPlans()
		d.Plans[models.PlanFree] = models.PlanTerms{RequestsPerDay: 100}
	})
	p := h.person()
	p.signIn("ada@example.com").leads(t, "/dashboard")
	for _, got := range []page{p.get("/dashboard"), p.get("/dashboard/keys"), p.post("/dashboard/keys", "name", "report")} {
		if strings.Contains(got.text, "Create your first one") || strings.Contains(got.text, "Revoke ") || strings.Contains(got.text, "and you have") {
			t.Errorf("a page speaks of keys that there cannot be: %.4000s", got.text)
		}
	}
	p.post("/dashboard/keys", "name", "report").says(t, http.StatusConflict, "Your plan allows no keys.")

	h.grant("ada@example.com", models.PlanPro)
	p.post("/dashboard/keys", "name", "report").says(t, http.StatusOK, "Your new key")
	h.grant("ada@example.com", models.PlanFree)
	p.get("/dashboard/keys").says(t, http.StatusOK, "Your plan allows no keys; those that you have go on working.")
}
