package billing_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// forbids answers requests for the paths as Stripe does if a restricted key lacks the right to them.
func forbids(paths ...string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		res, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(r.URL.Path, path) }) {
			_ = res.Body.Close()
			res.StatusCode = http.StatusForbidden
			const text = `{"error": {"type": "invalid_request_error", "message": "The provided key does not have the required permissions for this endpoint."}}`
			res.Body, res.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			res.Header.Del("Content-Length")
		}
		return res, err
	})
}

// No restricted key may ask which account it belongs to: that is no reason to stop there. For rights that it could have,
// the doctor says so.
func TestDoctorWithARestrictedKey(t *testing.T) {
	each(t, func(w *world) {
		wantOnlyWrong(w.t, w.via(forbids("/v1/account")))
		for path, wrong := range map[string]string{
			"/v1/prices": "price", "/v1/products": "price", "/v1/webhook_endpoints": "webhook endpoint", "/v1/billing_portal": "portal",
		} {
			node := w.via(forbids("/v1/account", path))
			wantOnlyWrong(w.t, node, wrong)
			list := node.Doctor(w.t.Context())
			i := slices.IndexFunc(list, func(c billing.Check) bool { return !c.OK })
			if got := list[i]; !strings.Contains(got.Remedy, "rights") || !strings.Contains(got.Found, "required permissions") {
				w.t.Errorf("%s: %+v", path, got)
			}
		}
	})
}

// A doctor whose time is over says that Stripe is slow, and blames nothing else for it.
func TestDoctorOfASlowStripe(t *testing.T) {
	each(t, func(w *world) {
		for _, fault := range []sandbox.APIFault{
			{Action: sandbox.Hang, Delay: 10 * time.Second}, {Action: sandbox.DelayReply, Delay: 300 * time.Millisecond},
		} {
			w.stripe.FaultAPI(fault)
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
			began := time.Now()
			list := w.billing.Doctor(ctx)
			cancel()
			w.stripe.ClearFaults()
			if took := time.Since(began); took > 8*time.Second {
				w.t.Errorf("%s: the doctor took %s", fault.Action, took)
			}
			if !slices.ContainsFunc(list, func(c billing.Check) bool { return !c.OK && strings.Contains(c.Found, "Stripe") }) {
				w.t.Errorf("%s: nothing is wrong: %+v", fault.Action, list)
			}
			for _, c := range list {
				if !c.OK && !strings.Contains(c.Found, "Stripe") {
					w.t.Errorf("%s: %s: %s", fault.Action, c.Name, c.Found)
				}
			}
		}
	})
}

// wantOnlyWrong checks that the doctor finds exactly these things wrong, and says what to do about them.
func wantOnlyWrong(t *testing.T, s *billing.Service, names ...string) {
	t.Helper()
	var wrong []string
	for _, c := range s.Doctor(t.Context()) {
		if c.OK != (c.Remedy == "") || c.Found == "" {
			t.Errorf("%+v", c)
		}
		if !c.OK {
			wrong = append(wrong, c.Name)
		}
	}
	if fmt.Sprint(wrong) != fmt.Sprint(names) {
		t.Errorf("wrong are %q, want %q", wrong, names)
	}
}

func TestDoctor(t *testing.T) {
	each(t, func(w *world) {
		wantOnlyWrong(w.t, w.billing)
		if n := len(w.billing.Doctor(w.t.Context())); n != 9 {
			w.t.Errorf("%d checks", n)
		}
	})
}

func TestDoctorNamesWhatIsBroken(t *testing.T) {
	each(t, func(w *world) {
		options := func() billing.Options {
			return billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now}
		}
		o := options()
		o.Stripe.SecretKey = "sk_test_another"
		wantOnlyWrong(w.t, billing.New(o), "secret key")
		o = options()
		o.Stripe.APIURL = "http://127.0.0.1:1"
		wantOnlyWrong(w.t, billing.New(o), "secret key")
		o = options()
		o.Stripe.WebhookSecrets = nil
		wantOnlyWrong(w.t, billing.New(o), "webhook secret")
		for _, off := range []time.Duration{-time.Minute, time.Minute} {
			o = options()
			o.Now = func() time.Time { return time.Now().Add(off) }
			wantOnlyWrong(w.t, billing.New(o), "clock")
		}
		o = options()
		o.PublicURL = "http://127.0.0.1:1"
		wantOnlyWrong(w.t, billing.New(o), "webhook endpoint", "reachability", "portal")

		w.ask(http.MethodPost, "/v1/webhook_endpoints/"+w.endpoint(), url.Values{"disabled": {"true"}}, &struct{}{})
		wantOnlyWrong(w.t, w.billing, "webhook endpoint")
		w.ask(http.MethodPost, "/v1/webhook_endpoints/"+w.endpoint(), url.Values{"enabled_events[]": {"invoice.paid"}}, &struct{}{})
		wantOnlyWrong(w.t, w.billing, "webhook endpoint")
		_, err := w.billing.Setup(w.t.Context())
		w.must(err)

		w.kill() // our webhook is away
		wantOnlyWrong(w.t, w.billing, "reachability")
		somebody := http.NotFoundHandler()
		w.handler.Store(&somebody)
		wantOnlyWrong(w.t, w.billing, "reachability")
		hook := w.billing.Webhook()
		w.handler.Store(&hook)

		if status := w.post(body("evt_late", "invoice.paid", `{"id":"in_1","object":"invoice"}`), time.Now(), w.secret); status != http.StatusOK {
			w.t.Fatalf("status %d", status)
		}
		wantOnlyWrong(w.t, w.billing) // it came just now
		w.must(w.store.SettleEvent(w.t.Context(), models.StripeEvent{ID: "evt_late"}, models.EventFailed, "a test", 0))
		wantOnlyWrong(w.t, w.billing, "inbox")
		_, err = w.store.RetryEvent(w.t.Context(), "evt_late")
		w.must(err)
		_, err = w.billing.Work(w.t.Context())
		w.must(err)
		wantOnlyWrong(w.t, w.billing)

		for _, gone := range []struct{ path, wrong string }{{"products/lottery_pro", "price"}, {"billing_portal/configurations/" + w.portal().ID, "portal"}} {
			w.ask(http.MethodPost, "/v1/"+gone.path, url.Values{"active": {"false"}}, &struct{}{})
			wantOnlyWrong(w.t, w.billing, gone.wrong)
			_, err = w.billing.Setup(w.t.Context())
			w.must(err)
			wantOnlyWrong(w.t, w.billing)
		}

		w.must(w.store.SetPrice(w.t.Context(), models.KnownPrice{PriceID: "price_x", ProductID: "lottery_pro", Plan: models.PlanPro, UnitAmount: 500, Currency: "usd"}))
		wantOnlyWrong(w.t, w.billing, "price")
		w.ask(http.MethodPost, "/v1/prices/"+w.price, url.Values{"active": {"false"}}, &struct{}{})
		wantOnlyWrong(w.t, w.billing, "price")
	})
}

// Stripe follows no redirects: a URL that redirects to ours receives no events.
func TestDoctorFollowsNoRedirect(t *testing.T) {
	each(t, func(w *world) {
		for _, status := range []int{http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			elsewhere := httptest.NewServer(http.RedirectHandler(w.hook.URL+billing.WebhookPath, status))
			s := billing.New(billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: elsewhere.URL, StripeNow: w.stripe.Now})
			wantOnlyWrong(w.t, s, "webhook endpoint", "reachability", "portal")
			for _, c := range s.Doctor(w.t.Context()) {
				if want := fmt.Sprintf("an unsigned event gets %d (400 is right)", status); c.Name == "reachability" && c.Found != want {
					w.t.Errorf("%q, want %q", c.Found, want)
				}
			}
			elsewhere.Close()
		}
	})
}

// An event that has waited for long means that no server is running.
func TestDoctorSeesEventsWait(t *testing.T) {
	each(t, func(w *world) {
		w.kill()
		w.offset.Store(-int64(11 * time.Minute))
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		if status := w.post(body("evt_late", "invoice.paid", `{"id":"in_1","object":"invoice"}`), time.Now(), w.secret); status != http.StatusOK {
			w.t.Fatalf("status %d", status)
		}
		wantOnlyWrong(w.t, w.billing, "inbox")
	})
}

// Before set-up nothing is sold, and the doctor says so.
func TestDoctorBeforeSetup(t *testing.T) {
	t.Parallel()
	stripe, api := sandboxtest.Start(t)
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{})
	s := billing.New(billing.Options{Store: st, Stripe: configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: api}, PublicURL: "http://127.0.0.1:1"})
	wantOnlyWrong(t, s, "price", "webhook endpoint", "webhook secret", "reachability", "portal")
	a := storetest.Account(t, st, "ada@example.com")
	if _, err := s.Checkout(t.Context(), a.ID); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "billing setup") {
		t.Errorf("%v", err)
	}
	if len(stripe.Customers()) != 0 {
		t.Error("a customer was made")
	}
}
