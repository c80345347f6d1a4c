package middleware

import (
	"testing"

	"lottery/models"
)

// The requests of every plan are counted as its own, and not as those without a valid key.
func TestEveryPlanHasALabel(t *testing.T) {
	t.Parallel()
	for plan := range models.DefaultPlans() {
		if i := planIndex(plan); plans[i] != string(plan) {
			t.Errorf("requests of the plan %s are counted as plan=%q: add it to plans in traffic.go", plan, plans[i])
		}
	}
}
