package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"lottery/billing/sandbox"
	"lottery/models/store/storetest"
)

func TestAPIFaults(t *testing.T) {
	t.Parallel()
	b := open(t)
	for _, c := range []struct {
		fault  sandbox.APIFault
		status int
		made   int
	}{
		{sandbox.APIFault{Action: sandbox.RateLimit, Times: 1}, 429, 0},
		{sandbox.APIFault{Action: sandbox.ServerError, Times: 1}, 500, 0},
		{sandbox.APIFault{Action: sandbox.ErrorAfter, Times: 1}, 500, 1},
		{sandbox.APIFault{Action: sandbox.ErrorStays, Times: 1}, 500, 0},
		{sandbox.APIFault{Action: sandbox.Hang, Delay: 20 * time.Millisecond, Times: 1}, 0, 0},
		{sandbox.APIFault{Action: sandbox.LoseReply, Times: 1}, 0, 1},
		{sandbox.APIFault{Action: sandbox.DelayReply, Delay: 20 * time.Millisecond, Times: 1}, 200, 1},
	} {
		before := len(b.Customers())
		b.FaultAPI(c.fault)
		p := &stripe.CustomerParams{Email: new("a@example.com")}
		p.SetIdempotencyKey(string(c.fault.Action))
		began := time.Now()
		_, err := b.API.Customers.New(p)
		status := stripeError(err).HTTPStatusCode
		if err == nil {
			status = 200
		}
		if made := len(b.Customers()) - before; status != c.status || made != c.made {
			t.Errorf("%s: %d, %d made, %v", c.fault.Action, status, made, err)
		}
		if c.fault.Delay > time.Since(began) {
			t.Errorf("%s took %s", c.fault.Action, time.Since(began))
		}
		if c.status == 429 && (stripeError(err).Code != "rate_limit" || stripeError(err).LastResponse.Header.Get("Stripe-Should-Retry") != "") {
			t.Errorf("%+v", err)
		}
		// Again with the same key: it is done once, whatever the client saw, unless the error stays.
		_, err = b.API.Customers.New(p)
		stays, most := c.fault.Action == sandbox.ErrorAfter || c.fault.Action == sandbox.ErrorStays, 1
		if c.fault.Action == sandbox.ErrorStays {
			most = 0
		}
		if made := len(b.Customers()) - before; made != most || (err != nil) != stays {
			t.Errorf("%s, again: %d made, %v", c.fault.Action, made, err)
		}
	}
}

func TestFaultsMatch(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: "POST", Path: "/v1/customers*"})
	for range 3 {
		if _, err := b.API.Customers.New(nil); stripeError(err).HTTPStatusCode != 500 {
			t.Error(err)
		}
	}
	count(t, b.API.Customers.List(nil), 0)
	b.ClearFaults()
	b.customer()
}

func TestAnswersThatMislead(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	customer, sub := b.pro(sandbox.CardOK)
	cs := b.Sessions(customer)[0].ID
	b.FaultAPI(sandbox.APIFault{Action: sandbox.Withhold, Path: "/v1/checkout/sessions/*", Times: 1})
	if got := must(b.API.CheckoutSessions.Get(cs, nil))(t); got.Subscription != nil || got.Status != "complete" {
		t.Errorf("%+v", got)
	}
	if got := must(b.API.CheckoutSessions.Get(cs, nil))(t); got.Subscription.ID != sub {
		t.Errorf("%+v", got)
	}
	b.FaultAPI(sandbox.APIFault{Action: sandbox.NotFound, Path: "/v1/subscriptions/" + sub, Times: 1})
	if _, err := b.API.Subscriptions.Get(sub, nil); stripeError(err).HTTPStatusCode != 404 || stripeError(err).Code != "resource_missing" {
		t.Error(err)
	}
	b.FaultAPI(sandbox.APIFault{Action: sandbox.NewShape, Times: 1})
	if _, got := b.raw("GET", "/v1/subscriptions/"+sub, ""); got["status"] != "active" || got["current_period_end"] != nil {
		t.Errorf("%+v", got)
	}
}

// TestHang shows that a request that hangs ends with its client, and with Close.
func TestHang(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.FaultAPI(sandbox.APIFault{Action: sandbox.Hang})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	p := &stripe.CustomerParams{}
	p.Context = ctx
	if _, err := b.API.Customers.New(p); err == nil || len(b.Customers()) != 0 {
		t.Error(err)
	}
	ended, before := make(chan error), len(b.Calls())
	go func() {
		_, err := b.API.Customers.New(nil)
		ended <- err
	}()
	storetest.Until(t, "a request that hangs", func() bool { return len(b.Calls()) > before })
	b.must(b.Close(context.Background()))
	if err := <-ended; err == nil {
		t.Error("no error")
	}
}

// TestTransport shows that everything works without a network.
func TestTransport(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL: new("http://stripe.test"), MaxNetworkRetries: new(int64(0)), LeveledLogger: &stripe.LeveledLogger{},
		HTTPClient: &http.Client{Transport: s.Transport(), Timeout: 100 * time.Millisecond},
	})
	c := client.New(sandbox.DefaultKey, &stripe.Backends{API: backend})
	for _, a := range []sandbox.Action{sandbox.LoseReply, sandbox.Hang} {
		s.FaultAPI(sandbox.APIFault{Action: a, Times: 1})
		if _, err := c.Customers.New(nil); err == nil {
			t.Error(a)
		}
	}
	if _, err := c.Customers.New(nil); err != nil || len(s.Customers()) != 2 {
		t.Error(err, s.Customers())
	}
	calls := s.Calls()
	if len(calls) != 3 || calls[0].Fault != sandbox.LoseReply || calls[2].Path != "/v1/customers" || calls[2].Version != pinned {
		t.Errorf("%+v", calls)
	}
}

func (b *bench) control(method, path, body string, status int) (answer any) {
	b.t.Helper()
	r, err := http.NewRequest(method, b.URL+"/_sandbox/"+path, strings.NewReader(body))
	b.must(err)
	resp, err := http.DefaultClient.Do(r)
	b.must(err)
	defer resp.Body.Close()
	b.must(json.NewDecoder(resp.Body).Decode(&answer))
	if resp.StatusCode != status {
		b.t.Fatalf("%s: %d %v", path, resp.StatusCode, answer)
	}
	return answer
}

// TestControls controls the sandbox over HTTP, as the tests of the demo do.
func TestControls(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer := b.customer()
	cs := b.checkout(customer)
	b.hush()
	b.control("POST", "faults/delivery", `{"action":"drop"}`, 200)
	if paid := b.control("POST", "pay", `{"session":"`+cs.ID+`","card":"bank_pays"}`, 200); paid != true {
		t.Error(paid)
	}
	b.control("POST", "advance", `{"by":"96h"}`, 200)
	state := fmt.Sprint(b.control("GET", "state", "", 200))
	if !strings.Contains(state, "status:complete") || !strings.Contains(state, "status:active") {
		t.Error(state)
	}
	b.quiesce()
	if got := b.hook.types(); len(got) != 0 {
		t.Error(got)
	}
	b.control("DELETE", "faults", "", 200)
	b.customer()
	b.quiesce()
	if got := b.hook.types(); !slices.Equal(got, []string{"customer.created"}) {
		t.Error(got)
	}
	b.control("POST", "faults/delivery", `{"action":"hold"}`, 200)
	sub := b.Subscriptions(customer)[0].ID
	b.control("POST", "refund", `{"id":"`+sub+`","cents":100}`, 200)
	dispute := fmt.Sprint(b.control("POST", "dispute", `{"id":"`+sub+`"}`, 200))
	b.control("POST", "dispute/close", `{"id":"`+dispute+`","status":"lost"}`, 200)
	b.control("POST", "release", `{"order":"reversed"}`, 200)
	want := []string{"customer.created", "charge.dispute.closed", "charge.dispute.funds_withdrawn", "charge.dispute.created", "charge.updated", "charge.refunded"}
	if got := b.hook.types(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	b.control("POST", "dispute/close", `{"id":"`+dispute+`","status":"won"}`, 422)
	b.control("DELETE", "faults", "", 200)
	b.control("POST", "faults/api", `{"action":"rate_limit","times":1,"path":"/v1/account"}`, 200)
	if _, err := b.API.Accounts.Get(); stripeError(err).HTTPStatusCode != 429 {
		t.Error(err)
	}
	b.control("POST", "pay", `{"session":"cs_test_x","card":"ok"}`, 422)
	b.control("POST", "advance", `{"by":72}`, 422)
	b.control("POST", "advance", `{"by":"soon"}`, 422)
}

// TestDeterministic shows that the same seed and the same requests give the same ids.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	var ids [2][]string
	for i := range ids {
		b := open(t).sells()
		customer, sub := b.pro(sandbox.CardOK)
		for _, e := range b.Events() {
			ids[i] = append(ids[i], e.ID)
		}
		ids[i] = append(ids[i], customer, sub)
	}
	seen := map[string]bool{}
	for i, id := range ids[0] {
		if id != ids[1][i] || seen[id] {
			t.Errorf("%s and %s", id, ids[1][i])
		}
		seen[id] = true
	}
}
