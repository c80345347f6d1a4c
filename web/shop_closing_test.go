package web_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
)

// unplugged serves the shop's pages as they are after stripe_secret_key is removed.
func (s *shop) unplugged(t *testing.T) *house {
	t.Helper()
	h := open(t, func(d *web.Deps) { d.Store, d.Mail, d.Mailbox, d.Now = s.store, s.box, s.box, s.clock.now })
	h.store, h.box, h.clock = s.store, s.box, s.clock
	return h
}

// An account that still pays, or may, stays open while its subscription cannot be canceled at Stripe.
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
			p := s.signedIn("ada@example.com")
			begin(s, p)
			off := s.unplugged(t).signedIn("ada@example.com")
			page := off.get("/dashboard/account/close")
			page.says(t, http.StatusOK, "cannot be canceled from here", "Contact support")
			if strings.Contains(page.text, "canceled immediately") || strings.Contains(page.text, "Close my account</button>") {
				t.Error("the page promises what nobody can do")
			}
			off.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusConflict, "cannot be canceled from here")
			id := s.account("ada@example.com").ID

			p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "nothing more will be charged")
			for _, sub := range s.stripe.Subscriptions("") {
				if sub.Status != "canceled" {
					t.Errorf("%+v", sub)
				}
			}
			changes, err := s.store.AuditOf(t.Context(), id, 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(changes) == 0 && len(s.stripe.Subscriptions("")) > 0 {
				t.Error("nothing tells of it")
			}
			for _, e := range changes {
				if e.Actor != "customer" {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// Closing while a bank is deciding on a payment does not promise that nothing will be charged: the payment cannot be
// stopped.
func TestClosingWhileABankDecides(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(s *shop, p *person){
		"on the first payment": func(s *shop, p *person) {
			p.get(s.buy(p, sandbox.BankPays))
			p.get("/dashboard/account/close").says(t, http.StatusOK, "your bank is still processing cannot be stopped")
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
			p := s.signedIn("ada@example.com")
			begin(s, p)
			id := s.account("ada@example.com").ID
			closed := p.post("/dashboard/account/close", "confirm", "yes")
			closed.says(t, http.StatusOK, "Your account is closed", "your bank is still processing cannot be stopped", "help@example.com", id)
			if strings.Contains(closed.text, "nothing more will be charged") {
				t.Error("the page promises what nobody can keep")
			}
		})
	}
}

// Closing after paying at Stripe, before we have learned of the payment, does not promise that nothing will be charged:
// it already was. If the customer has come back from checkout, we have, and the page says nothing about it.
func TestClosingWhatWasJustPaid(t *testing.T) {
	t.Parallel()
	for _, heard := range []bool{false, true} {
		s := openShop(t)
		p := s.signedIn("ada@example.com")
		returned := s.buy(p, sandbox.CardOK)
		if heard {
			p.get(returned)
		}
		id := s.account("ada@example.com").ID
		closed := p.post("/dashboard/account/close", "confirm", "yes")
		closed.says(t, http.StatusOK, "Your account is closed")
		if heard == strings.Contains(closed.text, "The payment you just made") || heard != strings.Contains(closed.text, "nothing more will be charged") {
			t.Errorf("heard of: %v\n%s", heard, closed.text)
		}
		flags, err := s.store.Flags(t.Context(), id)
		if err != nil || heard != (len(flags) == 0) {
			t.Errorf("heard of: %v: %+v, %v", heard, flags, err)
		}
	}
}

// If closing was cut short after the subscription was canceled, because Stripe is slow, doing it again asks Stripe only
// what decides whether the account may be closed: with all that the first time needs, it would be cut short again.
func TestClosingAgainAsksLess(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.signedIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK)).says(t, http.StatusOK, "Welcome to Pro")
	s.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/customers/*"})
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusServiceUnavailable, "Your subscription is canceled")
	s.stripe.ClearFaults()
	before := len(s.stripe.Calls())
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "Your account is closed")
	var asked []string
	for _, call := range s.stripe.Calls()[before:] {
		asked = append(asked, call.Path)
	}
	if len(asked) > 3 { // open checkouts, subscriptions, and whether the customer is there
		t.Error(asked)
	}
}

// Stripe is slow, and the customer clicks a second time: both clicks see that the account is closed.
func TestClosingTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.signedIn("ada@example.com")
	p.get(s.buy(p, sandbox.CardOK)).says(t, http.StatusOK, "Welcome to Pro")
	s.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.DelayReply, Path: "/v1/subscriptions/*", Delay: time.Second})
	pages := make(chan page)
	for range 2 {
		go func() { pages <- p.post("/dashboard/account/close", "confirm", "yes") }()
	}
	for range 2 {
		if closed := <-pages; closed.status != http.StatusOK || !strings.Contains(closed.text, "Your account is closed") {
			t.Errorf("%d %s", closed.status, closed.text)
		}
	}
}

// The database hangs while an account is being closed. The page that says what became of the subscription needs no
// database, and does not claim that nothing was changed.
func TestClosingIsCutShort(t *testing.T) {
	t.Parallel()
	for locked, told := range map[string]string{
		"departures":   "Your subscription is canceled",
		"known_prices": "We cannot tell", // reading the subscriptions needs it
	} {
		t.Run(locked, func(t *testing.T) {
			t.Parallel()
			url := storetest.NewPostgres(t)
			s := openShop(t, func(d *web.Deps) {
				d.Store, d.Patience = storetest.OpenURL(t, url, store.Options{}), 2*time.Second
			})
			p := s.signedIn("ada@example.com")
			p.get(s.buy(p, sandbox.CardOK)).says(t, http.StatusOK, "Welcome to Pro")
			answer := storetest.Lock(t, url, locked)
			p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusServiceUnavailable, "Your account is still open", told)
			answer()
			if locked == "departures" {
				if got := s.stripe.Subscriptions("")[0].Status; got != "canceled" {
					t.Errorf("the subscription is %s", got)
				}
				p.get("/dashboard/plan").says(t, http.StatusOK, "Upgrade to Pro")
			}
			p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "Your account is closed")
		})
	}
}

// If Stripe or the database stops answering after the subscription was canceled, the page says that it is canceled; if
// that is unknown, it says so. The page that says in the end that the account is closed knows what the first attempt
// canceled.
func TestClosingInDoubt(t *testing.T) {
	t.Parallel()
	const never, bank, paid = "nothing more will be charged", "your bank is still processing cannot be stopped", "The payment you just made is canceled too"
	for name, c := range map[string]struct {
		card  sandbox.Card
		fault sandbox.APIFault
		says  []string
		then  string
		fresh bool // nobody has come back from checkout
	}{
		"what comes after it fails": {
			sandbox.CardOK, sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/customers/*"},
			[]string{"Your account is still open", "Your subscription is canceled"}, never, false,
		},
		"just paid, too": {
			sandbox.CardOK, sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/customers/*"},
			[]string{"Your subscription is canceled", paid, "help@example.com"}, paid, true,
		},
		"a bank decides, too": {
			sandbox.BankPays, sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/customers/*"},
			[]string{"Your subscription is canceled", "cannot be stopped", "help@example.com"}, bank, false,
		},
		"the answer is lost": {
			sandbox.CardOK, sandbox.APIFault{Action: sandbox.LoseReply, Method: http.MethodDelete, Path: "/v1/subscriptions/*"},
			[]string{"We cannot tell whether your subscription is canceled", "Close my account</button>"}, never, false,
		},
		"the answer is lost, and a bank decides": {
			sandbox.BankPays, sandbox.APIFault{Action: sandbox.LoseReply, Method: http.MethodDelete, Path: "/v1/subscriptions/*"},
			[]string{"We cannot tell whether your subscription is canceled"}, bank, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log storetest.Buffer
			s := openShop(t, func(d *web.Deps) { d.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			p := s.signedIn("ada@example.com")
			if back := s.buy(p, c.card); !c.fresh {
				p.get(back)
			}
			s.stripe.FaultAPI(c.fault)
			p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusServiceUnavailable, c.says...)
			if got := s.stripe.Subscriptions("")[0].Status; got != "canceled" {
				t.Errorf("the subscription is %s", got)
			}
			if doubted := strings.Contains(log.String(), "it is not certain that its subscription is ended"); doubted != strings.Contains(c.says[0], "We cannot tell") {
				t.Error(log.String())
			}
			s.stripe.ClearFaults()
			s.account("ada@example.com")
			closed := p.post("/dashboard/account/close", "confirm", "yes")
			closed.says(t, http.StatusOK, "Your account is closed")
			for _, text := range []string{never, bank, paid} {
				if strings.Contains(closed.text, text) != (text == c.then) {
					t.Errorf("%q:\n%s", text, closed.text)
				}
			}
		})
	}
}

// A subscription that has ended does not prevent closing.
func TestClosingAfterTheSubscriptionEnded(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.customer()
	if err := s.stripe.Cancel(s.stripe.Subscriptions("")[0].ID); err != nil {
		t.Fatal(err)
	}
	p.get("/dashboard/plan?from=portal").says(t, http.StatusOK, "Upgrade to Pro")
	off := s.unplugged(t).signedIn("ada@example.com")
	off.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "Your account is closed")
}

// Customers are told that Stripe keeps its own record of them.
func TestWhatStripeKeepsIsTold(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	const keeps = "Stripe keeps its own record of you and your payments"
	p := s.person()
	p.get("/privacy").says(t, http.StatusOK, "We give Stripe your email address", keeps)
	p.signIn("ada@example.com")
	if got := p.get("/dashboard/account/close"); strings.Contains(got.text, keeps) {
		t.Error("who never went to checkout is told that Stripe has a record")
	}
	p.get(s.buy(p, sandbox.CardOK))
	p.get("/dashboard/account/close").says(t, http.StatusOK, keeps)
}

// An account is closed even if the customer leaves before the page is ready, however long Stripe takes: they would not
// learn that it is still open.
func TestClosingIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	p := s.customer()
	s.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.DelayReply, Path: "/v1/customers/*", Delay: 300 * time.Millisecond})
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	r := s.request(http.MethodPost, "/dashboard/account/close", "confirm=yes").WithContext(ctx)
	go func() {
		for ctx.Err() == nil && s.stripe.Subscriptions("")[0].Status != "canceled" {
			time.Sleep(time.Millisecond)
		}
		hangUp()
	}()
	if res, err := p.client.Do(r); err == nil {
		_ = res.Body.Close()
		t.Fatal("nobody hung up")
	}
	storetest.Until(t, "the account, whose subscription is canceled, to be closed", func() bool {
		_, err := s.store.Account(t.Context(), "ada@example.com")
		return models.ErrorCode(err) == models.CodeNotFound
	})
}
