package billing_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// TestHistories lets random things happen to one account, with webhooks that are lost, repeated, held and reordered, a
// Stripe that fails, and workers that die. Once all is quiet and a reconcile has run, the plan must be what a fresh
// reading of the sandbox says. LOTTERY_BILLING_HISTORIES is the number of histories per database.
func TestHistories(t *testing.T) {
	t.Parallel()
	wanted := 100
	if text := os.Getenv("LOTTERY_BILLING_HISTORIES"); text != "" {
		var err error
		if wanted, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	storetest.EachURL(t, func(t *testing.T, database string) {
		t.Parallel()
		raw := storetest.SQL(t, database)
		var offset atomic.Int64
		st := storetest.OpenURL(t, database, store.Options{
			Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }, Skew: func() time.Duration { return time.Duration(offset.Load()) },
		})
		done := 0
		var seen sights
		for done < wanted {
			rapid.Check(t, func(rt *rapid.T) {
				if done >= wanted {
					return
				}
				done++
				for _, table := range []string{"known_prices", "stripe_events", "billing_accounts", "billing_settings"} { // of the history before: its Stripe is gone
					if _, err := raw.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
						rt.Fatal(err)
					}
				}
				offset.Store(0)
				h := newHistory(t, rt, st, &offset, done)
				h.unlock = func() {
					if _, err := raw.ExecContext(t.Context(), "DELETE FROM leases"); err != nil {
						rt.Fatal(err)
					}
				}
				h.seen = &seen
				h.run()
			})
			if t.Failed() {
				return
			}
		}
		t.Logf("%d histories: %+v", done, seen)
		if done >= 1000 && (seen.Upgrades < done/4 || seen.Ends == 0 || seen.Deaths < done/10 || seen.Doubles == 0 || seen.Grace == 0 || seen.Gone == 0 || seen.Closed == 0 || seen.Waits == 0) {
			t.Error("too little happens in them to show anything")
		}
	})
}

// sights counts how often the histories reached the situations they are for.
type sights struct {
	Upgrades, Ends, Deaths int
	Doubles                int // a second subscription was paid, and cancelled
	Grace                  int // ended past due, within grace
	Gone                   int // ended with the customer deleted
	Closed                 int // ended with the account closed
	Waits                  int // ended with a first payment under way
	Late                   int // a subscription was paid after its end
}

// history is one account's story.
type history struct {
	rt      *rapid.T
	ctx     context.Context
	store   *store.Store
	offset  *atomic.Int64
	stripe  *sandbox.Sandbox
	cfg     configs.Stripe
	billing *billing.Service
	hook    atomic.Pointer[http.Handler]
	account models.Account
	price   string
	other   string // a price of our product that gives no plan
	granted bool

	seen   *sights
	unlock func()       // makes the locks of dead processes expire
	doom   atomic.Int64 // the process dies after this many more requests to Stripe; 0 = it lives
	after  bool         // and only once the last of them is done
}

// RoundTrip delivers a webhook.
func (h *history) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	(*h.hook.Load()).ServeHTTP(w, r)
	return w.Result(), nil
}

func newHistory(t *testing.T, rt *rapid.T, st *store.Store, offset *atomic.Int64, n int) *history {
	h := &history{rt: rt, ctx: t.Context(), store: st, offset: offset}
	base := time.Now()
	var err error
	h.stripe, err = sandbox.New(sandbox.Options{
		URL: "http://stripe.test", Now: func() time.Time { return base }, SignNow: time.Now, Client: &http.Client{Transport: h},
	})
	h.must(err)
	h.cfg = configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: "http://stripe.test", Grace: 7 * day}
	h.serve()
	setup, err := h.billing.Setup(h.ctx)
	h.must(err)
	h.cfg.WebhookSecrets, h.price = []string{setup.WebhookSecret}, setup.Steps[1].ID
	h.serve()
	var made struct{ ID string }
	h.read(http.MethodPost, "/v1/prices", url.Values{"product": {"lottery_pro"}, "unit_amount": {"100"}, "currency": {"usd"}, "recurring[interval]": {"month"}}, &made)
	h.other = made.ID
	h.account, err = st.CreateAccount(h.ctx, store.NewAccount{Email: fmt.Sprintf("h%d-%d@example.com", n, base.UnixNano())})
	h.must(err)
	return h
}

// serve starts a new process.
func (h *history) serve() {
	h.billing = billing.New(billing.Options{
		Store: h.store, Stripe: h.cfg, PublicURL: "http://lottery.test", StripeNow: func() time.Time { return h.stripe.Now() },
		Transport: roundTrip(h.mortal), Pace: time.Nanosecond,
	})
	hook := h.billing.Webhook()
	h.hook.Store(&hook)
}

func (h *history) must(err error) {
	if err != nil {
		h.rt.Fatal(err)
	}
}

// read queries the sandbox as the dashboard does.
func (h *history) read(method, path string, form url.Values, into any) {
	h.must(sandboxtest.Ask(h.ctx, h.stripe.Transport(), method, "http://stripe.test"+path, form, into))
}

// customer returns the account's customer, or "".
func (h *history) customer() string {
	b, err := h.store.BillingAccount(h.ctx, h.account.ID)
	h.must(err)
	if b.CustomerID == nil {
		return ""
	}
	return *b.CustomerID
}

// some returns one of the account's subscriptions, or "".
func (h *history) some() string {
	cus := h.customer()
	if cus == "" {
		return ""
	}
	subs := h.stripe.Subscriptions(cus)
	if len(subs) == 0 {
		return ""
	}
	return subs[rapid.IntRange(0, len(subs)-1).Draw(h.rt, "which")].ID
}

func (h *history) run() {
	defer func() {
		h.stripe.ClearFaults()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = h.stripe.Close(ctx)
	}()
	for range rapid.SampledFrom([]int{4, 12, 30}).Draw(h.rt, "steps") {
		h.step()
	}
	h.quiet()
	h.judge()
}
