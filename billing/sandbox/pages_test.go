package sandbox_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/billing/sandbox"
)

// browser does not follow redirects, so that tests see them.
var browser = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// get returns a page's status and text, after checking that it says what it is and has no scripts.
func (b *bench) get(address string) (int, string) {
	b.t.Helper()
	resp, err := browser.Get(address)
	b.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	b.must(err)
	if !strings.Contains(string(text), "Sandbox: no real money, this is not Stripe.") || strings.Contains(string(text), "<script") {
		b.t.Errorf("%s: %s", address, text)
	}
	if resp.Header.Get("Content-Security-Policy") == "" {
		b.t.Errorf("%s: %v", address, resp.Header)
	}
	return resp.StatusCode, string(text)
}

// form posts a form and returns where it redirects.
func (b *bench) form(address string, pairs ...string) (status int, location string) {
	b.t.Helper()
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	resp, err := browser.PostForm(address, v)
	b.must(err)
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header.Get("Location")
}

func TestCheckoutPage(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	customer := b.customer()
	cs := b.checkout(customer)
	status, text := b.get(cs.URL)
	for _, want := range []string{"9.99 USD", "every month", "ann@example.com", "4242 4242 4242 4242", "4000 0000 0000 0002", "000123456789", `href="/_sandbox"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if status != 200 {
		t.Error(status)
	}
	if status, _ := b.form(cs.URL, "card", "declined"); status != http.StatusPaymentRequired {
		t.Errorf("declined: %d", status)
	}
	if status, _ := b.form(cs.URL, "card", "gold"); status != http.StatusPaymentRequired || len(b.Subscriptions("")) != 1 {
		t.Errorf("no such card: %d", status)
	}
	if status, to := b.form(b.URL+"/c/cancel/"+cs.ID, "x", "y"); status != 303 || to != "https://example.com/cancelled" {
		t.Error(status, to)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if status, to := b.form(cs.URL, "card", "ok"); status != 303 || to != "https://example.com/done?session="+cs.ID {
				t.Error(status, to)
			}
		})
	}
	all.Wait()
	if n := len(b.Invoices(customer)); n != 1 {
		t.Errorf("paid %d times", n)
	}
	if status, text := b.get(cs.URL); status != 200 || !strings.Contains(text, "cannot be paid twice") {
		t.Error(status, text)
	}
	late := b.checkout(customer)
	b.Advance(25 * time.Hour)
	if status, text := b.get(late.URL); status != http.StatusGone || !strings.Contains(text, "expired") {
		t.Error(status, text)
	}
	if status, _ := b.form(late.URL, "card", "ok"); status != http.StatusGone || len(b.Subscriptions("")) != 1 {
		t.Error(status)
	}
	if status, _ := b.get(b.URL + "/c/pay/cs_test_x"); status != 404 {
		t.Error(status)
	}
	if status, _ := b.form(b.URL+"/c/pay/cs_test_x", "card", "ok"); status != 404 {
		t.Error(status)
	}
}

// TestMarkup checks that text by strangers is not shown as markup.
func TestMarkup(t *testing.T) {
	t.Parallel()
	b := open(t)
	product := must(b.API.Products.New(&stripe.ProductParams{Name: new(`<script>alert("x")</script>`)}))(t).ID
	b.price = must(b.API.Prices.New(&stripe.PriceParams{
		Currency: new("usd"), UnitAmount: new(int64(1200)), Recurring: &stripe.PriceRecurringParams{Interval: new("month"), IntervalCount: new(int64(3))},
		Product: &product,
	}))(t).ID
	customer := must(b.API.Customers.New(&stripe.CustomerParams{Email: new(`"><b>@example.com`)}))(t).ID
	cs := b.checkout(customer)
	if _, text := b.get(cs.URL); strings.Contains(text, `"><b>`) || !strings.Contains(text, "&lt;script&gt;") || !strings.Contains(text, "every 3 months") {
		t.Error(text)
	}
	b.form(cs.URL, "card", "ok")
	for _, page := range []string{b.URL + "/_sandbox", b.portal(customer, b.configuration("immediately").ID).URL} {
		if _, text := b.get(page); strings.Contains(text, `"><b>`) || !strings.Contains(text, "&gt;&lt;b&gt;@example.com") {
			t.Errorf("%s: %s", page, text)
		}
	}
}

func TestPortalPage(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer, sub := b.pro(sandbox.CardOK)
	page := b.portal(customer, b.configuration("at_period_end").ID).URL
	status, text := b.get(page)
	for _, want := range []string{"Lottery", sub, "9.99 USD", "ending in 4242", "ann@example.com", "Cancel at the end of the period", "https://example.com/back", "-0001"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if status != 200 || strings.Contains(text, "Undo cancellation") {
		t.Error(status)
	}
	b.hush()
	b.press(page, "will end with the current period", "do", "cancel", "subscription", sub)
	if !b.Subscriptions(customer)[0].AtPeriodEnd {
		t.Error("not cancelled")
	}
	b.press(page, "will continue", "do", "undo", "subscription", sub)
	if b.Subscriptions(customer)[0].AtPeriodEnd {
		t.Error("not undone")
	}
	b.press(page, "address has been changed", "do", "email", "email", "new@example.com")
	b.press(page, "payment method has been changed", "do", "card", "card", "fails_later")
	b.quiesce()
	if want := []string{
		"customer.subscription.updated", "customer.subscription.updated", "customer.updated", "customer.updated", "customer.subscription.updated",
	}; !slices.Equal(b.hook.types(), want) {
		t.Error(b.hook.types())
	}
	if c := b.Customers()[0]; c.Email != "new@example.com" || c.Card != sandbox.CardFailsLater {
		t.Errorf("%+v", c)
	}
	b.Advance(32 * day)
	b.want(sub, "past_due")
	open := b.Invoices(customer)[1].ID
	page = b.portal(customer, b.configuration("immediately").ID).URL
	b.press(page, "declined", "do", "pay", "invoice", open)
	b.press(page, "payment method has been changed", "do", "card", "card", "ok")
	b.press(page, "being paid", "do", "pay", "invoice", open)
	b.want(sub, "active")
	b.press(page, "has been canceled", "do", "cancel", "subscription", sub)
	b.want(sub, "canceled")
	b.press(page, "not possible", "do", "undo", "subscription", sub)
	b.Advance(2 * time.Hour)
	if status, _ := b.get(page); status != http.StatusGone {
		t.Error(status)
	}
	if status, _ := b.get(b.URL + "/p/session/none"); status != 404 {
		t.Error(status)
	}
}

// press posts a form of the portal and reads the note on the page that follows.
func (b *bench) press(page, note string, pairs ...string) {
	b.t.Helper()
	status, to := b.form(page, pairs...)
	if status != 303 {
		b.t.Fatal(status, to)
	}
	if _, text := b.get(b.URL + to); !strings.Contains(text, note) {
		b.t.Errorf("no %q in %s", note, text)
	}
}

// TestPortalOfOthers shows that a portal reaches only its own customer's objects, and only what its configuration
// allows.
func TestPortalOfOthers(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	_, theirs := b.pro(sandbox.CardOK)
	mine, own := b.pro(sandbox.CardOK)
	page := b.portal(mine, b.configuration("immediately").ID).URL
	b.press(page, "not possible", "do", "cancel", "subscription", theirs)
	b.press(page, "not possible", "do", "pay", "invoice", b.Invoices("")[0].ID)
	b.press(page, "not possible", "do", "card", "card", "declined")
	bare := must(b.API.BillingPortalConfigurations.New(&stripe.BillingPortalConfigurationParams{
		BusinessProfile: &stripe.BillingPortalConfigurationBusinessProfileParams{Headline: new("x")},
		Features:        &stripe.BillingPortalConfigurationFeaturesParams{InvoiceHistory: &stripe.BillingPortalConfigurationFeaturesInvoiceHistoryParams{Enabled: new(false)}},
	}))(t)
	page = b.portal(mine, bare.ID).URL
	for _, do := range []string{"cancel", "card", "email"} {
		b.press(page, "not possible", "do", do, "subscription", own, "card", "ok", "email", "x@example.com")
	}
	b.want(theirs, "active")
	b.want(own, "active")
}

func TestTimeMachine(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	b.hook.set(func() { b.hook.status = 500 })
	_, sub := b.pro(sandbox.CardOK)
	b.quiesce()
	before := b.Now()
	for by, d := range map[string]time.Duration{"hour": time.Hour, "day": day} {
		b.form(b.URL+"/_sandbox/machine", "by", by)
		if got := b.Now().Sub(before); got != d {
			t.Errorf("%s: %s", by, got)
		}
		before = b.Now()
	}
	b.form(b.URL+"/_sandbox/machine", "by", "month")
	if got := b.Now(); !got.Equal(before.AddDate(0, 1, 0)) {
		t.Error(before, got)
	}
	b.quiesce()
	status, text := b.get(b.URL + "/_sandbox")
	for _, want := range []string{sub, "customer.subscription.updated", "pending (500)", "failed (500, ", "ann@example.com", "active"} {
		if !strings.Contains(text, want) {
			t.Errorf("%d: no %q in %s", status, want, text)
		}
	}
}

// TestStrangers shows that neither other machines nor other sites' pages can press the buttons.
func TestStrangers(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	for remote, want := range map[string]int{"192.0.2.1:99": 403, "[2001:db8::1]:99": 403, "127.0.0.1:99": 200, "[::1]:99": 200, "": 200, "junk": 403} {
		req := httptest.NewRequest(http.MethodGet, "/_sandbox/state", nil)
		req.RemoteAddr = remote
		w := httptest.NewRecorder()
		b.ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("%s: %d", remote, w.Code)
		}
	}
	cs := b.checkout(b.customer())
	for _, address := range []string{cs.URL, b.URL + "/_sandbox/machine", b.URL + "/_sandbox/advance"} {
		req, _ := http.NewRequest(http.MethodPost, address, strings.NewReader("card=ok"))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", "https://evil.example")
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		resp, err := browser.Do(req)
		b.must(err)
		resp.Body.Close()
		if resp.StatusCode != 403 {
			t.Errorf("%s: %d", address, resp.StatusCode)
		}
	}
	if len(b.Subscriptions("")) != 0 {
		t.Error("a stranger's page paid")
	}
	if _, text := b.get(b.URL + "/c/pay/" + url.PathEscape("<b>")); strings.Contains(text, "<b>") {
		t.Error(text)
	}
	if resp, err := browser.Get(b.URL + "/sandbox.css"); err != nil || resp.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Error(fmt.Sprint(resp), err)
	}
}
