package billing_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
	"lottery/models"
	"lottery/models/store/storetest"
)

// sent records the requests to Stripe.
type sent struct {
	mu   sync.Mutex
	list []sandbox.Call
}

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	var text []byte
	if r.Body != nil {
		text, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(text))
	}
	s.mu.Lock()
	s.list = append(s.list, sandbox.Call{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: string(text),
		Key: r.Header.Get("Idempotency-Key"), Version: r.Header.Get("Stripe-Version"),
	})
	s.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// everything lists every kind of request that the product sends to Stripe.
var everything = []string{
	"DELETE /v1/subscriptions/ID",
	"GET /v1/account",
	"GET /v1/billing_portal/configurations",
	"GET /v1/billing_portal/configurations/ID",
	"GET /v1/charges/ID",
	"GET /v1/checkout/sessions",
	"GET /v1/checkout/sessions/ID",
	"GET /v1/customers",
	"GET /v1/customers/ID",
	"GET /v1/disputes/ID",
	"GET /v1/invoices",
	"GET /v1/invoices/ID",
	"GET /v1/prices",
	"GET /v1/products/ID",
	"GET /v1/subscriptions",
	"GET /v1/webhook_endpoints",
	"POST /v1/billing_portal/configurations",
	"POST /v1/billing_portal/configurations/ID",
	"POST /v1/billing_portal/sessions",
	"POST /v1/checkout/sessions",
	"POST /v1/checkout/sessions/ID/expire",
	"POST /v1/customers",
	"POST /v1/prices", "POST /v1/prices/ID",
	"POST /v1/products",
	"POST /v1/products/ID",
	"POST /v1/webhook_endpoints",
	"POST /v1/webhook_endpoints/ID",
}

var (
	anID   = regexp.MustCompile(`/(?:[a-z]+_[0-9A-Za-z_]+)(/expire)?$`)
	ourKey = regexp.MustCompile(`^(product|price|webhook|portal-configuration|customer|checkout|expire|portal)-[0-9A-Za-z_-]{8,}$`)
)

// TestRequests sends every request of the product to stripe-mock as well, which knows Stripe's own description of its
// API; and it looks for secrets in everything that was written meanwhile.
func TestRequests(t *testing.T) {
	t.Parallel()
	mock := startMock(t)
	storetest.EachURL(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newWorld(t, database)
		made, said := w.live()
		w.kill()
		calls := slices.Concat(w.stripe.Calls()[:made.setup], made.list)
		kinds := map[string]bool{}
		bodies := map[string]string{}
		asked := map[string]bool{}
		for _, c := range calls {
			kind := c.Method + " " + c.Path
			if !strings.HasSuffix(kind, "/webhook_endpoints") { // looks like an id
				kind = anID.ReplaceAllString(kind, "/ID$1")
			}
			kinds[kind] = true
			if c.Version != billing.APIVersion {
				t.Errorf("%s: version %q", kind, c.Version)
			}
			if c.Method == http.MethodPost {
				if !ourKey.MatchString(c.Key) {
					t.Errorf("%s: idempotency key %q", kind, c.Key)
				}
				same := c.Path + " " + c.Body
				if before, ok := bodies[c.Key]; ok && before != same {
					t.Errorf("key %s: %s, and then %s", c.Key, before, same)
				}
				bodies[c.Key] = same
			}
			if what := kind + c.Query + c.Body; !asked[what] {
				asked[what] = true
				if status, answer := mock.ask(t, c); status != http.StatusOK {
					t.Errorf("stripe-mock: %s %s?%s %s: %d %s", c.Method, c.Path, c.Query, c.Body, status, answer)
				}
			}
		}
		t.Logf("%d requests", len(calls))
		var got []string
		for kind := range kinds {
			got = append(got, kind)
		}
		slices.Sort(got)
		if !slices.Equal(got, everything) {
			t.Errorf("asked for\n%s", strings.Join(got, "\n"))
		}
		dumped := dump(t, database)
		for _, secret := range []string{sandbox.DefaultKey, w.secret, wrongKey} {
			if strings.Contains(said, secret) {
				t.Errorf("%s is in the log:\n%s", secret, said)
			}
			if strings.Contains(dumped, secret) {
				t.Errorf("%s is in the database", secret)
			}
		}
		if !strings.Contains(said, w.account.ID) || !strings.Contains(dumped, w.account.ID) {
			t.Error("nothing was written: this shows nothing")
		}
	})
}

const wrongKey = "sk_test_wrongAndLongEnoughToBeShownInPart"

type flow struct {
	sent

	setup int // how many requests the world's own set-up made
}

// live goes through everything that happens to accounts, and returns what was sent and logged.
func (w *world) live() (made *flow, said string) {
	w.t.Helper()
	ctx := w.t.Context()
	made = &flow{setup: len(w.stripe.Calls())}
	log := &storetest.Buffer{}
	w.kill()
	service := func() *billing.Service {
		return billing.New(billing.Options{
			Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now, Pace: time.Nanosecond, Transport: made,
			Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
	}
	w.billing = service()
	hook := w.billing.Webhook()
	w.handler.Store(&hook)
	runs, stop := context.WithCancel(context.Background())
	w.stop, w.stopped = stop, make(chan struct{})
	go func() {
		defer close(w.stopped)
		w.billing.Run(runs)
	}()
	fail := func(err error) { fmt.Fprintln(log, err) }

	// Set-up: once with everything there, once after somebody changed something.
	w.ask(http.MethodPost, "/v1/products/lottery_pro", url.Values{"active": {"false"}}, &struct{}{})
	w.ask(http.MethodPost, "/v1/webhook_endpoints/"+w.endpoint(), url.Values{"enabled_events[]": {"invoice.paid"}}, &struct{}{})
	w.ask(http.MethodPost, "/v1/billing_portal/configurations/"+w.portal().ID, url.Values{"default_return_url": {"https://old.example.com"}}, &struct{}{})
	_, err := w.billing.Setup(ctx)
	w.must(err)
	w.billing.Doctor(ctx)

	// Checkout: offered again, closed, paid; the return; the portal.
	w.checkout()
	w.checkout()
	w.stripe.Advance(23*time.Hour + 55*time.Minute)
	w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.Withhold, Path: "/v1/checkout/sessions/*", Times: 1})
	session := w.buy(sandbox.CardOK)
	_, _, err = w.billing.Return(ctx, w.account.ID, session)
	w.must(err)
	w.settle()
	w.wantPlan(models.PlanPro)
	_, err = w.billing.Portal(ctx, w.account.ID)
	w.must(err)

	// A renewal that fails and is then paid; a refund; a second subscription.
	sub := w.onlySubscription()
	w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
	w.must(w.stripe.Renew(sub))
	w.settle()
	w.must(w.stripe.SetCard(w.customer(), sandbox.CardOK))
	w.must(w.stripe.RetryPayment(sub))
	err = w.stripe.Refund(sub, 100)
	w.must(err)
	dispute, err := w.stripe.Dispute(sub, false)
	w.must(err)
	w.must(w.stripe.CloseDispute(dispute, "lost"))
	w.stripe.Advance(time.Minute)
	_, err = w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
	w.must(err)
	w.settle()

	// An unknown customer; Stripe away; a key that Stripe does not know; a forged event.
	_, err = w.stripe.NewSubscription(w.foreignCustomer(nil), w.price, "active", nil)
	w.must(err)
	w.settle()
	w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
	_, err = w.billing.Sync(ctx, w.account.ID, cause())
	fail(err)
	w.stripe.ClearFaults()
	good := w.cfg.SecretKey
	w.cfg.SecretKey = wrongKey
	stranger := service()
	_, err = stranger.Sync(ctx, w.account.ID, cause())
	fail(err)
	_, err = stranger.Reconcile(ctx, nil)
	w.must(err)
	for _, c := range stranger.Doctor(ctx) {
		fmt.Fprintln(log, c)
	}
	w.cfg.SecretKey = good
	w.post(body("evt_forged", "invoice.paid", `{}`), time.Now(), "whsec_forged")

	// The end of an account; a customer deleted at Stripe.
	_, err = w.billing.End(ctx, w.account.ID, cause())
	w.must(err)
	w.must(w.stripe.DeleteCustomer(w.customer()))
	w.settle()
	_, err = w.billing.Reconcile(ctx, nil)
	w.must(err)
	_, err = w.billing.SyncAll(ctx, nil)
	w.must(err)
	w.kill()
	return made, log.String()
}

// dump returns the whole content of a database.
func dump(t *testing.T, database string) string {
	t.Helper()
	tables := "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
	if strings.HasPrefix(database, "sqlite:") {
		tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	}
	db := storetest.SQL(t, database)
	defer db.Close()
	query := func(statement string) (out [][]any) {
		rows, err := db.QueryContext(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, _ := rows.Columns()
		for rows.Next() {
			values := make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			out = append(out, values)
		}
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
		return out
	}
	var all strings.Builder
	for _, table := range query(tables) {
		for _, row := range query(fmt.Sprintf("SELECT * FROM %q", table[0])) { //nolint:unqueryvet // all there is
			for _, v := range row {
				if text, ok := v.([]byte); ok {
					v = string(text)
				}
				fmt.Fprintln(&all, v)
			}
		}
	}
	return all.String()
}

// mockStripe is the URL of stripe-mock.
type mockStripe string

func startMock(t *testing.T) mockStripe {
	t.Helper()
	base, stop, err := sandboxtest.StartMock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return mockStripe(base)
}

// ask sends a request again.
func (m mockStripe) ask(t *testing.T, c sandbox.Call) (status int, answer []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), c.Method, string(m)+c.Path+"?"+c.Query, strings.NewReader(c.Body))
	if err != nil {
		t.Fatal(err)
	}
	if c.Method == http.MethodPost || c.Body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Stripe-Version", c.Version)
	r.Header.Set("Idempotency-Key", c.Key)
	r.Header.Set("Authorization", "Bearer sk_test_123")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, answer
}
