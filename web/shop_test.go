package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
	"lottery/configs"
	"lottery/models"
	"lottery/web"
)

// shop is a house with payments, connected to a stand-in for Stripe.
type shop struct {
	*house

	stripe  *sandbox.Sandbox
	billing *billing.Service
	api     string // URL of the stand-in's API
}

// openShop opens a shop; change may modify what its pages depend on.
func openShop(t *testing.T, change ...func(*web.Deps)) *shop {
	t.Helper()
	s := &shop{}
	s.stripe, s.api = sandboxtest.Start(t)
	s.house = open(t, func(d *web.Deps) {
		d.PayPages = []string{s.api}
		for _, c := range change {
			c(d)
		}
		s.billing = billing.New(billing.Options{
			Store: d.Store, PublicURL: d.PublicURL, StripeNow: s.stripe.Now, Pace: time.Nanosecond,
			Stripe: configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: s.api, Grace: 7 * 24 * time.Hour},
		})
		if _, err := s.billing.Setup(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.Billing = s.billing
	})
	return s
}

// customer returns ada, who has signed up and paid for Pro.
func (s *shop) customer() *person {
	s.t.Helper()
	p := s.signedIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK))
	return p
}

// buy goes from the plan page through checkout, and returns the path of the page that checkout leads back to.
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

// grant sets an account's plan as an operator does.
func (h *house) grant(email string, plan models.Plan) {
	h.t.Helper()
	if _, err := h.store.GrantPlan(context.Background(), email, &plan); err != nil {
		h.t.Fatal(err)
	}
}

// An account whose plan the operator has set cannot buy anything, and is told why.
func TestNothingIsSoldBesideAGrant(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, plan := range []models.Plan{models.PlanFree, models.PlanPro} {
		email := string(plan) + "@example.com"
		p := s.signedIn(email)
		s.grant(email, plan)
		if text := p.get("/dashboard/plan").text; strings.Contains(text, "Upgrade to Pro") {
			t.Errorf("%s: the plan page sells", plan)
		}
		p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=checkout")
		p.get("/dashboard/plan?from=checkout").says(t, http.StatusOK, "the operator has set your plan", "Nothing was charged", "Contact support")
	}
	if sessions := s.stripe.Sessions(""); len(sessions) != 0 {
		t.Errorf("%+v", sessions)
	}
}

// An account with as many keys as its plan allows is told to upgrade if that is possible, and only then.
func TestUpgradeForMoreKeys(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for email, plan := range map[string]*models.Plan{"free@example.com": nil, "granted@example.com": new(models.PlanFree), "pro@example.com": new(models.PlanPro)} {
		p := s.signedIn(email)
		most := models.DefaultPlans()[models.PlanFree].MaxKeys
		if plan != nil {
			s.grant(email, *plan)
			most = models.DefaultPlans()[*plan].MaxKeys
		}
		for range most - 1 {
			p.post("/dashboard/keys", "name", "another").says(t, http.StatusOK)
		}
		full, refused := p.get("/dashboard/keys"), p.post("/dashboard/keys", "name", "one more")
		full.says(t, http.StatusOK, "Revoke one you do not need")
		refused.says(t, http.StatusConflict, "Revoke one you do not need")
		for _, got := range []page{full, refused} {
			if sells := strings.Contains(got.text, "upgrade"); sells != (plan == nil) {
				t.Errorf("%s: sells %t: %.200s", email, sells, got.text[strings.Index(got.text, "Your plan allows"):])
			}
		}
		if most > 5 {
			s.grant(email, models.PlanFree) // now there are more than Free allows
			p.get("/dashboard/keys").says(t, http.StatusOK, "Your plan allows 2 live keys. You have 20, and they all keep working. Revoke 19 of them to create another.")
		}
	}
}

// While payments are not connected, no page leads to checkout, and the pages about plans say that nothing is for sale.
func TestNothingIsSoldWithoutPayments(t *testing.T) {
	t.Parallel()
	selling, off := openShop(t).person(), open(t, nil).person()
	for _, path := range []string{"/", "/pricing"} {
		selling.get(path).says(t, http.StatusOK, `action="/dashboard/plan/upgrade"`, "pgrade to Pro")
	}
	look := func(path string) {
		t.Helper()
		got := off.get(path)
		got.says(t, http.StatusOK, "Pro is not for sale here at the moment")
		for _, unwanted := range []string{"pgrade", "How do I cancel"} {
			if strings.Contains(got.text, unwanted) {
				t.Errorf("%s says %q", path, unwanted)
			}
		}
	}
	look("/")
	look("/pricing")
	for path, upgrade := range map[string]string{"/docs/limits": "An upgrade takes effect immediately", "/docs/errors/quota_exceeded": "upgrade from Free to Pro", "/llms.txt": "a month"} {
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
		off.get(path).says(t, http.StatusOK, "not for sale here at the moment")
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
	full.says(t, http.StatusConflict, "Revoke one you do not need.")
	if strings.Contains(full.text, "pgrade") {
		t.Error("who has as many keys as the plan allows is led to an upgrade")
	}
}

// One account can cause only so many calls to Stripe, whose rate limit is shared by all accounts.
func TestOneAccountDoesNotAskStripeWithoutEnd(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	never := s.signedIn("never@example.com")
	never.post("/dashboard/plan/portal").leads(t, "/dashboard/plan") // which has nothing for it
	before := len(s.stripe.Calls())
	for range 30 {
		never.get("/dashboard/billing/return?session_id=cs_test_x")
	}
	never.post("/dashboard/plan/upgrade").says(t, http.StatusTooManyRequests, "try again in a minute")
	if n := len(s.stripe.Calls()) - before; n != 0 {
		t.Errorf("Stripe was asked %d times for an account that never went to checkout", n)
	}
	p := s.signedIn("ada@example.com")
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

// Stripe learns of a changed email address. If it does not answer, the change stands, and the next reconcile tells it;
// later ones leave alone what the customer enters in the portal.
func TestChangedAddressAtStripe(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.customer()
	for _, c := range []struct {
		to, told string
		away     bool
	}{{"ada@example.org", "ada@example.org", false}, {"lovelace@example.org", "ada@example.org", true}} {
		p.post("/dashboard/account/email", "email", c.to).says(t, http.StatusOK, "We sent a link")
		if c.away {
			s.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
		}
		p.post("/dashboard/account/email/confirm", "token", s.tokenOf(c.to)).says(t, http.StatusOK, "Your address has changed")
		s.stripe.ClearFaults()
		p.get("/dashboard/account").says(t, http.StatusOK, c.to)
		if at := s.stripe.Customers(); len(at) != 1 || at[0].Email != c.told {
			t.Errorf("%s: %+v", c.to, at)
		}
	}
	reconciled := func(want string) {
		if _, err := s.billing.Reconcile(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if at := s.stripe.Customers(); len(at) != 1 || at[0].Email != want {
			t.Errorf("after a reconcile: %+v, want %s", at, want)
		}
	}
	reconciled("lovelace@example.org")
	if err := s.stripe.SetEmail(s.stripe.Customers()[0].ID, "office@example.org"); err != nil {
		t.Fatal(err)
	}
	reconciled("office@example.org")
}

// read syncs an account with Stripe, as after a webhook. The resulting mails stay in the outbox.
func (s *shop) read(email string) {
	s.t.Helper()
	if _, err := s.billing.Sync(s.t.Context(), s.account(email).ID, billing.Cause{Actor: "stripe", Reason: "test"}); err != nil {
		s.t.Fatal(err)
	}
}

// sync does what read does, and sends the mails.
func (s *shop) sync(email string) {
	s.t.Helper()
	s.read(email)
	if err := newOutbox(s.store, s.box).Send(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// What mails and pages say about payments is true for the plan in force, whoever set it.
func TestWhatIsSaidBesideAGrant(t *testing.T) {
	t.Parallel()
	for plan, stays := range map[models.Plan]string{
		models.PlanFree: "set it to Free, with 100 requests a day", models.PlanPro: "set it to Pro, with 10,000 requests a day",
	} {
		t.Run(string(plan), func(t *testing.T) {
			t.Parallel()
			const email = "ada@example.com"
			s := openShop(t)
			p := s.signedIn(email)
			returned := s.buy(p, sandbox.CardOK)
			s.grant(email, plan)
			page := p.get(returned)
			page.says(t, http.StatusOK, "We received your payment", stays)
			if strings.Contains(page.text, "Welcome to Pro") {
				t.Error("the page welcomes to Pro")
			}
			s.sync(email)
			s.wantMail("Your subscription has started", []string{stays, "help@example.com"}, []string{"from now on"})
			p.get("/dashboard/plan").says(t, http.StatusOK, "you keep it, whatever happens to your subscription", "Your subscription: $9.99 a month before any discount or tax; renews")

			sub := s.stripe.Subscriptions("")[0].ID
			if err := s.stripe.SetStatus(sub, "past_due"); err != nil {
				t.Fatal(err)
			}
			s.sync(email)
			s.wantMail("Your payment failed", []string{stays}, []string{"Pro goes on", "goes on as Free"})
			page = p.get("/dashboard/plan")
			page.says(t, http.StatusOK, "Your last payment failed", "You keep your plan")
			if strings.Contains(page.text, "Pro continues until") {
				t.Error("the page speaks of an end of Pro")
			}

			if err := s.stripe.Cancel(sub); err != nil {
				t.Fatal(err)
			}
			s.sync(email)
			s.wantMail("Your subscription has ended", []string{stays}, []string{"goes on as Free", "upgrade"})
			p.get("/dashboard/plan").says(t, http.StatusOK, "you are not charged for it")
		})
	}
}

// The offer of Pro to an account whose limit the operator has set does not promise requests that it would not get.
func TestOfferBesideAnOwnLimit(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	s := openShop(t)
	p := s.signedIn(email)
	p.get("/dashboard/plan").says(t, http.StatusOK, "10,000 requests a day, effective immediately")
	p.get("/dashboard").says(t, http.StatusOK, "Calls get a 429", "Upgrade to Pro and continue") // no counter, so nothing left
	if _, err := s.store.OverrideLimit(t.Context(), email, new(50)); err != nil {
		t.Fatal(err)
	}
	plan := p.get("/dashboard/plan")
	plan.says(t, http.StatusOK, "50 requests a day, as now", "Pro does not change it", "Upgrade to Pro")
	if strings.Contains(plan.text, "10,000") {
		t.Error("the plan page offers requests that Pro does not give")
	}
	usage := p.get("/dashboard")
	usage.says(t, http.StatusOK, "Calls get a 429")
	if strings.Contains(usage.text, "Upgrade to Pro and continue") {
		t.Error("the dashboard says that one could go on with Pro")
	}
	s.sync(email)
	p.get(s.buy(p, sandbox.CardOK)).says(t, http.StatusOK, "50 requests a day")
}
