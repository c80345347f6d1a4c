package main

import (
	"lottery/models/store/storetest"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A customer's whole journey, in a real browser: from the start page to a paid key, and back to Free.
func TestJourney(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	b := newTab(t, browser)

	key := b.signUp(p.base, "ada@example.com")
	curl := b.text("#curl")
	paste(t, curl)
	b.press("I have copied it")
	b.says("1 of 100 requests")
	b.says("99 left")

	for i := 2; i <= 100; i++ {
		if status, limit, _ := call(t, p.base, key); status != http.StatusOK || limit != "100" {
			t.Fatalf("request %d: %d, limit %s", i, status, limit)
		}
	}
	if status, _, _ := call(t, p.base, key); status != http.StatusTooManyRequests {
		t.Fatalf("request 101: %d", status)
	}
	b.open(p.base + "/dashboard")
	b.says("100 of 100 requests")
	b.says("You have used all of today’s requests")
	b.until(p.base+"/dashboard", "/v1/draws/recent") // statistics follow within seconds
	b.until(p.base+"/dev/mail", "You have used all 100 requests for")
	b.open(p.base + "/dashboard")

	b.press("Upgrade to Pro and continue")
	b.says("Sandbox: no real money")
	b.pay("declined")
	b.says("Your card was declined")
	if status, _, _ := call(t, p.base, key); status != http.StatusTooManyRequests {
		t.Fatalf("after a declined card: %d", status)
	}
	b.pay("ok")
	b.says("Welcome to Pro")
	b.says("10,000 requests a day")
	storetest.Until(t, "the key to work again", func() bool {
		status, limit, _ := call(t, p.base, key)
		return status == http.StatusOK && limit == "10000"
	})
	if status, _, left := call(t, p.base, key); status != http.StatusOK || left != "9898" {
		t.Fatalf("on Pro: %d, %s left", status, left)
	}

	b.open(p.base + "/dashboard/support")
	b.says("Priority")
	b.open(p.base + "/dashboard/plan")
	b.says("renews on")
	b.press("Card, invoices, cancel")
	b.says("Your subscription")
	b.press("Cancel at the end of the period")
	b.says("will end with the current period")
	b.press("Return")
	b.open(p.base + "/dashboard/plan?from=portal")
	b.says("Canceled: Pro ends on")
	if status, limit, _ := call(t, p.base, key); status != http.StatusOK || limit != "10000" {
		t.Fatalf("cancelled, and paid until its end: %d, limit %s", status, limit)
	}

	b.open(stripeOf(t, p) + "/_sandbox")
	b.press("Advance one month")
	b.press("Advance one day")
	b.until(p.base+"/dashboard/plan", "100 requests a day")
	b.says("Upgrade to Pro")
	storetest.Until(t, "the key to have Free's limit", func() bool {
		_, limit, _ := call(t, p.base, key)
		return limit == "100"
	})
	if status, _, _ := call(t, p.base, key); status != http.StatusTooManyRequests {
		t.Fatalf("downgraded with more used than Free has: %d", status)
	}
}

// Somebody who is signed out and wants Pro is led through sign-in straight to checkout.
func TestUpgradeSignedOut(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	b := newTab(t, browser)
	b.open(p.base + "/pricing")
	b.press("Upgrade to Pro")
	b.askLink("grace@example.com")
	b.followMail(p.base)
	b.says("Sandbox: no real money")
	b.pay("ok")
	b.says("Welcome to Pro")
	b.press("Create your first key")
	b.says("You have no API key yet")
	b.press("Create my first key")
	if status, limit, _ := call(t, p.base, b.text("#key")); status != http.StatusOK || limit != "10000" {
		t.Errorf("the first key: %d, limit %s", status, limit)
	}
}

// Detours on the way to checkout: a tab closed before the return, a double click, the back button, two tabs.
func TestCheckoutAstray(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	stripe := stripeOf(t, p)
	first := newTab(t, browser)
	first.signUp(p.base, "kay@example.com")

	first.open(p.base + "/dashboard/plan")
	first.follow("double click on upgrade", chromedp.DoubleClick(saying("Upgrade to Pro"), chromedp.BySearch))
	first.says("Sandbox: no real money")
	if open := sessionsOf(t, stripe)["open"]; open != 1 {
		t.Errorf("a double click made %d checkouts", open)
	}
	checkout := first.address()

	second := newTab(t, browser)
	second.open(p.base + "/dashboard/plan")
	second.press("Upgrade to Pro")
	if second.address() != checkout {
		t.Errorf("the second tab is at %s, the first at %s", second.address(), checkout)
	}

	first.back()
	first.says("Plan and billing")
	first.open(checkout)
	first.press("Go back without paying")
	first.says("Usage")

	// Pay in a tab that is closed before it returns: the webhook grants Pro.
	paid, err := http.Post(stripe+"/_sandbox/pay", "application/json", strings.NewReader(`{"session": "`+path.Base(checkout)+`", "card": "ok"}`))
	if err != nil || paid.StatusCode != http.StatusOK {
		t.Fatalf("pay: %v %v", paid, err)
	}
	paid.Body.Close()
	first.until(p.base+"/dashboard/plan", "renews on")

	// The forgotten tab tries once more, and the old return address still tells the truth.
	second.open(checkout)
	second.says("Already paid")
	second.press("Continue")
	second.says("Welcome to Pro")
	if counts := sessionsOf(t, stripe); counts["complete"] != 1 || counts["open"] != 0 {
		t.Errorf("checkouts: %v", counts)
	}
}

// A mail scanner opens the link before the person does; and a link works only once.
func TestLinkScannedFirst(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	b := newTab(t, browser)
	b.open(p.base + "/sign-up")
	b.askLink("linus@example.com")
	b.open(p.base + "/dev/mail/1")
	var link string
	b.do("read the link", chromedp.AttributeValue("pre a", "href", &link, nil, chromedp.ByQuery))
	for range 3 {
		res, err := http.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK || len(res.Cookies()) != 0 {
			t.Errorf("a scanner got %d and %v", res.StatusCode, res.Cookies())
		}
	}
	b.open(link)
	b.press("Sign in as linus@example.com")
	b.says("Welcome: here is your key")

	stranger := newTab(t, chromium(t))
	stranger.open(link)
	stranger.says("This link no longer works")
	b.back() // to the page with the button: pressing it again leads to the dashboard, not into an error
	b.open(link)
	b.says("This link no longer works")
	b.press("Go to the dashboard")
	b.says("Usage")
}

// Everything works without JavaScript.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	b := newTab(t, browser)
	b.withoutScripts()
	key := b.signUp(p.base, "margaret@example.com")
	if status, _, _ := call(t, p.base, key); status != http.StatusOK {
		t.Fatalf("the key: %d", status)
	}
	b.press("I have copied it")
	b.open(p.base + "/dashboard/keys")
	b.fill("#name", "second")
	b.press("Create a key")
	b.says("Your new key")
	b.open(p.base + "/dashboard/keys")
	b.fill("#name", "third")
	b.press("Create a key")
	b.says("Your plan allows no more live keys")
	var kept string
	b.do("read what was typed", chromedp.Value("#name", &kept, chromedp.ByQuery))
	if kept != "third" {
		t.Errorf("the form has forgotten what was typed: %q", kept)
	}
	b.press("Revoke second")
	b.press("Revoke the key")
	b.says("Keys that no longer work (1)")
	b.open(p.base + "/dashboard/plan")
	b.press("Upgrade to Pro")
	b.pay("ok")
	b.says("Welcome to Pro")
	b.open(p.base + "/dashboard/account")
	b.press("Sign out everywhere")
	b.askLink("margaret@example.com")
	b.followMail(p.base)
	b.says("10,000 requests")
	b.open(p.base + "/dashboard/account/close")
	b.choose("input[name=confirm]")
	b.press("Close my account")
	b.says("Your account is closed")
	if counts := subscriptionsOf(t, stripeOf(t, p)); counts["canceled"] != 1 || len(counts) != 1 {
		t.Errorf("subscriptions of a closed account: %v", counts)
	}
	// Signing up again on the same day brings along what was used.
	again := b.signUp(p.base, "Margaret@example.com")
	if status, _, left := call(t, p.base, again); status != http.StatusOK || left != "98" {
		t.Errorf("signed up again: %d, %s left", status, left)
	}
	storetest.Until(t, "the closed account's key to be dead", func() bool {
		status, _, _ := call(t, p.base, key)
		return status == http.StatusUnauthorized
	})
}
