package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/billing/sandbox"
)

// raw sends a request as curl would.
func (b *bench) raw(method, path, body string, header ...string) (*http.Response, map[string]any) {
	b.t.Helper()
	req, err := http.NewRequest(method, b.URL+path, strings.NewReader(body))
	b.must(err)
	req.Header.Set("Authorization", "Bearer "+sandbox.DefaultKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	b.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	b.must(err)
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		b.t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
	return resp, o
}

func TestErrors(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	customer := b.customer()
	good := "mode=subscription&success_url=https://x.example&line_items[0][price]=" + b.price + "&customer=" + customer
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code, param        string
		header             []string
	}{
		"no key":               {"GET", "/v1/customers", "", 401, "", "", []string{"Authorization", ""}},
		"wrong key":            {"GET", "/v1/customers", "", 401, "", "", []string{"Authorization", "Bearer sk_test_wrong"}},
		"live key":             {"GET", "/v1/customers", "", 401, "", "", []string{"Authorization", "Bearer sk_live_sandbox"}},
		"unknown path":         {"GET", "/v1/coupons", "", 404, "", "", nil},
		"path too long":        {"GET", "/v1/customers/a/b/c", "", 404, "", "", nil},
		"wrong method":         {"PUT", "/v1/customers", "", 404, "", "", nil},
		"unknown id":           {"GET", "/v1/customers/cus_x", "", 404, "resource_missing", "id", nil},
		"another kind's id":    {"GET", "/v1/subscriptions/" + customer, "", 404, "resource_missing", "id", nil},
		"unknown parameter":    {"POST", "/v1/customers", "emial=a", 400, "parameter_unknown", "emial", nil},
		"unknown nested":       {"POST", "/v1/checkout/sessions", good + "&line_items[0][prise]=x", 400, "parameter_unknown", "line_items[0][prise]", nil},
		"unknown in the query": {"GET", "/v1/subscriptions?state=all", "", 400, "parameter_unknown", "state", nil},
		"missing parameter":    {"POST", "/v1/products", "", 400, "parameter_missing", "name", nil},
		"empty parameter":      {"POST", "/v1/products", "name=", 400, "parameter_invalid_empty", "name", nil},
		"bad integer":          {"POST", "/v1/prices", "currency=usd&unit_amount=9.99&product=" + b.product, 400, "parameter_invalid_integer", "unit_amount", nil},
		"bad boolean":          {"POST", "/v1/products", "name=x&active=yes", 400, "", "active", nil},
		"unknown customer":     {"POST", "/v1/checkout/sessions", strings.Replace(good, customer, "cus_x", 1), 400, "resource_missing", "customer", nil},
		"unknown price":        {"POST", "/v1/checkout/sessions", strings.Replace(good, b.price, "price_x", 1), 400, "resource_missing", "line_items[0][price]", nil},
		"a list's customer":    {"GET", "/v1/subscriptions?customer=cus_x", "", 400, "resource_missing", "customer", nil},
		"status":               {"GET", "/v1/subscriptions?status=dead", "", 400, "", "status", nil},
		"limit":                {"GET", "/v1/customers?limit=101", "", 400, "", "limit", nil},
		"mark":                 {"GET", "/v1/customers?starting_after=cus_x", "", 400, "resource_missing", "starting_after", nil},
		"expand":               {"GET", "/v1/customers/" + customer + "?expand[]=email", "", 400, "", "expand", nil},
		"lookup key taken":     {"POST", "/v1/prices", "currency=usd&unit_amount=1&lookup_key=lottery_pro_monthly&product=" + b.product, 400, "", "lookup_key", nil},
		"no portal yet":        {"POST", "/v1/billing_portal/sessions", "customer=" + customer, 400, "", "", nil},
		"JSON":                 {"POST", "/v1/customers", "{}", 400, "", "", []string{"Content-Type", "application/json"}},
		"version":              {"GET", "/v1/customers", "", 400, "", "", []string{"Stripe-Version", "latest"}},
		"encoding":             {"POST", "/v1/customers", "email=%zz", 400, "", "", nil},
		"body too large":       {"POST", "/v1/customers", "email=" + strings.Repeat("a", 2<<20), 400, "", "", nil},
	} {
		resp, o := b.raw(c.method, c.path, c.body, c.header...)
		e, _ := o["error"].(map[string]any)
		if resp.StatusCode != c.status || word(e, "code") != c.code || word(e, "param") != c.param || word(e, "message") == "" {
			t.Errorf("%s: %d %v", name, resp.StatusCode, e)
		}
		for _, p := range validate("error", any(o)) {
			t.Errorf("%s: %s", name, p)
		}
		if name != "body too large" && !strings.HasPrefix(resp.Header.Get("Request-Id"), "req_") {
			t.Errorf("%s: Request-Id %q", name, resp.Header.Get("Request-Id"))
		}
	}
	if n := len(b.Customers()); n != 1 {
		t.Errorf("%d customers after all that was refused", n)
	}
	_, o := b.raw("GET", "/v1/customers", "", "Authorization", "Bearer sk_test_somebodyelse")
	if text := fmt.Sprint(o); strings.Contains(text, "somebodyelse") {
		t.Errorf("the key is told: %s", text)
	}
}

// TestLiveKey shows that a live key makes every object livemode.
func TestLiveKey(t *testing.T) {
	t.Parallel()
	b := open(t, func(o *sandbox.Options) { o.SecretKey = "sk_live_a" })
	if resp, o := b.raw("POST", "/v1/customers", "", "Authorization", "Bearer sk_live_a"); resp.StatusCode != 200 || o["livemode"] != true {
		t.Errorf("%d %v", resp.StatusCode, o)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	customer := b.customer()
	const n = 230
	var made []string
	for range n {
		id, err := b.NewSubscription(customer, b.price, "active", nil)
		b.must(err)
		made = append(made, id)
	}
	seen := map[string]bool{}
	p := &stripe.SubscriptionListParams{Customer: &customer, Status: new("all")}
	p.Limit = new(int64(100))
	for it := b.API.Subscriptions.List(p); it.Next(); {
		if id := it.Subscription().ID; seen[id] || id != made[n-1-len(seen)] {
			t.Fatalf("%s comes at %d", id, len(seen))
		} else {
			seen[id] = true
		}
	}
	if len(seen) != n {
		t.Errorf("%d of %d", len(seen), n)
	}
	if _, o := b.raw("GET", "/v1/subscriptions", ""); len(o["data"].([]any)) != 10 {
		t.Error("the default limit is 10")
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	customer, sub := b.pro(sandbox.CardOK)
	_, old := b.raw("GET", "/v1/subscriptions/"+sub+"?expand[]=latest_invoice", "", "Stripe-Version", "2022-11-15")
	resp, recent := b.raw("GET", "/v1/subscriptions/"+sub+"?expand[]=latest_invoice", "", "Stripe-Version", sandbox.NewVersion)
	item := recent["items"].(map[string]any)["data"].([]any)[0].(map[string]any)
	parent := recent["latest_invoice"].(map[string]any)["parent"].(map[string]any)["subscription_details"].(map[string]any)
	switch {
	case old["current_period_end"] == nil || recent["current_period_end"] != nil:
		t.Error("the period on the subscription")
	case item["current_period_end"] != old["current_period_end"] || parent["subscription"] != sub:
		t.Errorf("%v %v", item, parent)
	case resp.Header.Get("Stripe-Version") != sandbox.NewVersion:
		t.Error(resp.Header)
	}
	b.SetEventVersion(sandbox.NewVersion) // changes webhooks only
	if got := must(b.API.Subscriptions.List(&stripe.SubscriptionListParams{Customer: &customer}).SubscriptionList(), nil)(t); got.Data[0].CurrentPeriodEnd == 0 {
		t.Error("the answer has not the shape that the request asked for")
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	b := open(t)
	first, o := b.raw("POST", "/v1/customers", "email=a@example.com&metadata[x]=1", "Idempotency-Key", "k")
	again, p := b.raw("POST", "/v1/customers", "metadata[x]=1&email=a%40example.com", "Idempotency-Key", "k")
	if o["id"] != p["id"] || again.Header.Get("Idempotent-Replayed") != "true" || first.Header.Get("Idempotent-Replayed") != "" ||
		again.Header.Get("Original-Request") != first.Header.Get("Request-Id") {
		t.Errorf("%v %v %v", o, p, again.Header)
	}
	if resp, p := b.raw("POST", "/v1/customers", "email=b@example.com", "Idempotency-Key", "k"); resp.StatusCode != 400 || p["error"].(map[string]any)["type"] != "idempotency_error" {
		t.Errorf("other parameters: %v", p)
	}
	if resp, p := b.raw("POST", "/v1/products", "name=x", "Idempotency-Key", "k"); resp.StatusCode != 400 || p["error"].(map[string]any)["type"] != "idempotency_error" {
		t.Errorf("another path: %v", p)
	}
	b.Advance(24 * time.Hour)
	if _, p := b.raw("POST", "/v1/customers", "email=b@example.com", "Idempotency-Key", "k"); p["id"] == nil || p["id"] == o["id"] {
		t.Errorf("after a day: %v", p)
	}
	// A refused request began nothing, and may be corrected.
	b.raw("POST", "/v1/products", "nome=x", "Idempotency-Key", "j")
	if resp, p := b.raw("POST", "/v1/products", "name=x", "Idempotency-Key", "j"); resp.StatusCode != 200 {
		t.Errorf("after a refusal: %v", p)
	}
}

func TestIdempotencyAtOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.FaultAPI(sandbox.APIFault{Action: sandbox.DelayReply, Delay: 150 * time.Millisecond, Times: 1})
	ids, conflicts := map[any]bool{}, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for {
				resp, o := b.raw("POST", "/v1/customers", "email=a@example.com", "Idempotency-Key", "k")
				mu.Lock()
				switch resp.StatusCode {
				case http.StatusOK:
					ids[o["id"]] = true
				case http.StatusConflict:
					conflicts++
				default:
					t.Error(resp.StatusCode, o)
				}
				mu.Unlock()
				if resp.StatusCode != http.StatusConflict {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || len(b.Customers()) != 1 || conflicts == 0 {
		t.Errorf("ids %v, %d customers, %d conflicts", ids, len(b.Customers()), conflicts)
	}
}
