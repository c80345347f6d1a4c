package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
)

// ask calls Stripe as its dashboard does, and returns the id of the object in the response.
func (s *shop) ask(path string, form url.Values) (id string) {
	s.t.Helper()
	var made struct{ ID string }
	if err := sandboxtest.Ask(s.t.Context(), http.DefaultTransport, http.MethodPost, s.api+path, form, &made); err != nil {
		s.t.Fatal(err)
	}
	return made.ID
}

// While a bank is deciding on the first payment, the dashboard says that it is being processed, and sells nothing a
// second time.
func TestPaymentUnderWay(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for email, paid := range map[string]bool{"paid@example.com": true, "refused@example.com": false} {
		p := s.signedIn(email)
		p.get(s.buy(p, sandbox.BankPays)).says(t, http.StatusOK, "Your payment is being processed")
		for _, path := range []string{"/dashboard", "/dashboard/plan", "/dashboard/plan?from=checkout", "/dashboard/plan?from=payment"} {
			got := p.get(path)
			got.says(t, http.StatusOK, "Your payment is being processed", "A card takes moments, a bank payment a few days", "will not be charged twice", `href="/dashboard/plan?from=portal"`)
			if strings.Contains(got.text, "pgrade") || strings.Contains(got.text, "Nothing was charged") {
				t.Errorf("%s: %s sells", email, path)
			}
		}
		p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=payment")

		b, err := s.store.BillingAccount(t.Context(), s.account(email).ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.stripe.Settle(*b.SubscriptionID, paid); err != nil {
			t.Fatal(err)
		}
		got := p.get("/dashboard/plan?from=portal") // "Look again"
		got.says(t, http.StatusOK, map[bool]string{true: "renews on", false: "Your last payment failed"}[paid])
		for _, got := range []page{got, p.get("/dashboard/plan?from=payment")} { // the second is reloaded
			if strings.Contains(got.text, "being processed") {
				t.Errorf("%s: settled, and the page says that the payment is on its way", email)
			}
		}
		s.sync(email)
		if paid {
			s.wantMail("You are on Pro", []string{"10,000 requests a day"}, nil)
		} else {
			s.wantMail("Your payment failed", []string{"Pro has not started", "stays on Free, with 100 requests a day", "paying it starts Pro"}, []string{"You keep Pro", "brings Pro back"})
		}
	}
}

// If Stripe shows no subscription for a checkout that was paid, the upgrade leads to a page that sells nothing either.
func TestPaymentUnderWayAndUnseen(t *testing.T) {
	t.Parallel()
	got := openShop(t).signedIn("unseen@example.com").get("/dashboard/plan?from=payment")
	got.says(t, http.StatusOK, "Your payment is being processed", "will not be charged twice", `href="/dashboard/plan?from=portal"`)
	if strings.Contains(got.text, "pgrade") {
		t.Error("it sells")
	}
}

// Visitors who come back from a checkout that refused their card are not told that a payment is being processed, and
// can continue the checkout.
func TestUpgradeAfterARefusedCard(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.signedIn("ada@example.com")
	returned := s.buy(p, sandbox.CardDeclined)
	for _, path := range []string{"/dashboard", "/dashboard/plan", "/dashboard/plan?from=portal", returned} {
		s.sync("ada@example.com")
		if text := p.get(path).text; strings.Contains(text, "being processed") || strings.Contains(text, "does not give you Pro") || !strings.Contains(text, "/dashboard/plan/upgrade") {
			t.Errorf("%s: %s", path, text)
		}
	}
	if text := p.get("/dashboard/account/close").text; strings.Contains(text, "Your subscription is canceled") {
		t.Errorf("closing: %s", text)
	}
	if again := s.buy(p, sandbox.CardOK); again != returned {
		t.Errorf("another checkout: %s, %s", again, returned)
	}
	p.get(returned).says(t, http.StatusOK, "Welcome to Pro")
}

// Once Stripe has given up on a payment, the page does not promise a retry.
func TestPlanPageOfAPaymentThatWasGivenUp(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.customer()
	for _, c := range []struct{ status, says, not string }{
		{"past_due", "Update your card, and we will try again", "pay the open invoice"},
		{"unpaid", "We will not retry it automatically: pay the open invoice", "we will try again"},
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

// The page after checkout, if opened again after the payment failed or the subscription ended, redirects to the plan
// page, which says so: nothing is being processed any more.
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
		"a renewal past due": {sandbox.CardOK, func(s *shop, sub string) error { return s.stripe.SetStatus(sub, "past_due") }, "Pro continues until"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			p := s.signedIn("ada@example.com")
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
		p := s.signedIn("ada@example.com")
		to := p.post("/dashboard/plan/upgrade").header.Get("Location")
		s.stripe.Advance(25 * time.Hour)
		p.get("/dashboard/billing/return?session_id="+to[strings.LastIndex(to, "/")+1:]).leads(t, "/dashboard/plan")
	})
}

// While a subscription continues that gives no plan, the page offers no upgrade, because checkout would refuse it, and
// says why.
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
			p := s.customer()
			sub := s.stripe.Subscriptions("")[0].ID
			if err := change(s, sub); err != nil {
				t.Fatal(err)
			}
			s.sync("ada@example.com")
			p.post("/dashboard/plan/upgrade").leads(t, "/dashboard/plan?from=checkout")
			for _, path := range []string{"/dashboard", "/dashboard/plan", "/dashboard/plan?from=checkout"} {
				got := p.get(path)
				got.says(t, http.StatusOK, "Your subscription does not give you Pro", "Contact support")
				for _, unwanted := range []string{"Upgrade to Pro", "being processed", "Free until it is paid"} {
					if strings.Contains(got.text, unwanted) {
						t.Errorf("%s says %q", path, unwanted)
					}
				}
			}
			if err := s.stripe.CancelAtPeriodEnd(sub, true); err != nil {
				t.Fatal(err)
			}
			s.sync("ada@example.com")
			got := p.get("/dashboard")
			got.says(t, http.StatusOK, "Your subscription does not give you Pro", "It is canceled: once it has ended, you can upgrade again")
			if strings.Contains(got.text, "or cancel it") {
				t.Error("it is canceled, and the page says to cancel it")
			}
			if err := s.stripe.Cancel(sub); err != nil {
				t.Fatal(err)
			}
			p.get("/dashboard/plan?from=portal").says(t, http.StatusOK, "Upgrade to Pro")
		})
	}
}

// A subscription that is canceled as of a date does not renew, whenever its period ends.
func TestPlanPageOfACancellationOnADate(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.customer()
	end := s.stripe.Now().Add(48 * time.Hour).UTC()
	s.ask("/v1/subscriptions/"+s.stripe.Subscriptions("")[0].ID, url.Values{"cancel_at": {strconv.FormatInt(end.Unix(), 10)}})
	s.sync("ada@example.com")
	plan := p.get("/dashboard/plan")
	plan.says(t, http.StatusOK, "Pro ends on "+end.Format("January 2, 2006, 15:04 UTC"), "undo cancellation")
	if strings.Contains(plan.text, "renews") {
		t.Error("the page says that it renews")
	}
}

// After canceling while past due, the page says that the subscription is canceled, until when Pro continues, and that
// the cancellation can be undone.
func TestPlanPageOfACancellationWhilePastDue(t *testing.T) {
	t.Parallel()
	const at = "January 2, 2006, 15:04 UTC"
	for name, c := range map[string]struct {
		ends  time.Duration // when the subscription ends, from now; 0 = with the period, in a month
		until time.Duration // how long Pro continues unpaid, from now
	}{
		"with the period":       {until: 7 * 24 * time.Hour},
		"before the grace ends": {ends: 48 * time.Hour, until: 48 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			p := s.customer()
			sub := s.stripe.Subscriptions("")[0]
			if err := errors.Join(s.stripe.SetCard(sub.Customer, sandbox.CardFailsLater), s.stripe.Renew(sub.ID)); err != nil {
				t.Fatal(err)
			}
			now := s.stripe.Now().UTC()
			look := func(path string) page {
				t.Helper()
				s.sync("ada@example.com")
				got := p.get(path)
				got.says(t, http.StatusOK, "Your last payment failed", "Update your card, and we will try again")
				return got
			}
			for _, path := range []string{"/dashboard", "/dashboard/plan"} {
				if strings.Contains(look(path).text, "cancel") != (path == "/dashboard/plan") { // the button
					t.Errorf("%s of one that is not cancelled", path)
				}
			}
			end := s.stripe.Subscriptions("")[0].PeriodEnd.UTC()
			form := url.Values{"cancel_at_period_end": {"true"}}
			if c.ends > 0 {
				end = now.Add(c.ends)
				form = url.Values{"cancel_at": {strconv.FormatInt(end.Unix(), 10)}}
			}
			s.ask("/v1/subscriptions/"+sub.ID, form)
			for _, path := range []string{"/dashboard", "/dashboard/plan"} {
				look(path).says(t, http.StatusOK, "and your subscription is canceled", "Pro continues until "+now.Add(c.until).Format(at),
					"You can undo the cancellation until "+end.Format(at), "ndo cancellation")
			}
			plan := look("/dashboard/plan")
			plan.says(t, http.StatusOK, ">canceled</span>", "Your subscription is canceled and ends on "+end.Format(at))
			if strings.Contains(plan.text, ">active</span>") {
				t.Error("the plan page says active")
			}
			s.stripe.Advance(7*24*time.Hour + time.Minute)
			s.sync("ada@example.com")
			over := p.get("/dashboard/plan")
			if c.ends > 0 { // nothing is left to cancel
				over.says(t, http.StatusOK, "Upgrade to Pro", ">Card and invoices</button>")
				return
			}
			over.says(t, http.StatusOK, "and your subscription is canceled", "Free until it is paid", "Your subscription is canceled and ends on "+end.Format(at))
			s.wantMail("Pro has ended", []string{"is canceled and ends on " + end.Format("January 2, 2006"), "brings Pro back", "undo the cancellation"}, []string{"is still open"})
		})
	}
}

// Whoever comes back from checkout signed in as somebody else is told nothing about it, but where a payment shows.
func TestReturnOfAnotherAccount(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	payer, other := s.person(), s.person()
	payer.signIn("payer@example.com")
	returned := s.buy(payer, sandbox.CardOK)
	other.signIn("other@example.com")
	s.buy(other, sandbox.CardDeclined)
	for _, path := range []string{returned, "/dashboard/billing/return?session_id=cs_test_nobodys"} {
		got := other.get(path)
		got.says(t, http.StatusNotFound, "If you have just paid", "signed in as other@example.com")
		if strings.Contains(got.text, "payer@") || strings.Contains(got.text, "mistyped") {
			t.Errorf("%s: %s", path, got.text)
		}
	}
	payer.get(returned).says(t, http.StatusOK, "Welcome to Pro")
}
