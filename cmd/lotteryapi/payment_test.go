package main

import (
	"encoding/json"
	"io"
	"lottery/models/store/storetest"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// tell posts an order to Stripe's stand-in.
func tell(t *testing.T, stripe, path, body string) {
	t.Helper()
	res, err := http.Post(stripe+"/_sandbox/"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, res.StatusCode, text)
	}
}

// The page after checkout is right even if no webhook ever comes.
func TestWebhookNeverComes(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	tell(t, stripeOf(t, p), "faults/delivery", `{"action": "drop"}`)
	b := newTab(t, browser)
	key := b.signUp(p.base, "ada@example.com")
	b.open(p.base + "/dashboard/plan")
	b.press("Upgrade to Pro")
	b.pay("ok")
	b.says("Welcome to Pro")
	storetest.Until(t, "the key to have Pro's limit", func() bool {
		_, limit, _ := call(t, p.base, key)
		return limit == "10000"
	})

	// Cancelled in the portal, still without a webhook: coming back is enough.
	b.open(p.base + "/dashboard/plan")
	b.press("Card, invoices, cancel")
	b.press("Cancel at the end of the period")
	b.press("Return")
	b.open(p.base + "/dashboard/plan")
	b.says("Canceled: Pro ends on")

	stranger := newTab(t, chromium(t))
	stranger.signUp(p.base, "eve@example.com")
	stranger.open(p.base + "/dashboard/billing/return?session_id=cs_test_nobodys")
	stranger.says("This account has no such checkout")
}

// Somebody who signs up to upgrade while Stripe does not answer is signed in, and can upgrade from the plan page later.
func TestUpgradeWhileStripeIsAway(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	stripe := stripeOf(t, p)
	tell(t, stripe, "faults/api", `{"action": "server_error", "path": "/v1/*"}`)
	b := newTab(t, browser)
	b.open(p.base + "/sign-up?next=upgrade")
	b.askLink("joan@example.com")
	b.followMail(p.base)
	b.says("Checkout could not be opened, and nothing was charged")
	req, err := http.NewRequest(http.MethodDelete, stripe+"/_sandbox/faults", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	b.press("Upgrade to Pro")
	b.pay("ok")
	b.says("Welcome to Pro")
}

// A payment that takes days: the page says so, and the plan changes by itself.
func TestBankPaysLater(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	b := newTab(t, browser)
	b.signUp(p.base, "ada@example.com")
	b.open(p.base + "/dashboard/plan")
	b.press("Upgrade to Pro")
	b.pay("bank_pays")
	b.says("Your payment is being processed")
	b.press("Check again")
	b.says("Your payment is being processed")
	returned := b.address()
	tell(t, stripeOf(t, p), "advance", `{"by": "96h"}`)
	b.until(returned, "Welcome to Pro")
	b.until(p.base+"/dev/mail", "You are on Pro")
}

// A failed renewal shows on the pages and in the mailbox; a new card mends it.
func TestPaymentFails(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	b := newTab(t, browser)
	b.signUp(p.base, "ada@example.com")
	b.open(p.base + "/dashboard/plan")
	b.press("Upgrade to Pro")
	b.pay("fails_later")
	b.says("Welcome to Pro")
	b.open(stripeOf(t, p) + "/_sandbox")
	b.press("Advance one month")
	b.until(p.base+"/dashboard", "Your last payment failed")
	b.says("Pro continues until")
	b.until(p.base+"/dev/mail", "Your payment failed")
	b.open(p.base + "/dashboard")
	b.press("Update card")
	b.choose(`input[value="ok"]`)
	b.press("Change")
	b.press("Pay")
	b.until(p.base+"/dashboard/plan", "renews on")
	if strings.Contains(b.body(), "payment failed") {
		t.Error("paid, and the page still says that it failed")
	}
}

// The pages' live samples equal the API's responses; the API's own errors stay problem+json.
func TestPagesBesideTheAPI(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	key := firstKey(t, p)
	for _, c := range []struct{ page, request, requestEnd, answer string }{
		{"/", `GET</span> `, "</div>", `aria-label="Response"><code>`},
		{"/docs", `This is <code>`, "</code>", `<pre class="code" tabindex="0"><code>`},
	} {
		page := textAt(t, p.base+c.page, "")
		_, rest, _ := strings.Cut(page, c.request)
		path, rest, _ := strings.Cut(rest, c.requestEnd)
		_, rest, _ = strings.Cut(rest, c.answer)
		shown, _, _ := strings.Cut(rest, "</code>")
		var want, got any
		if err := json.Unmarshal([]byte(plain(shown)), &got); err != nil {
			t.Fatalf("%s: the sample is no JSON: %v\n%s", c.page, err, plain(shown))
		}
		answer := textAt(t, p.base+plain(path), key)
		if err := json.Unmarshal([]byte(answer), &want); err != nil {
			t.Fatalf("%s: %v\n%s", path, err, answer)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s shows\n%v\nthe API answers\n%v", c.page, got, want)
		}
	}
	for path, want := range map[string]string{
		"/v1/nothing": "application/problem+json", "/v1": "application/problem+json", "/v1/games/": "application/problem+json",
		"/nothing": "text/html; charset=utf-8", "/docs/": "text/html; charset=utf-8", "/openapi.json": "application/json",
	} {
		res, err := http.Get(p.base + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if kind := res.Header.Get("Content-Type"); kind != want {
			t.Errorf("%s: %d %s, want %s", path, res.StatusCode, kind, want)
		}
	}
}
