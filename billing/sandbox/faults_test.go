package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
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
	once := sandbox.Often{Times: 1}
	for _, c := range []struct {
		fault  sandbox.APIFault
		status int
		made   int
	}{
		{sandbox.APIFault{Action: sandbox.RateLimit, Often: once}, 429, 0},
		{sandbox.APIFault{Action: sandbox.ServerError, Often: once}, 500, 0},
		{sandbox.APIFault{Action: sandbox.ErrorAfter, Often: once}, 500, 1},
		{sandbox.APIFault{Action: sandbox.ErrorStays, Often: once}, 500, 0},
		{sandbox.APIFault{Action: sandbox.Hang, Delay: 20 * time.Millisecond, Often: once}, 0, 0},
		{sandbox.APIFault{Action: sandbox.LoseReply, Often: once}, 0, 1},
		{sandbox.APIFault{Action: sandbox.DelayReply, Delay: 20 * time.Millisecond, Often: once}, 200, 1},
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
	b.FaultAPI(sandbox.APIFault{Action: sandbox.RateLimit, Often: sandbox.Often{Chance: 0.5}})
	refused := 0
	for range 100 {
		if _, err := b.API.Balance.Get(nil); err != nil {
			refused++
		}
	}
	if refused < 30 || refused > 70 {
		t.Errorf("%d of 100", refused)
	}
}

func TestAnswersThatMislead(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	customer, sub := b.pro(sandbox.CardOK)
	cs := b.Sessions(customer)[0].ID
	once := sandbox.Often{Times: 1}
	b.FaultAPI(sandbox.APIFault{Action: sandbox.Withhold, Path: "/v1/checkout/sessions/*", Often: once})
	if got := must(b.API.CheckoutSessions.Get(cs, nil))(t); got.Subscription != nil || got.Status != "complete" {
		t.Errorf("%+v", got)
	}
	if got := must(b.API.CheckoutSessions.Get(cs, nil))(t); got.Subscription.ID != sub {
		t.Errorf("%+v", got)
	}
	b.FaultAPI(sandbox.APIFault{Action: sandbox.NotFound, Path: "/v1/subscriptions/" + sub, Often: once})
	if _, err := b.API.Subscriptions.Get(sub, nil); stripeError(err).HTTPStatusCode != 404 || stripeError(err).Code != "resource_missing" {
		t.Error(err)
	}
	b.FaultAPI(sandbox.APIFault{Action: sandbox.NewShape, Often: once})
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
		s.FaultAPI(sandbox.APIFault{Action: a, Often: sandbox.Often{Times: 1}})
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

func (b *bench) control(path, body string, status int) map[string]any {
	b.t.Helper()
	resp, err := http.Post(b.URL+"/_sandbox/"+path, "application/json", bytes.NewBufferString(body))
	b.must(err)
	defer resp.Body.Close()
	var o map[string]any
	b.must(json.NewDecoder(resp.Body).Decode(&o))
	if resp.StatusCode != status {
		b.t.Fatalf("%s: %d %v", path, resp.StatusCode, o)
	}
	return o
}

// TestControls runs a subscription's life through the control API alone.
func TestControls(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer := b.customer()
	cs := b.checkout(customer)
	if o := b.control("pay", `{"session":"`+cs.ID+`","card":"bank_pays"}`, 200); o["paid"] != true {
		t.Error(o)
	}
	b.control("settle", `{"id":"`+cs.ID+`","paid":true}`, 200)
	sub := b.Subscriptions(customer)[0].ID
	b.control("card", `{"customer":"`+customer+`","card":"declined"}`, 200)
	b.control("dunning", `{"retries":["24h","48h"],"end":"unpaid"}`, 200)
	b.control("renew", `{"subscription":"`+sub+`"}`, 200)
	b.want(sub, "past_due")
	b.control("advance", `{"by":"72h"}`, 200)
	b.want(sub, "unpaid")
	b.control("card", `{"customer":"`+customer+`","card":"ok"}`, 200)
	b.control("retry_payment", `{"subscription":"`+sub+`"}`, 200)
	b.want(sub, "active")
	b.control("cancel_at_period_end", `{"subscription":"`+sub+`","end":true}`, 200)
	b.control("price", `{"subscription":"`+sub+`","price":"`+b.price+`"}`, 200)
	dp := b.control("dispute", `{"id":"`+sub+`","inquiry":false}`, 200)["id"].(string)
	b.control("close_dispute", `{"dispute":"`+dp+`","status":"lost"}`, 200)
	b.control("refund", `{"id":"`+b.Invoices(customer)[0].ID+`","cents":100}`, 200)
	made := b.control("subscription", `{"customer":"`+customer+`","price":"`+b.price+`","status":"paused"}`, 200)["id"].(string)
	b.control("status", `{"subscription":"`+made+`","status":"active"}`, 200)
	b.want(made, "active")
	b.control("email", `{"customer":"`+customer+`","email":"new@example.com"}`, 200)
	b.control("event_version", `{"version":"2025-03-31.basil"}`, 200)
	evt := b.control("emit", `{"type":"customer.updated","object":"`+customer+`"}`, 200)["id"].(string)
	b.control("resend", `{"event":"`+evt+`"}`, 200)
	if o := b.control("roll_secret", `{"endpoint":"`+b.secret+`","overlap":"1h"}`, 200); o["secret"] == "" {
		t.Error(o)
	}
	b.control("faults/delivery", `{"action":"hold","type":"customer.*"}`, 200)
	b.control("faults/event", `{"skip":true,"times":1,"type":"invoice.*"}`, 200)
	b.control("faults/api", `{"action":"rate_limit","times":1,"path":"/v1/balance"}`, 200)
	if _, err := b.API.Balance.Get(nil); stripeError(err).HTTPStatusCode != 429 {
		t.Error(err)
	}
	b.control("cancel", `{"subscription":"`+sub+`"}`, 200)
	b.control("delete_customer", `{"customer":"`+customer+`"}`, 200)
	b.control("quiesce", "", 200)
	if o := b.control("release", `{"order":"reversed"}`, 200); o["released"] != 3.0 {
		t.Error(o)
	}
	req, _ := http.NewRequest(http.MethodDelete, b.URL+"/_sandbox/faults", nil)
	resp, err := http.DefaultClient.Do(req)
	b.must(err)
	resp.Body.Close()
	for _, path := range []string{"state", "subscriptions?customer=" + customer, "events", "calls"} {
		resp, err := http.Get(b.URL + "/_sandbox/" + path)
		b.must(err)
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Error(path, resp.StatusCode)
		}
	}
	b.control("cancel", `{"subscription":"`+sub+`"}`, 422)
	b.control("card", `{"customer":"cus_x","card":"ok"}`, 422)
	b.control("advance", `{"by":72}`, 422)
	b.hook.badAllowed = true // two secrets at the end
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
