package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lottery/billing/sandbox"
)

// world is a sandbox without a network that records its webhooks.
type world struct {
	*sandbox.Sandbox

	rt       *rapid.T
	client   http.Client
	product  string
	price    string
	disputes []string // paths
	bad      []string
}

// RoundTrip receives webhooks.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	var e map[string]any
	if err := json.Unmarshal(body, &e); err != nil {
		w.bad = append(w.bad, err.Error())
	}
	o, _ := e["data"].(map[string]any)["object"].(map[string]any)
	w.bad = append(w.bad, validate(word(o, "object"), o)...)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

func (w *world) call(method, path, body string) map[string]any {
	req, _ := http.NewRequest(method, "http://stripe.test/v1/"+path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+sandbox.DefaultKey)
	resp, err := w.client.Do(req)
	if err != nil {
		w.rt.Fatal(err)
	}
	var o map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil || resp.StatusCode >= 500 {
		w.rt.Fatal(resp.StatusCode, o, err)
	}
	return o
}

// TestRandomLives lets anything happen in any order: nothing panics, every event has Stripe's shape, the API agrees
// with Subscriptions, statuses and invoices are consistent, and a restart changes nothing.
func TestRandomLives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		w := &world{rt: rt}
		opts := sandbox.Options{
			Now: func() time.Time { return at }, Seed: 3, Workers: 1, Client: &http.Client{Transport: w}, File: filepath.Join(t.TempDir(), "kept.json"),
		}
		s, err := sandbox.New(opts)
		if err != nil {
			rt.Fatal(err)
		}
		w.Sandbox, w.client.Transport = s, s.Transport()
		w.call("POST", "webhook_endpoints", "url=http://x&enabled_events[]=*")
		w.product = word(w.call("POST", "products", "name=Pro"), "id")
		w.call("POST", "billing_portal/configurations", "business_profile[headline]=Draws&features[invoice_history][enabled]=true")
		w.price = word(w.call("POST", "prices", "currency=usd&unit_amount=999&recurring[interval]=month&product="+w.product), "id")
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			w.step()
		}
		w.verify()
		before := w.told()
		if err := s.Close(context.Background()); err != nil {
			rt.Fatal(err)
		}
		if s, err = sandbox.New(opts); err != nil {
			rt.Fatal(err)
		}
		defer s.Close(context.Background())
		w.Sandbox, w.client.Transport = s, s.Transport()
		if after := w.told(); after != before {
			rt.Fatalf("after a restart:\n%s\nbefore:\n%s", after, before)
		}
	})
}

// told is everything that the sandbox tells.
func (w *world) told() string {
	all := []any{w.Now(), w.Customers(), w.Subscriptions(""), w.Sessions(""), w.Invoices(""), w.Events()}
	for _, path := range append([]string{
		"customers", "prices", "products/" + w.product, "checkout/sessions", "subscriptions?status=all", "invoices?expand[]=data.charge", "events",
		"webhook_endpoints", "billing_portal/configurations",
	}, w.disputes...) {
		answer := w.call("GET", path, "")
		if answer["error"] != nil {
			w.rt.Fatal(path, answer)
		}
		all = append(all, "\n"+path, answer)
	}
	return fmt.Sprint(all...)
}

func (w *world) step() {
	rt := w.rt
	cards := []sandbox.Card{sandbox.CardOK, sandbox.CardDeclined, sandbox.CardFailsLater, sandbox.BankPays, sandbox.BankFails}
	card := rapid.SampledFrom(cards).Draw(rt, "card")
	customer, sub, cs := "", "", ""
	if all := w.Customers(); len(all) > 0 {
		customer = rapid.SampledFrom(all).Draw(rt, "customer").ID
	}
	if all := w.Subscriptions(""); len(all) > 0 {
		sub = rapid.SampledFrom(all).Draw(rt, "subscription").ID
	}
	if all := w.Sessions(""); len(all) > 0 {
		cs = rapid.SampledFrom(all).Draw(rt, "session").ID
	}
	statuses := []string{"incomplete", "incomplete_expired", "trialing", "active", "past_due", "canceled", "unpaid", "paused"}
	// Refusals do not matter here: errors are ignored.
	switch rapid.IntRange(0, 16).Draw(rt, "what") {
	case 0:
		w.call("POST", "customers", "email=a@example.com")
	case 1, 2:
		w.call("POST", "checkout/sessions", "mode=subscription&success_url=http://x&line_items[0][price]="+w.price+"&customer="+customer)
	case 3, 4:
		_, _, _ = w.Pay(cs, card)
	case 5:
		_ = w.SetCard(customer, card)
	case 6:
		_ = w.CancelAtPeriodEnd(sub, rapid.Bool().Draw(rt, "end"))
	case 7:
		w.call("DELETE", "subscriptions/"+sub, "")
	case 8:
		_ = w.Renew(sub)
	case 9:
		_ = w.Settle(sub, rapid.Bool().Draw(rt, "paid"))
	case 10:
		_ = w.Refund(sub, int64(rapid.SampledFrom([]int{0, 100}).Draw(rt, "cents")))
	case 11:
		if id, err := w.Dispute(sub, rapid.Bool().Draw(rt, "inquiry")); err == nil {
			w.disputes = append(w.disputes, "disputes/"+id)
			_ = w.CloseDispute(id, "lost")
		}
	case 12:
		_ = w.DeleteCustomer(customer)
	case 13:
		_ = w.SetStatus(sub, rapid.SampledFrom(statuses).Draw(rt, "status"))
	case 14:
		_, _ = w.NewSubscription(customer, w.price, rapid.SampledFrom(statuses).Draw(rt, "status"), nil)
	case 15:
		_ = w.RetryPayment(sub)
	case 16:
		w.SetDunning(sandbox.Dunning{Retries: []time.Duration{day}, End: rapid.SampledFrom([]string{"canceled", "unpaid", "past_due"}).Draw(rt, "dunning")})
	}
	w.Advance(time.Duration(rapid.IntRange(0, 60*24).Draw(rt, "hours")) * time.Hour)
}

func (w *world) verify() {
	rt := w.rt
	if err := w.Quiesce(context.Background()); err != nil {
		rt.Fatal(err)
	}
	if len(w.bad) > 0 {
		rt.Fatal(w.bad)
	}
	for _, c := range w.Customers() {
		var listed []string
		o := w.call("GET", "subscriptions?limit=100&status=all&customer="+c.ID, "")
		for _, d := range o["data"].([]any) {
			sub, _ := d.(map[string]any)
			listed = append(listed, word(sub, "id")+" "+word(sub, "status"))
		}
		slices.Reverse(listed)
		var truth []string
		for _, sub := range w.Subscriptions(c.ID) {
			truth = append(truth, sub.ID+" "+sub.Status)
			over := sub.Status == "canceled" || sub.Status == "incomplete_expired"
			if c.Deleted && !over {
				rt.Fatalf("%+v of a deleted customer", sub)
			}
			if living := sub.Status == "active" || sub.Status == "past_due" || sub.Status == "unpaid" || sub.Status == "trialing"; living && !sub.PeriodEnd.After(w.Now()) {
				rt.Fatalf("%+v should have been renewed before %s", sub, w.Now())
			}
		}
		if !slices.Equal(listed, truth) {
			rt.Fatalf("the API says %v, the truth is %v", listed, truth)
		}
		for _, inv := range w.Invoices(c.ID) {
			if !inv.NextAttempt.IsZero() && (inv.Status != "open" || !inv.NextAttempt.After(w.Now())) {
				rt.Fatalf("%+v at %s", inv, w.Now())
			}
		}
	}
}
