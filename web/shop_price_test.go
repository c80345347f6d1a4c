package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
	"lottery/configs"
	"lottery/web"
)

// reprice changes the price that is sold, as an operator does: in Stripe's dashboard, then with `billing setup`.
func (s *shop) reprice(cents, currency string) {
	s.t.Helper()
	s.ask("/v1/prices", url.Values{
		"product": {"lottery_pro"}, "unit_amount": {cents}, "currency": {currency}, "recurring[interval]": {"month"},
		"lookup_key": {billing.LookupKey}, "transfer_lookup_key": {"true"},
	})
	if _, err := s.billing.Setup(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.clock.move(2 * time.Second)
}

// unknownPrice creates a price of our product as if in Stripe's dashboard; it gives no plan. It returns its id.
func (s *shop) unknownPrice() string {
	s.t.Helper()
	return s.ask("/v1/prices", url.Values{"product": {"lottery_pro"}, "unit_amount": {"500"}, "currency": {"usd"}, "recurring[interval]": {"month"}})
}

// Pages show the price that is sold now; a customer who pays an older price sees that one.
func TestPricesAreThoseThatAreSold(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	old, fresh := s.person(), s.person()
	old.signIn("old@example.com")
	old.get(s.buy(old, sandbox.CardOK))
	fresh.signIn("fresh@example.com")
	public := []string{"/", "/pricing", "/docs/limits", "/llms.txt"}
	shows := func(price string, pages ...string) {
		t.Helper()
		for _, page := range pages {
			got := fresh.get(page)
			if got.says(t, http.StatusOK, price); price != "$9.99" && strings.Contains(got.text, "$9.99") {
				t.Errorf("%s shows the old price", page)
			}
		}
	}
	shows("$9.99", append(public, "/dashboard/plan")...)
	fresh.get("/pricing").says(t, http.StatusOK, ">$0 <small>")
	s.reprice("1299", "usd")
	shows("$12.99", append(public, "/dashboard/plan")...)
	old.get("/dashboard/plan").says(t, http.StatusOK, "$9.99 a month before any discount or tax; renews on")
	s.reprice("1450", "eur")
	shows("14.50 EUR", append(public, "/dashboard/plan")...)
	for _, page := range []string{"/", "/pricing"} { // the price of Free is in the same currency
		if got := fresh.get(page); !strings.Contains(got.text, ">0 EUR <small>") || strings.Contains(got.text, "$") {
			t.Errorf("%s: a price in dollars stands beside one in euros", page)
		}
	}

	b, err := s.store.BillingAccount(t.Context(), s.account("old@example.com").ID)
	if err != nil {
		t.Fatal(err)
	}
	l, ok, err := s.store.TryLease(t.Context(), "test", time.Minute)
	if err != nil || !ok {
		t.Fatal(err)
	}
	unknown := "price_of_a_friend"
	b.PriceID = &unknown
	if err := s.store.SaveBilling(t.Context(), l, b); err != nil {
		t.Fatal(err)
	}
	if got := old.get("/dashboard/plan"); !strings.Contains(got.text, "Renews on") || strings.Contains(got.text, " a month") {
		t.Errorf("an amount that nobody knows: %.1500s", got.text)
	}

	off := s.unplugged(t)
	off.person().get("/pricing").says(t, http.StatusOK, "14.50 EUR", "Pro is not for sale here")
	open(t, nil).person().get("/pricing").says(t, http.StatusOK, "$9.99")
}

// A subscription with a quantity charges a multiple of the price, and the page says so.
func TestPriceOfAQuantity(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.signedIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK))
	p.get("/dashboard/plan").says(t, http.StatusOK, "$9.99 a month before any discount or tax; renews on")
	sub := s.stripe.Subscriptions("")[0].ID
	s.ask("/v1/subscriptions/"+sub, url.Values{"items[0][id]": {s.itemOf(sub)}, "items[0][quantity]": {"2"}})
	s.sync("ada@example.com")
	p.get("/dashboard/plan").says(t, http.StatusOK, "$19.98 a month (2 × $9.99) before any discount or tax; renews on")
}

// itemOf returns the id of a subscription's item.
func (s *shop) itemOf(subscription string) string {
	s.t.Helper()
	var now struct {
		Items struct{ Data []struct{ ID string } }
	}
	if err := sandboxtest.Ask(s.t.Context(), http.DefaultTransport, http.MethodGet, s.api+"/v1/subscriptions/"+subscription, nil, &now); err != nil {
		s.t.Fatal(err)
	}
	return now.Items.Data[0].ID
}

// If checkout cannot be opened, no payment is under way, and the page does not say to wait for one.
func TestUpgradeBeforeSetup(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	fresh := open(t, func(d *web.Deps) {
		d.Billing = billing.New(billing.Options{Store: d.Store, PublicURL: d.PublicURL, Stripe: configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: s.api}})
	})
	p := fresh.signedIn("ada@example.com")
	p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=checkout")
	got := p.get("/dashboard/plan?from=checkout")
	got.says(t, http.StatusOK, "Checkout could not be opened, and nothing was charged", "Upgrade to Pro")
	if strings.Contains(got.text, "being processed") {
		t.Error("a payment is said to be under way, and there is none")
	}
	if strings.Contains(p.get("/dashboard/plan").text, "could not be opened") {
		t.Error("it is told to who did not ask")
	}
}

// A price that was archived at Stripe cannot be bought, which is not a failure of the page.
func TestUpgradeToAnArchivedPrice(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	prices, err := s.store.KnownPrices(t.Context(), false)
	if err != nil || len(prices) != 1 {
		t.Fatal(prices, err)
	}
	s.ask("/v1/prices/"+prices[0].PriceID, url.Values{"active": {"false"}})
	p := s.signedIn("ada@example.com")
	p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=checkout")
	p.get("/dashboard/plan?from=checkout").says(t, http.StatusOK, "Checkout could not be opened, and nothing was charged")
}

// Stripe's pages may be on a domain of the operator's. Browsers do not follow a form's redirect there, so we show a
// link instead. The content policy allows redirects to Stripe's own domains and those in PayPages.
func TestPaymentPagesOnADomainOfOurOwn(t *testing.T) {
	t.Parallel()
	s := openShop(t, func(d *web.Deps) { d.PayPages = []string{"https://elsewhere.example"} })
	p := s.signedIn("ada@example.com")
	policy := p.get("/dashboard/plan").header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "form-action 'self' https://checkout.stripe.com https://billing.stripe.com https://elsewhere.example") {
		t.Error(policy)
	}
	host := strings.TrimPrefix(s.api, "http://")
	got := p.post("/dashboard/plan/upgrade")
	got.says(t, http.StatusOK, "Its pages are at "+host, `href="`+s.api+"/", "Continue to "+host)
	id := regexp.MustCompile(`cs_test_\w+`).FindString(got.text)
	if _, _, err := s.stripe.Pay(id, sandbox.CardOK); err != nil {
		t.Fatal(err)
	}
	p.get("/dashboard/billing/return?session_id="+id).says(t, http.StatusOK, "Pro")
	p.post("/dashboard/plan/portal").says(t, http.StatusOK, `href="`+s.api+"/", "Continue to "+host)
}

// The pages keep showing the price while the database is down.
func TestPriceWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.reprice("1299", "usd")
	p := s.person()
	p.get("/pricing").says(t, http.StatusOK, "$12.99")
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	s.clock.move(time.Hour)
	p.get("/pricing").says(t, http.StatusOK, "$12.99")
}
