package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
)

// shop is a house that sells, and Stripe's stand-in.
type shop struct {
	*house

	stripe  *sandbox.Sandbox
	billing *billing.Service
	api     string // Stripe's address
}

// openShop opens a shop; change may change what its pages stand on.
func openShop(t *testing.T, change ...func(*web.Deps)) *shop {
	t.Helper()
	s := &shop{}
	var err error
	if s.stripe, err = sandbox.New(sandbox.Options{}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.stripe)
	s.api = server.URL
	t.Cleanup(func() {
		server.Close()
		_ = s.stripe.Close(context.Background())
	})
	s.house = open(t, func(d *web.Deps) {
		for _, c := range change {
			c(d)
		}
		s.billing = billing.New(billing.Options{
			Store: d.Store, PublicURL: d.PublicURL, StripeNow: s.stripe.Now, Pace: time.Nanosecond,
			Stripe: configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: server.URL, Grace: 7 * 24 * time.Hour},
		})
		if _, err := s.billing.Setup(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.Billing = s.billing
	})
	return s
}

// buy goes from the plan page through checkout, and gives the page that one comes back to.
func (s *shop) buy(p *person, card sandbox.Card) (returned string) {
	s.t.Helper()
	to := p.post("/dashboard/plan/upgrade")
	if to.status != http.StatusSeeOther {
		s.t.Fatalf("no checkout: %d %.300s", to.status, to.text)
	}
	address := to.header.Get("Location")
	id := address[strings.LastIndex(address, "/")+1:]
	if _, _, err := s.stripe.Pay(id, card); err != nil {
		s.t.Fatalf("%s: %v", address, err)
	}
	return "/dashboard/billing/return?session_id=" + id
}

// grant sets the plan of an account as an operator does.
func (h *house) grant(email string, plan models.Plan) {
	h.t.Helper()
	if _, err := h.store.GrantPlan(context.Background(), email, &plan); err != nil {
		h.t.Fatal(err)
	}
}

// Whoever has a plan by the operator's grant is sold nothing, and reads why.
func TestNothingIsSoldBesideAGrant(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, plan := range []models.Plan{models.PlanFree, models.PlanPro} {
		email := string(plan) + "@example.com"
		p := s.person()
		p.signIn(email)
		s.grant(email, plan)
		if text := p.get("/dashboard/plan").text; strings.Contains(text, "Upgrade to Pro") {
			t.Errorf("%s: the plan page sells", plan)
		}
		p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=checkout")
		p.get("/dashboard/plan?from=checkout").says(t, http.StatusOK, "the operator has set your plan", "Nothing was charged", "Write to support")
	}
	if sessions := s.stripe.Sessions(""); len(sessions) != 0 {
		t.Errorf("%+v", sessions)
	}
}

// Who has all keys that the plan allows is told to upgrade where that is possible, and nowhere else.
func TestUpgradeForMoreKeys(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for email, plan := range map[string]*models.Plan{"free@example.com": nil, "granted@example.com": new(models.PlanFree), "pro@example.com": new(models.PlanPro)} {
		p := s.person()
		p.signIn(email)
		most := models.DefaultPlans()[models.PlanFree].MaxKeys
		if plan != nil {
			s.grant(email, *plan)
			most = models.DefaultPlans()[*plan].MaxKeys
		}
		for range most - 1 {
			p.post("/dashboard/keys", "name", "another").says(t, http.StatusOK)
		}
		full, refused := p.get("/dashboard/keys"), p.post("/dashboard/keys", "name", "one more")
		full.says(t, http.StatusOK, "Revoke one that you do not need")
		refused.says(t, http.StatusConflict, "Revoke one that you do not need")
		for _, got := range []page{full, refused} {
			if sells := strings.Contains(got.text, "upgrade"); sells != (plan == nil) {
				t.Errorf("%s: sells %t: %.200s", email, sells, got.text[strings.Index(got.text, "Your plan allows"):])
			}
		}
	}
}

// Where payments are not connected no page leads to a checkout, and those about plans say that nothing is sold.
func TestNothingIsSoldWithoutPayments(t *testing.T) {
	t.Parallel()
	selling, off := openShop(t).person(), open(t, nil).person()
	for _, path := range []string{"/", "/pricing"} {
		selling.get(path).says(t, http.StatusOK, `action="/dashboard/plan/upgrade"`, "pgrade to Pro")
	}
	look := func(path string) {
		t.Helper()
		got := off.get(path)
		got.says(t, http.StatusOK, "Nothing is sold here at the moment")
		for _, unwanted := range []string{"pgrade", "How do I cancel"} {
			if strings.Contains(got.text, unwanted) {
				t.Errorf("%s says %q", path, unwanted)
			}
		}
	}
	look("/")
	look("/pricing")
	for path, upgrade := range map[string]string{"/docs/limits": "an upgrade takes effect at once", "/docs/errors/quota_exceeded": "upgrade from Free to Pro", "/llms.txt": "a month"} {
		selling.get(path).says(t, http.StatusOK, upgrade)
		got := off.get(path)
		got.says(t, http.StatusOK)
		for _, unwanted := range []string{"pgrade", " a month"} {
			if strings.Contains(got.text, unwanted) {
				t.Errorf("%s says %q", path, unwanted)
			}
		}
	}
	for _, path := range []string{"/docs/limits", "/llms.txt", "/pricing"} {
		off.get(path).says(t, http.StatusOK, "not sold here at the moment")
	}
	off.signIn("ada@example.com")
	look("/")
	look("/pricing")
	look("/dashboard/plan")
	for _, name := range []string{"second", "third"} {
		off.post("/dashboard/keys", "name", name)
	}
	if got := off.get("/dashboard/keys"); strings.Contains(got.text, "pgrade") {
		t.Error("the page of keys leads to an upgrade")
	}
	full := off.post("/dashboard/keys", "name", "fourth")
	full.says(t, http.StatusConflict, "Revoke one that you do not need.")
	if strings.Contains(full.text, "pgrade") {
		t.Error("who has as many keys as the plan allows is led to an upgrade")
	}
}

// What one account makes us ask of Stripe is bounded: Stripe's limit is for all of them together.
func TestOneAccountDoesNotAskStripeWithoutEnd(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	never := s.person()
	never.signIn("never@example.com")
	before := len(s.stripe.Calls())
	for range 30 {
		never.get("/dashboard/billing/return?session_id=cs_test_x")
	}
	never.post("/dashboard/plan/upgrade").says(t, http.StatusTooManyRequests, "try again in a minute")
	if n := len(s.stripe.Calls()) - before; n != 0 {
		t.Errorf("Stripe was asked %d times for an account that never went to checkout", n)
	}
	p := s.person()
	p.signIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK)).says(t, http.StatusOK, "Welcome to Pro")
	for _, page := range []func() page{
		func() page { return p.get("/dashboard/billing/return?session_id=cs_test_x") },
		func() page { return p.post("/dashboard/plan/upgrade") },
		func() page { return p.post("/dashboard/plan/portal") },
		func() page { return p.get("/dashboard/plan?from=portal") },
	} {
		before := len(s.stripe.Calls())
		for range 30 {
			page()
		}
		if n := len(s.stripe.Calls()) - before; n > 100 {
			t.Errorf("Stripe was asked %d times", n)
		}
		before = len(s.stripe.Calls())
		if page().status == http.StatusNotFound || len(s.stripe.Calls()) != before {
			t.Errorf("Stripe is asked on")
		}
	}
	p.get("/dashboard/plan?from=portal").says(t, http.StatusOK, "renews on", "Pro")
	p.post("/dashboard/plan/portal").says(t, http.StatusTooManyRequests, "try again in a minute")
}

// Stripe hears of a changed address; the change stands if it does not.
func TestChangedAddressAtStripe(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.person()
	p.signIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK))
	for _, c := range []struct {
		to, told string
		away     bool
	}{{"ada@example.org", "ada@example.org", false}, {"lovelace@example.org", "ada@example.org", true}} {
		p.post("/dashboard/account/email", "email", c.to).says(t, http.StatusOK, "We have sent a link")
		if c.away {
			s.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
		}
		p.post("/dashboard/account/email/confirm", "token", s.tokenOf(c.to)).says(t, http.StatusOK, "Your address is changed")
		s.stripe.ClearFaults()
		p.get("/dashboard/account").says(t, http.StatusOK, c.to)
		if at := s.stripe.Customers(); len(at) != 1 || at[0].Email != c.told {
			t.Errorf("%s: %+v", c.to, at)
		}
	}
}

// unplugged serves the pages of a shop as they are once stripe_secret_key is taken out.
func (s *shop) unplugged(t *testing.T) *house {
	t.Helper()
	h := open(t, func(d *web.Deps) { d.Store, d.Mail, d.Mailbox, d.Now = s.store, s.box, s.box, s.clock.now })
	h.store, h.box, h.clock = s.store, s.box, s.clock
	return h
}

// An account that still pays, or may, stays open while nobody can cancel at Stripe.
func TestClosingWhilePaymentsAreNotConnected(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(s *shop, p *person){
		"a subscription": func(s *shop, p *person) { p.get(s.buy(p, sandbox.CardOK)).says(t, http.StatusOK, "Welcome to Pro") },
		"one that is unpaid, and Pro over": func(s *shop, p *person) {
			p.get(s.buy(p, sandbox.CardOK))
			if err := s.stripe.SetStatus(s.stripe.Subscriptions("")[0].ID, "unpaid"); err != nil {
				t.Fatal(err)
			}
			p.get("/dashboard/plan?from=portal")
		},
		"an open checkout": func(_ *shop, p *person) { p.post("/dashboard/plan/upgrade") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			p := s.person()
			p.signIn("ada@example.com")
			begin(s, p)
			off := s.unplugged(t).person()
			off.signIn("ada@example.com")
			page := off.get("/dashboard/account/close")
			page.says(t, http.StatusOK, "cannot be cancelled from here", "Write to support")
			if strings.Contains(page.text, "cancelled at once") || strings.Contains(page.text, "Close my account</button>") {
				t.Error("the page promises what nobody can do")
			}
			off.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusConflict, "cannot be cancelled from here")
			s.account("ada@example.com")

			p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "nothing will be charged")
			for _, sub := range s.stripe.Subscriptions("") {
				if sub.Status != "canceled" {
					t.Errorf("%+v", sub)
				}
			}
		})
	}
}

// Who closes while a bank decides on a payment is not told that nothing will be charged: nobody can call it back.
func TestClosingWhileABankDecides(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(s *shop, p *person){
		"on the first payment": func(s *shop, p *person) {
			p.get(s.buy(p, sandbox.BankPays))
			p.get("/dashboard/account/close").says(t, http.StatusOK, "your bank is deciding on cannot be called back")
		},
		"on a renewal": func(s *shop, p *person) {
			p.get(s.buy(p, sandbox.CardOK))
			if err := errors.Join(s.stripe.SetCard(s.stripe.Customers()[0].ID, sandbox.BankPays), s.stripe.Renew(s.stripe.Subscriptions("")[0].ID)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			p := s.person()
			p.signIn("ada@example.com")
			begin(s, p)
			id := s.account("ada@example.com").ID
			closed := p.post("/dashboard/account/close", "confirm", "yes")
			closed.says(t, http.StatusOK, "Your account is closed", "your bank is deciding on cannot be called back", "help@example.com", id)
			if strings.Contains(closed.text, "nothing will be charged") {
				t.Error("the page promises what nobody can keep")
			}
		})
	}
}

// Whose subscription was cancelled before the database stopped answering is not told that nothing was changed.
func TestClosingIsCutShort(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	s := openShop(t, func(d *web.Deps) {
		d.Store, d.Patience = storetest.OpenURL(t, url, store.Options{}), 2*time.Second
	})
	p := s.person()
	p.signIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK)).says(t, http.StatusOK, "Welcome to Pro")
	answer := storetest.Lock(t, url, "departures")
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusServiceUnavailable, "Your account is still open", "Your subscription is cancelled")
	if got := s.stripe.Subscriptions("")[0].Status; got != "canceled" {
		t.Errorf("the subscription is %s", got)
	}
	answer()
	p.get("/dashboard/plan").says(t, http.StatusOK, "Upgrade to Pro")
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "Your account is closed")
}

// A subscription that has ended keeps nobody from closing.
func TestClosingAfterTheSubscriptionEnded(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.person()
	p.signIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK))
	if err := s.stripe.Cancel(s.stripe.Subscriptions("")[0].ID); err != nil {
		t.Fatal(err)
	}
	p.get("/dashboard/plan?from=portal").says(t, http.StatusOK, "Upgrade to Pro")
	s.clock.move(25 * time.Hour) // the checkout that was paid is past
	off := s.unplugged(t).person()
	off.signIn("ada@example.com")
	off.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "Your account is closed")
}

// reprice makes another price the one that is sold, as an operator does: in Stripe's dashboard, then by `billing setup`.
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

// unknownPrice is a price of our product that somebody made in Stripe's dashboard, and that gives no plan.
func (s *shop) unknownPrice() string {
	s.t.Helper()
	return s.ask("/v1/prices", url.Values{"product": {"lottery_pro"}, "unit_amount": {"500"}, "currency": {"usd"}, "recurring[interval]": {"month"}})
}

// ask calls Stripe as its dashboard does, and gives the id of what it answers.
func (s *shop) ask(path string, form url.Values) (id string) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.api+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(sandbox.DefaultKey, "")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var made struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("status %d, %v", res.StatusCode, err)
	}
	return made.ID
}

// While a bank decides on the first payment, the dashboard says that it is on its way, and sells nothing a second time.
func TestPaymentUnderWay(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for email, paid := range map[string]bool{"paid@example.com": true, "refused@example.com": false} {
		p := s.person()
		p.signIn(email)
		p.get(s.buy(p, sandbox.BankPays)).says(t, http.StatusOK, "Your payment is on its way")
		for _, path := range []string{"/dashboard", "/dashboard/plan", "/dashboard/plan?from=checkout"} {
			got := p.get(path)
			got.says(t, http.StatusOK, "Your payment is on its way", "With a card that takes moments, with a bank some days", "will not be charged twice", `href="/dashboard/plan?from=portal"`)
			if strings.Contains(got.text, "pgrade") || strings.Contains(got.text, "Nothing was charged") {
				t.Errorf("%s: %s sells", email, path)
			}
		}
		p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=checkout")

		b, err := s.store.BillingAccount(t.Context(), s.account(email).ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.stripe.Settle(*b.SubscriptionID, paid); err != nil {
			t.Fatal(err)
		}
		got := p.get("/dashboard/plan?from=portal") // "Look again"
		got.says(t, http.StatusOK, map[bool]string{true: "renews on", false: "Your last payment failed"}[paid])
		if strings.Contains(got.text, "on its way") {
			t.Errorf("%s: settled, and the page says that the payment is on its way", email)
		}
	}
}

// Whose payment is tried no more is not told to wait for another try.
func TestPlanPageOfAPaymentThatWasGivenUp(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.person()
	p.signIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK))
	for _, c := range []struct{ status, says, not string }{
		{"past_due", "Change the card, and it is tried again", "pay the open invoice"},
		{"unpaid", "It is not tried again by itself: pay the open invoice", "and it is tried again"},
	} {
		if err := s.stripe.SetStatus(s.stripe.Subscriptions("")[0].ID, c.status); err != nil {
			t.Fatal(err)
		}
		s.sync("ada@example.com")
		for _, path := range []string{"/dashboard", "/dashboard/plan"} {
			got := p.get(path)
			got.says(t, http.StatusOK, "Your last payment failed", c.says)
			if strings.Contains(got.text, c.not) {
				t.Errorf("%s: %s says %q", c.status, path, c.not)
			}
		}
	}
}

// Whoever looks at the page after checkout again, when the payment failed or what was bought is over, is led to the plan
// page, which says so: nothing is on its way any more.
func TestReturnPageWhenTheResultIsKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		card    sandbox.Card
		happens func(s *shop, sub string) error
		says    string
	}{
		"the bank refused":   {sandbox.BankFails, func(s *shop, sub string) error { return s.stripe.Settle(sub, false) }, "Your last payment failed"},
		"not paid for long":  {sandbox.CardOK, func(s *shop, sub string) error { return s.stripe.SetStatus(sub, "unpaid") }, "Your last payment failed"},
		"cancelled since":    {sandbox.CardOK, func(s *shop, sub string) error { return s.stripe.Cancel(sub) }, "Upgrade to Pro"},
		"a renewal past due": {sandbox.CardOK, func(s *shop, sub string) error { return s.stripe.SetStatus(sub, "past_due") }, "Pro goes on until"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			p := s.person()
			p.signIn("ada@example.com")
			returned := s.buy(p, c.card)
			p.get(returned).says(t, http.StatusOK)
			if err := c.happens(s, s.stripe.Subscriptions("")[0].ID); err != nil {
				t.Fatal(err)
			}
			p.get(returned).leads(t, "/dashboard/plan")
			p.get("/dashboard/plan").says(t, http.StatusOK, c.says)
		})
	}
	t.Run("the checkout has expired", func(t *testing.T) {
		t.Parallel()
		s := openShop(t)
		p := s.person()
		p.signIn("ada@example.com")
		to := p.post("/dashboard/plan/upgrade").header.Get("Location")
		s.stripe.Advance(25 * time.Hour)
		p.get("/dashboard/billing/return?session_id="+to[strings.LastIndex(to, "/")+1:]).leads(t, "/dashboard/plan")
	})
}

// Beside a subscription that gives no plan and goes on nothing is offered, since nothing would be sold; the page says why.
func TestPlanPageOfASubscriptionThatGivesNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *shop, sub string) error{
		"paused":              func(s *shop, sub string) error { return s.stripe.SetStatus(sub, "paused") },
		"at an unknown price": func(s *shop, sub string) error { return s.stripe.SetPrice(sub, s.unknownPrice()) },
		"at an unknown price, and not paid": func(s *shop, sub string) error {
			return errors.Join(s.stripe.SetPrice(sub, s.unknownPrice()), s.stripe.SetStatus(sub, "past_due"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			p := s.person()
			p.signIn("ada@example.com")
			p.get(s.buy(p, sandbox.CardOK))
			sub := s.stripe.Subscriptions("")[0].ID
			if err := change(s, sub); err != nil {
				t.Fatal(err)
			}
			s.sync("ada@example.com")
			p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=checkout")
			for _, path := range []string{"/dashboard", "/dashboard/plan", "/dashboard/plan?from=checkout"} {
				got := p.get(path)
				got.says(t, http.StatusOK, "Your subscription does not give you Pro", "Write to support")
				for _, unwanted := range []string{"Upgrade to Pro", "may be under way", "Free until it is paid"} {
					if strings.Contains(got.text, unwanted) {
						t.Errorf("%s says %q", path, unwanted)
					}
				}
			}
			if err := s.stripe.Cancel(sub); err != nil {
				t.Fatal(err)
			}
			p.get("/dashboard/plan?from=portal").says(t, http.StatusOK, "Upgrade to Pro")
		})
	}
}

// A subscription that is cancelled on a date does not renew, whenever its period ends.
func TestPlanPageOfACancellationOnADate(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.person()
	p.signIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK))
	end := s.stripe.Now().Add(48 * time.Hour).UTC()
	s.ask("/v1/subscriptions/"+s.stripe.Subscriptions("")[0].ID, url.Values{"cancel_at": {strconv.FormatInt(end.Unix(), 10)}})
	s.sync("ada@example.com")
	plan := p.get("/dashboard/plan")
	plan.says(t, http.StatusOK, "Pro ends on "+end.Format("2 January 2006, 15:04 UTC"), "take back the cancellation")
	if strings.Contains(plan.text, "renews") {
		t.Error("the page says that it renews")
	}
}

// Pages show what is sold; who pays an older price reads that one.
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
	old.get("/dashboard/plan").says(t, http.StatusOK, "$9.99 a month; renews on")
	s.reprice("1450", "eur")
	shows("14.50 EUR", append(public, "/dashboard/plan")...)
	for _, page := range []string{"/", "/pricing"} { // Free is no price in another currency
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
	off.person().get("/pricing").says(t, http.StatusOK, "14.50 EUR", "Nothing is sold here")
	open(t, nil).person().get("/pricing").says(t, http.StatusOK, "$9.99")
}

// Where checkout cannot be opened nothing is under way, and nobody is told to wait for it.
func TestUpgradeBeforeSetup(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	fresh := open(t, func(d *web.Deps) {
		d.Billing = billing.New(billing.Options{Store: d.Store, PublicURL: d.PublicURL, Stripe: configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: s.api}})
	})
	p := fresh.person()
	p.signIn("ada@example.com")
	p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=checkout")
	got := p.get("/dashboard/plan?from=checkout")
	got.says(t, http.StatusOK, "Checkout could not be opened, and nothing was charged", "Upgrade to Pro")
	if strings.Contains(got.text, "under way") {
		t.Error("a payment is said to be under way, and there is none")
	}
	if strings.Contains(p.get("/dashboard/plan").text, "could not be opened") {
		t.Error("it is told to who did not ask")
	}
}

// The price stays on the pages while the database is away.
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

// read reads what Stripe says of an account, as after a webhook. The mails that follow wait.
func (s *shop) read(email string) {
	s.t.Helper()
	if _, err := s.billing.Sync(s.t.Context(), s.account(email).ID, billing.Cause{Actor: "stripe", Reason: "test"}); err != nil {
		s.t.Fatal(err)
	}
}

// sync is read, and sends the mails.
func (s *shop) sync(email string) {
	s.t.Helper()
	s.read(email)
	outbox := web.Outbox{Store: s.store, Mail: s.box, Plans: models.DefaultPlans(), PublicURL: s.base, Support: "help@example.com", Log: slog.New(slog.DiscardHandler)}
	if err := outbox.Send(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// wantMail wants the newest mail to have a subject, and to say some things and others not.
func (s *shop) wantMail(subject string, says, not []string) {
	s.t.Helper()
	newest := s.box.All()[0]
	text := newest.Text()
	if newest.Subject != subject {
		s.t.Errorf("the newest mail is %q, want %q", newest.Subject, subject)
	}
	for _, words := range says {
		if !strings.Contains(text, words) {
			s.t.Errorf("%s does not say %q:\n%s", subject, words, text)
		}
	}
	for _, words := range not {
		if strings.Contains(text, words) {
			s.t.Errorf("%s says %q:\n%s", subject, words, text)
		}
	}
}

// What mails and pages say of money is true for the plan in force, whoever set it.
func TestWhatIsSaidBesideAGrant(t *testing.T) {
	t.Parallel()
	for plan, stays := range map[models.Plan]string{
		models.PlanFree: "set it to Free, with 100 requests a day", models.PlanPro: "set it to Pro, with 10,000 requests a day",
	} {
		t.Run(string(plan), func(t *testing.T) {
			t.Parallel()
			const email = "ada@example.com"
			s := openShop(t)
			p := s.person()
			p.signIn(email)
			returned := s.buy(p, sandbox.CardOK)
			s.grant(email, plan)
			page := p.get(returned)
			page.says(t, http.StatusOK, "Your payment arrived", stays)
			if strings.Contains(page.text, "Welcome to Pro") {
				t.Error("the page welcomes to Pro")
			}
			s.sync(email)
			s.wantMail("Your payment arrived", []string{stays, "help@example.com"}, []string{"from now on"})
			p.get("/dashboard/plan").says(t, http.StatusOK, "it stays, whatever becomes of your subscription", "Your subscription: $9.99 a month; renews")

			sub := s.stripe.Subscriptions("")[0].ID
			if err := s.stripe.SetStatus(sub, "past_due"); err != nil {
				t.Fatal(err)
			}
			s.sync(email)
			s.wantMail("Your payment failed", []string{stays}, []string{"Pro goes on", "goes on as Free"})
			page = p.get("/dashboard/plan")
			page.says(t, http.StatusOK, "Your last payment failed", "Your plan stays")
			if strings.Contains(page.text, "Pro goes on until") {
				t.Error("the page speaks of an end of Pro")
			}

			if err := s.stripe.Cancel(sub); err != nil {
				t.Fatal(err)
			}
			s.sync(email)
			s.wantMail("Your subscription has ended", []string{stays}, []string{"goes on as Free", "upgrade"})
			p.get("/dashboard/plan").says(t, http.StatusOK, "nothing is charged for it")
		})
	}
}

// Pro is not offered with requests that an account whose limit the operator has set would not get for it.
func TestOfferBesideAnOwnLimit(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	s := openShop(t)
	p := s.person()
	p.signIn(email)
	p.get("/dashboard/plan").says(t, http.StatusOK, "10,000 requests a day, at once")
	p.get("/dashboard").says(t, http.StatusOK, "Calls are answered 429", "Upgrade to Pro and go on") // nothing counts here: nothing is left
	if _, err := s.store.OverrideLimit(t.Context(), email, new(50)); err != nil {
		t.Fatal(err)
	}
	plan := p.get("/dashboard/plan")
	plan.says(t, http.StatusOK, "50 requests a day, as now", "Pro does not change it", "Upgrade to Pro")
	if strings.Contains(plan.text, "10,000") {
		t.Error("the plan page offers requests that Pro does not give")
	}
	usage := p.get("/dashboard")
	usage.says(t, http.StatusOK, "Calls are answered 429")
	if strings.Contains(usage.text, "Upgrade to Pro and go on") {
		t.Error("the dashboard says that one could go on with Pro")
	}
	s.sync(email)
	p.get(s.buy(p, sandbox.CardOK)).says(t, http.StatusOK, "50 requests a day")
}

// Whose Pro ends since it is not paid is not told to upgrade, which is refused while the subscription goes on.
func TestMailOfTheEnd(t *testing.T) {
	t.Parallel()
	for status, says := range map[string]string{
		"unpaid": "Pro comes back when it is paid", "paused": "does not give you Pro as it is", "canceled": "You can upgrade again at any time",
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			p := s.person()
			p.signIn("ada@example.com")
			p.get(s.buy(p, sandbox.CardOK))
			if err := s.stripe.SetStatus(s.stripe.Subscriptions("")[0].ID, status); err != nil {
				t.Fatal(err)
			}
			s.sync("ada@example.com")
			not := []string{"upgrade again"}
			if status == "canceled" {
				not = []string{"goes on, and"}
			}
			s.wantMail("Pro has ended", []string{says, "Your keys still work"}, not)
		})
	}
}

// Mails know the account's own limit, and that a suspended account has nothing of its plan.
func TestMailsKnowTheAccount(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	s := openShop(t)
	p := s.person()
	p.signIn(email)
	limit := 25_000
	if _, err := s.store.OverrideLimit(t.Context(), email, &limit); err != nil {
		t.Fatal(err)
	}
	returned := s.buy(p, sandbox.CardOK)
	s.sync(email)
	s.wantMail("You are on Pro", []string{"25,000 requests a day"}, []string{"10,000"})
	if _, err := s.store.SetAccountStatus(t.Context(), email, models.AccountSuspended); err != nil {
		t.Fatal(err)
	}
	p.get(returned).says(t, http.StatusOK, "Your payment arrived", "Your account is suspended")
	if err := s.stripe.Cancel(s.stripe.Subscriptions("")[0].ID); err != nil {
		t.Fatal(err)
	}
	s.sync(email)
	s.wantMail("Pro has ended", []string{"is suspended", "help@example.com"}, []string{"Your keys still work", "upgrade"})
}

// What Stripe is told of somebody, and keeps, is told to them.
func TestWhatStripeKeepsIsTold(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	const keeps = "Stripe keeps its own record of you and of what you paid"
	p := s.person()
	p.get("/privacy").says(t, http.StatusOK, "Stripe gets your e-mail address", keeps)
	p.signIn("ada@example.com")
	if got := p.get("/dashboard/account/close"); strings.Contains(got.text, keeps) {
		t.Error("who never went to checkout is told that Stripe has a record")
	}
	p.get(s.buy(p, sandbox.CardOK))
	p.get("/dashboard/account/close").says(t, http.StatusOK, keeps)
}

// Mails that waited for the mail server until they were not true any more are not sent.
func TestMailsThatAreOvertaken(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	s := openShop(t)
	p := s.person()
	p.signIn(email)
	s.buy(p, sandbox.CardOK)
	s.sync(email)
	s.wantMail("You are on Pro", nil, nil)

	sub, customer := s.stripe.Subscriptions("")[0].ID, s.stripe.Customers()[0].ID
	sent := func(wait ...func() error) (subjects []string) {
		t.Helper()
		before := len(s.box.All())
		for _, do := range wait {
			if err := do(); err != nil {
				t.Fatal(err)
			}
			s.read(email)
		}
		s.sync(email)
		for _, m := range s.box.All()[:len(s.box.All())-before] {
			subjects = append(subjects, m.Subject)
		}
		return subjects
	}
	fails := func() error {
		return errors.Join(s.stripe.SetCard(customer, sandbox.CardDeclined), s.stripe.Renew(sub))
	}
	pays := func() error {
		return errors.Join(s.stripe.SetCard(customer, sandbox.CardOK), s.stripe.RetryPayment(sub))
	}
	ends := func() error { return s.stripe.Cancel(sub) }
	again := func() error {
		s.buy(p, sandbox.CardOK)
		return nil
	}
	for _, c := range []struct {
		wait []func() error
		want string
	}{
		{[]func() error{fails, pays}, "[]"},
		{[]func() error{fails}, "[Your payment failed]"},
		{[]func() error{pays, ends, again}, "[You are on Pro]"},
		{[]func() error{func() error { sub = s.live(); return ends() }}, "[Pro has ended]"},
		{[]func() error{again, func() error { sub = s.live(); return ends() }}, "[Pro has ended]"},
	} {
		if got := fmt.Sprint(sent(c.wait...)); got != c.want {
			t.Errorf("mails %s, want %s", got, c.want)
		}
	}
	if waiting, dead, err := s.store.MailsLeft(t.Context()); err != nil || waiting+dead != 0 {
		t.Errorf("%d mails wait and %d were given up: %v", waiting, dead, err)
	}
}

// live is the subscription that is paid.
func (s *shop) live() string {
	s.t.Helper()
	for _, sub := range s.stripe.Subscriptions("") {
		if sub.Status == models.SubscriptionActive {
			return sub.ID
		}
	}
	s.t.Fatal("no subscription is paid")
	return ""
}
