package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"
	"github.com/stripe/stripe-go/v76/webhook"

	"lottery/billing/sandbox"
)

// bench is a sandbox on a local port, with the real client and a receiver of webhooks.
type bench struct {
	*sandbox.Sandbox

	t       *testing.T
	URL     string
	API     *client.API
	clock   *clock
	hook    *receiver
	price   string
	product string
	secret  string
}

// clock is the clock beneath the sandbox's: it stands still unless the test moves it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// receiver is an endpoint for webhooks.
type receiver struct {
	mu     sync.Mutex
	secret string
	status int
	wait   chan struct{} // answers wait for it, unless nil
	got    []stripe.Event
	bodies []string
	bad    []error
	sigs   []string
	open   int
	most   int // at once

	badAllowed bool
	*httptest.Server
}

func (rc *receiver) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sandbox was closed while it sent
	}
	rc.mu.Lock()
	rc.open++
	rc.most = max(rc.most, rc.open)
	hold := rc.wait
	rc.mu.Unlock()
	if hold != nil {
		<-hold
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.open--
	sig := r.Header.Get("Stripe-Signature")
	e, err := webhook.ConstructEventWithOptions(body, sig, rc.secret, webhook.ConstructEventOptions{IgnoreAPIVersionMismatch: true})
	if err != nil {
		rc.bad = append(rc.bad, fmt.Errorf("%w: %s %s: %s", err, r.Host, sig, body))
	} else {
		rc.bad = append(rc.bad, badShape(e.APIVersion, body)...)
		rc.got = append(rc.got, e)
		rc.bodies = append(rc.bodies, string(body))
	}
	rc.sigs = append(rc.sigs, sig)
	w.WriteHeader(rc.status)
}

// badShape returns where an event, or the object in it, differs from Stripe's OpenAPI document of 2023-10-16.
func badShape(version string, body []byte) []error {
	var e map[string]any
	if err := json.Unmarshal(body, &e); err != nil {
		return []error{err}
	}
	if version != pinned {
		return nil
	}
	o, _ := e["data"].(map[string]any)["object"].(map[string]any)
	var out []error
	for _, p := range append(validate("event", e), validate(word(o, "object"), o)...) {
		out = append(out, fmt.Errorf("%s: %s", word(e, "type"), p))
	}
	return out
}

func (rc *receiver) set(f func()) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	f()
}

// types returns the types of the events received, in order.
func (rc *receiver) types() []string {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	var out []string
	for _, e := range rc.got {
		out = append(out, string(e.Type))
	}
	return out
}

func (rc *receiver) forget() {
	rc.set(func() { rc.got, rc.bodies, rc.bad, rc.sigs = nil, nil, nil, nil })
}

// open starts a sandbox with a price of 9.99 a month. Webhooks are sent in order.
func open(t *testing.T, change ...func(*sandbox.Options)) *bench {
	t.Helper()
	b := &bench{t: t, clock: &clock{at: time.Now().Truncate(time.Second)}}
	opts := sandbox.Options{Now: b.clock.Now, Seed: 7, Workers: 1}
	for _, f := range change {
		f(&opts)
	}
	s, err := sandbox.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	b.Sandbox = s
	srv := httptest.NewServer(s)
	b.URL = srv.URL
	b.API = api(t, srv.URL, sandbox.DefaultKey)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	return b
}

// api returns the real client, without its own retries.
func api(t *testing.T, url, key string) *client.API {
	t.Helper()
	return apiVia(url, key, recorder{t: t})
}

func apiVia(url, key string, via http.RoundTripper) *client.API {
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL: new(url), MaxNetworkRetries: new(int64(0)), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
		HTTPClient: &http.Client{Timeout: 10 * time.Second, Transport: via},
	})
	return client.New(key, &stripe.Backends{API: backend, Connect: backend, Uploads: backend})
}

// sells adds a product and a price of 9.99 a month.
func (b *bench) sells() *bench {
	b.t.Helper()
	p := must(b.API.Products.New(&stripe.ProductParams{Name: new("Pro")}))(b.t)
	price := must(b.API.Prices.New(&stripe.PriceParams{
		Product: &p.ID, Currency: new("usd"), UnitAmount: new(int64(999)), LookupKey: new("lottery_pro_monthly"),
		Recurring: &stripe.PriceRecurringParams{Interval: new("month")},
	}))(b.t)
	b.price, b.product = price.ID, p.ID
	return b
}

// listens adds an endpoint that receives every event.
func (b *bench) listens() *bench {
	b.t.Helper()
	b.hook = &receiver{status: http.StatusOK}
	b.hook.Server = httptest.NewServer(http.HandlerFunc(b.hook.serve))
	b.t.Cleanup(func() {
		b.must(b.Close(context.Background())) // before another test gets the port
		b.hook.Close()
		if !b.hook.badAllowed && len(b.hook.bad) > 0 {
			b.t.Errorf("webhooks: %v", b.hook.bad)
		}
	})
	e := must(b.API.WebhookEndpoints.New(&stripe.WebhookEndpointParams{
		URL: new(b.hook.URL + "/webhooks/stripe"), EnabledEvents: stripe.StringSlice([]string{"*"}), APIVersion: new(stripe.APIVersion),
	}))(b.t)
	b.hook.secret, b.secret = e.Secret, e.ID
	return b
}

func (b *bench) customer() string {
	b.t.Helper()
	return must(b.API.Customers.New(&stripe.CustomerParams{Email: new("ann@example.com"), Metadata: map[string]string{"account": "a1"}}))(b.t).ID
}

func (b *bench) checkout(customer string) *stripe.CheckoutSession {
	b.t.Helper()
	return must(b.API.CheckoutSessions.New(&stripe.CheckoutSessionParams{
		Mode: new("subscription"), Customer: &customer, ClientReferenceID: new("a1"),
		SuccessURL:       new("https://example.com/done?session={CHECKOUT_SESSION_ID}"),
		CancelURL:        new("https://example.com/cancelled"),
		LineItems:        []*stripe.CheckoutSessionLineItemParams{{Price: &b.price, Quantity: new(int64(1))}},
		SubscriptionData: &stripe.CheckoutSessionSubscriptionDataParams{Metadata: map[string]string{"account": "a1"}},
	}))(b.t)
}

// pro returns a customer who has paid.
func (b *bench) pro(card sandbox.Card) (customer, sub string) {
	b.t.Helper()
	customer = b.customer()
	if _, ok, err := b.Pay(b.checkout(customer).ID, card); err != nil || !ok {
		b.t.Fatal(ok, err)
	}
	subs := b.Subscriptions(customer)
	return customer, subs[len(subs)-1].ID
}

func (b *bench) quiesce() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := b.Quiesce(ctx); err != nil {
		b.t.Fatal(err)
	}
}

// hush forgets the webhooks received so far.
func (b *bench) hush() {
	b.t.Helper()
	b.quiesce()
	b.hook.forget()
}

// status returns a subscription's status from the API, which must equal that of Subscriptions.
func (b *bench) status(id string) string {
	b.t.Helper()
	got := string(must(b.API.Subscriptions.Get(id, nil))(b.t).Status)
	for _, sub := range b.Subscriptions("") {
		if sub.ID == id && sub.Status != got {
			b.t.Errorf("the API says %s, the truth is %s", got, sub.Status)
		}
	}
	return got
}

func (b *bench) want(id, status string) {
	b.t.Helper()
	if got := b.status(id); got != status {
		b.t.Fatalf("%s is %s, want %s", id, got, status)
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
