package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lottery/models"
)

// subscribe gives somebody who has opened a checkout a subscription, as an operator does in Stripe's dashboard.
func (s *shop) subscribe(p *person, status string) (sub string) {
	s.t.Helper()
	p.post("/dashboard/plan/upgrade")
	prices, err := s.store.KnownPrices(s.t.Context(), false)
	if err == nil {
		sub, err = s.stripe.NewSubscription(s.stripe.Customers()[0].ID, prices[0].PriceID, status, nil)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return sub
}

// During a trial, nothing has been paid: neither the page nor a mail says so, and the page says when the first payment
// is due.
func TestTrial(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.signedIn("ada@example.com")
	sub := s.subscribe(p, "trialing")
	s.sync("ada@example.com")
	s.wantMail("You are on Pro", []string{"Your Pro plan for the Lottery Draws API has started", "10,000 requests a day"}, []string{"payment"})
	got := p.get("/dashboard/plan")
	got.says(t, http.StatusOK, ">trial<", "Free trial until", "; after that, $9.99 a month")
	if strings.Contains(got.text, "enews on") {
		t.Error("a trial is said to renew")
	}
	s.grant("ada@example.com", models.PlanPro)
	p.get("/dashboard/plan").says(t, http.StatusOK, ">active<", "Your subscription: free trial until")
	if _, err := s.store.GrantPlan(t.Context(), "ada@example.com", nil); err != nil {
		t.Fatal(err)
	}
	s.ask("/v1/subscriptions/"+sub, url.Values{"cancel_at_period_end": {"true"}})
	s.sync("ada@example.com")
	got = p.get("/dashboard/plan")
	got.says(t, http.StatusOK, ">canceled<", "Canceled: Pro ends on")
	if strings.Contains(got.text, "after that, $9.99") {
		t.Error("a canceled trial is said to cost something")
	}
}

// What the page says of the price holds also if the operator has given a discount, or charges tax.
func TestPriceBeforeDiscountAndTax(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.customer().get("/dashboard/plan").says(t, http.StatusOK, ">active<", "$9.99 a month before any discount or tax; renews on")
	buyer := s.signedIn("buyer@example.com")
	for _, path := range []string{"/pricing", "/dashboard/plan"} { // how many clicks Stripe asks for is not ours to promise
		if strings.Contains(buyer.get(path).text, "clicks") {
			t.Errorf("%s promises a number of clicks", path)
		}
	}
	got := s.person().get("/pricing")
	got.says(t, http.StatusOK, "There are no overage charges")
	if strings.Contains(got.text, "never charged more") {
		t.Error("tax is more than the price of the plan")
	}
}

// While a payment is due, the plan is not called active, and the mail says which service it is about and how long Pro
// goes on.
func TestPaymentDue(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.customer()
	if err := s.stripe.SetStatus(s.stripe.Subscriptions("")[0].ID, "past_due"); err != nil {
		t.Fatal(err)
	}
	s.sync("ada@example.com")
	b, err := s.store.BillingAccount(t.Context(), s.account("ada@example.com").ID)
	if err != nil {
		t.Fatal(err)
	}
	s.wantMail("Your payment failed", []string{"Lottery Draws API", "You keep Pro until " + b.GraceEndsAt.Format("January 2, 2006") + ","}, nil)
	got := p.get("/dashboard/plan")
	got.says(t, http.StatusOK, ">payment due<")
	if strings.Contains(got.text, ">active<") {
		t.Error("the plan is called active beside the payment that failed")
	}
}
