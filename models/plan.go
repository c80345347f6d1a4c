package models

// Plan names what an account may do.
type Plan string

// The plans.
const (
	PlanFree Plan = "free"
	PlanPro  Plan = "pro"
)

// BilledName returns the name of the plan that billing gives; p is nil if it gives none.
func BilledName(p *Plan) string {
	if p == nil {
		return string(PlanFree)
	}
	return string(*p)
}

// PlanTerms is what a plan grants; operators configure it.
type PlanTerms struct {
	RequestsPerDay int // counted requests per UTC day
	MaxKeys        int // live keys
}

// MostRequestsPerDay is the largest daily limit of a plan or an account. Both databases and every client's JSON can
// hold it, and it is more than a node can serve.
const MostRequestsPerDay = 1_000_000_000

// What Pro costs per month until the operator creates another price. The first price at Stripe is made from it.
const (
	ProMonthlyCents = 999
	ProCurrency     = "usd" // as Stripe writes it
)

// Plans has the terms of every plan.
type Plans map[Plan]PlanTerms

// DefaultPlans returns the terms that the product ships with.
func DefaultPlans() Plans {
	return Plans{
		PlanFree: {RequestsPerDay: 100, MaxKeys: 2},
		PlanPro:  {RequestsPerDay: 10_000, MaxKeys: 20},
	}
}

// ParsePlan parses free or pro.
func ParsePlan(s string) (Plan, error) {
	switch p := Plan(s); p {
	case PlanFree, PlanPro:
		return p, nil
	default:
		return "", Errorf(CodeInvalid, "%q is not a plan; use free or pro", s)
	}
}
