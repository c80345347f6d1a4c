package billing_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// via returns a node that reaches Stripe through rt.
func (w *world) via(rt http.RoundTripper) *billing.Service {
	return billing.New(billing.Options{
		Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now, Pace: time.Nanosecond, Transport: rt,
	})
}

// roundTrip is an http.RoundTripper made of a function.
type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// after returns a transport that calls happens once, right after Stripe answered the first such request.
func after(method, path string, happens func()) http.RoundTripper {
	var once sync.Once
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		res, err := http.DefaultTransport.RoundTrip(r)
		if r.Method == method && r.URL.Path == path {
			once.Do(happens)
		}
		return res, err
	})
}

// openSessions returns the account's open checkout sessions, whoever opened them.
func (w *world) openSessions() (open []sandbox.Session) {
	w.t.Helper()
	for _, s := range w.stripe.Sessions("") {
		if s.Status == "open" {
			open = append(open, s)
		}
	}
	return open
}

func (w *world) refused(err error) {
	w.t.Helper()
	if models.ErrorCode(err) != models.CodeConflict {
		w.t.Errorf("not refused: %v", err)
	}
}

func TestCheckoutGivesTheOpenSessionAgain(t *testing.T) {
	each(t, func(w *world) {
		first, second := w.checkout(), w.checkout()
		w.stripe.Advance(23 * time.Hour)
		if third := w.checkout(); first != second || second != third {
			w.t.Errorf("%s, %s, %s", first, second, third)
		}
		if n := len(w.stripe.Sessions("")); n != 1 {
			w.t.Errorf("%d sessions", n)
		}
		b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
		w.must(err)
		if b.SessionID == nil || *b.SessionID != first || b.SessionURL == nil || b.SessionExpiresAt == nil {
			w.t.Errorf("%+v", b)
		}
		if s := w.stripe.Sessions("")[0]; s.Reference != w.account.ID {
			w.t.Errorf("the session is for %q", s.Reference)
		}
		if c := w.stripe.Customers()[0]; c.Metadata["lottery_account"] != w.account.ID || c.Email != *w.account.Email {
			w.t.Errorf("%+v", c)
		}
	})
}

// An open session that cannot be offered again is closed before another one is opened.
func TestCheckoutOpensAnother(t *testing.T) {
	each(t, func(w *world) {
		for name, change := range map[string]func(){
			"expired":        func() { w.stripe.Advance(25 * time.Hour) },
			"nearly expired": func() { w.stripe.Advance(23*time.Hour + 51*time.Minute) },
			"to an old price": func() {
				id := w.otherPrice("lottery_pro")
				w.must(w.store.SetPrice(w.t.Context(), models.KnownPrice{PriceID: id, ProductID: "lottery_pro", Plan: models.PlanPro, UnitAmount: 500, Currency: "usd"}))
			},
		} {
			w.account = w.newAccount()
			old := w.checkout()
			change()
			if again := w.checkout(); again == old {
				w.t.Errorf("%s: given again", name)
			}
			if _, paid, err := w.stripe.Pay(old, sandbox.CardOK); err != nil || paid {
				w.t.Errorf("%s: the old one can still be paid: %v", name, err)
			}
			open := 0
			for _, s := range w.stripe.Sessions(w.customer()) {
				if s.Status == "open" {
					open++
				}
			}
			if open != 1 {
				w.t.Errorf("%s: %d sessions are open", name, open)
			}
		}
	})
}

// A session that somebody opened for our customer in the dashboard is not offered.
func TestCheckoutClosesStrangeSessions(t *testing.T) {
	each(t, func(w *world) {
		ours := w.checkout()
		form := url.Values{
			"mode": {"subscription"}, "customer": {w.customer()}, "line_items[0][price]": {w.price}, "line_items[0][quantity]": {"1"},
			"success_url": {"https://example.com"},
		}
		var strange struct{ ID string }
		w.ask(http.MethodPost, "/v1/checkout/sessions", form, &strange)
		if again := w.checkout(); again != ours {
			w.t.Errorf("%s became %s", ours, again)
		}
		if open := w.openSessions(); len(open) != 1 || open[0].ID != ours {
			w.t.Errorf("%+v", open)
		}
	})
}

// Whichever step's response is lost or is an error, with the work done or not, the next attempt ends with one customer
// with one open session.
func TestCheckoutAnswersThatAreLost(t *testing.T) {
	paths := map[string]func(w *world){
		"/v1/customers":         func(*world) {},
		"/v1/checkout/sessions": func(*world) {},
		"/v1/checkout/sessions/*": func(w *world) { // there is one to close
			w.checkout()
			w.stripe.Advance(23*time.Hour + 55*time.Minute)
		},
	}
	actions := []sandbox.Action{sandbox.LoseReply, sandbox.ErrorAfter, sandbox.ErrorStays, sandbox.ServerError, sandbox.RateLimit}
	each(t, func(w *world) {
		for path, begin := range paths {
			for _, action := range actions {
				for _, retries := range []int64{0, 1} {
					w.account = w.newAccount()
					begin(w)
					w.stripe.FaultAPI(sandbox.APIFault{Action: action, Method: http.MethodPost, Path: path, Times: 1})
					node := billing.New(billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now, Retries: retries})
					_, err := node.Checkout(w.t.Context(), w.account.ID)
					if retries == 0 && models.ErrorCode(err) != models.CodeUnavailable && err != nil {
						w.t.Errorf("%s %s: %v", action, path, err)
					}
					w.stripe.ClearFaults()
					given := w.checkout()
					customers, open := 0, []string{}
					for _, c := range w.stripe.Customers() {
						if c.Metadata["lottery_account"] == w.account.ID {
							customers++
						}
					}
					for _, s := range w.openSessions() {
						if s.Reference == w.account.ID {
							open = append(open, s.ID)
						}
					}
					if customers != 1 || len(open) != 1 || open[0] != given {
						w.t.Errorf("%s %s, %d retries: %d customers, open sessions %v, given %s", action, path, retries, customers, open, given)
					}
				}
			}
		}
	})
}

// The response was lost, and the account's address changed before the next attempt: the same key would now be refused.
func TestCheckoutAddressChangedBetweenAttempts(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultAPI(sandbox.APIFault{
			Action: sandbox.LoseReply, Method: http.MethodPost, Path: "/v1/customers", Times: 1,
		})
		if _, err := w.billing.Checkout(w.t.Context(), w.account.ID); err == nil || len(w.stripe.Customers()) != 1 {
			w.t.Fatalf("the answer was not lost: %v, customers %v", err, w.stripe.Customers())
		}
		w.moves("ann@example.com")
		w.checkout()
		list := w.stripe.Customers() // the first one, which never pays, has the former address
		if i := slices.IndexFunc(list, func(c sandbox.Customer) bool { return c.ID == w.customer() }); len(list) != 2 || list[i].Email != "ann@example.com" {
			w.t.Errorf("customers %+v, the account's is %s", list, w.customer())
		}
	})
}

// Concurrent clicks on several nodes, each with its own database connection.
func TestCheckoutAtOnce(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, database string) {
		w := newWorld(t, database)
		var nodes []*billing.Service
		for range 3 {
			st := storetest.OpenURL(t, database, store.Options{})
			nodes = append(nodes, billing.New(billing.Options{Store: st, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now}))
		}
		var mu sync.Mutex
		given := map[string]int{}
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				s, err := nodes[i%len(nodes)].Checkout(context.Background(), w.account.ID)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					w.t.Errorf("%v", err)
				}
				given[s.ID]++
			})
		}
		wg.Wait()
		if len(given) != 1 || len(w.stripe.Customers()) != 1 || len(w.stripe.Sessions("")) != 1 {
			w.t.Errorf("given %v; %d customers, %d sessions", given, len(w.stripe.Customers()), len(w.stripe.Sessions("")))
		}
	})
}

func TestCheckoutRefused(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		for _, status := range []string{"active", "trialing", "past_due", "unpaid", "incomplete", "paused"} {
			w.account = w.newAccount()
			w.checkout()
			_, err := w.stripe.NewSubscription(w.customer(), w.price, status, nil)
			w.must(err)
			_, err = w.billing.Checkout(ctx, w.account.ID)
			w.refused(err)
		}
		for _, status := range []string{"canceled", "incomplete_expired"} {
			w.account = w.newAccount()
			w.checkout()
			_, err := w.stripe.NewSubscription(w.customer(), w.price, status, nil)
			w.must(err)
			w.checkout()
		}
		w.account = w.newAccount()
		_, err := w.store.GrantPlan(ctx, w.account.ID, new(models.PlanPro))
		w.must(err)
		_, err = w.billing.Checkout(ctx, w.account.ID)
		w.refused(err)

		w.account = w.newAccount()
		_, err = w.store.SetAccountStatus(ctx, w.account.ID, models.AccountSuspended)
		w.must(err)
		_, err = w.billing.Checkout(ctx, w.account.ID)
		w.refused(err)
		_, err = w.store.DeleteAccount(ctx, w.account.ID)
		w.must(err)
		_, err = w.billing.Checkout(ctx, w.account.ID)
		w.refused(err)
		for _, c := range w.stripe.Customers() {
			if c.Metadata["lottery_account"] == w.account.ID {
				w.t.Errorf("a customer was made for an account that is refused: %+v", c)
			}
		}
		if _, err := w.billing.Checkout(ctx, "acc_none"); models.ErrorCode(err) != models.CodeNotFound {
			w.t.Errorf("an account that does not exist: %v", err)
		}
	})
}

// A customer pays while the next click is being processed: whatever the moment, the customer does not pay twice.
func TestCheckoutPaidInBetween(t *testing.T) {
	moments := map[string][2]string{
		"after the subscriptions were read": {http.MethodGet, "/v1/subscriptions"},
		"after the sessions were read":      {http.MethodGet, "/v1/checkout/sessions"},
	}
	each(t, func(w *world) {
		for name, at := range moments {
			for _, wait := range []time.Duration{0, 23*time.Hour + 55*time.Minute} { // offered again; closed
				w.account = w.newAccount()
				first := w.checkout()
				w.stripe.Advance(wait)
				node := w.via(after(at[0], at[1], func() { _, _, _ = w.stripe.Pay(first, sandbox.CardOK) }))
				if s, err := node.Checkout(w.t.Context(), w.account.ID); err == nil {
					_, _, _ = w.stripe.Pay(s.ID, sandbox.CardOK)
				}
				if subs := w.stripe.Subscriptions(w.customer()); len(subs) != 1 {
					w.t.Errorf("%s, %s later: %d subscriptions were sold", name, wait, len(subs))
				}
			}
		}
	})
}

// The customer is deleted at Stripe during a checkout: that checkout may fail, the next one does not.
func TestCheckoutCustomerDeletedInBetween(t *testing.T) {
	moments := [][2]string{{http.MethodGet, "/v1/subscriptions"}, {http.MethodGet, "/v1/checkout/sessions"}, {http.MethodPost, "/v1/customers"}}
	each(t, func(w *world) {
		for _, at := range moments {
			w.account = w.newAccount()
			if at[0] == http.MethodGet {
				w.checkout()
				w.stripe.Advance(25 * time.Hour)
			}
			node := w.via(after(at[0], at[1], func() {
				all := w.stripe.Customers()
				w.must(w.stripe.DeleteCustomer(all[len(all)-1].ID))
			}))
			_, _ = node.Checkout(w.t.Context(), w.account.ID)
			w.buy(sandbox.CardOK)
			w.settle()
			w.wantPlan(models.PlanPro)
		}
	})
}
