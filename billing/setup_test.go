package billing_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v76"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

// Running set-up again finds what is there: it sends nothing that changes anything.
func TestSetupTwice(t *testing.T) {
	each(t, func(w *world) {
		before := len(w.stripe.Calls())
		done, err := w.billing.Setup(w.t.Context())
		w.must(err)
		for _, c := range w.stripe.Calls()[before:] {
			if c.Method != http.MethodGet {
				w.t.Errorf("%s %s %s", c.Method, c.Path, c.Body)
			}
		}
		for _, step := range done.Steps {
			if step.Did != "found" {
				w.t.Errorf("%+v", step)
			}
		}
		if done.WebhookSecret != "" || len(w.billing.SetupAdvice(&done)) != 0 {
			w.t.Errorf("%+v %q", done, w.billing.SetupAdvice(&done))
		}
	})
}

// Several nodes that are deployed at once set billing up: Stripe has one of everything, and one of them gets the secret.
func TestSetupsAtOnce(t *testing.T) {
	each(t, func(w *world) {
		w.kill()
		stripe, err := sandbox.New(sandbox.Options{URL: w.api.URL})
		w.must(err)
		defer func() { w.must(stripe.Close(context.Background())) }()
		const nodes = 4
		secrets := make(chan string, nodes)
		for range nodes {
			node := billing.New(billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, Transport: stripe.Transport()})
			go func() {
				done, err := node.Setup(context.WithoutCancel(w.t.Context()))
				if err != nil {
					w.t.Error(err)
				}
				secrets <- done.WebhookSecret
			}()
		}
		shown := 0
		for range nodes {
			if <-secrets != "" {
				shown++
			}
		}
		made := map[string]int{}
		for _, c := range stripe.Calls() {
			if c.Method == http.MethodPost {
				made[c.Path]++
			}
		}
		if shown != 1 || made["/v1/products"] != 1 || made["/v1/prices"] != 1 || made["/v1/webhook_endpoints"] != 1 {
			w.t.Errorf("%d secrets, %v", shown, made)
		}
	})
}

// The product's text promises no number of requests, since the plan's may change. The number that it used to promise is
// removed, and an operator's own text is left alone.
func TestSetupOfTheProductsText(t *testing.T) {
	each(t, func(w *world) {
		text := func() string {
			var product struct {
				Description string
				Active      bool
			}
			if w.ask(http.MethodGet, "/v1/products/lottery_pro", nil, &product); !product.Active {
				w.t.Error("the product cannot be sold")
			}
			return product.Description
		}
		made := text()
		if made == "" || strings.ContainsAny(made, "0123456789") {
			w.t.Errorf("made with %q", made)
		}
		for was, want := range map[string]string{"10,000 requests a day and priority support": made, "500 requests a day": "500 requests a day"} {
			for _, active := range []string{"true", "false"} {
				w.ask(http.MethodPost, "/v1/products/lottery_pro", url.Values{"description": {was}, "active": {active}}, &struct{}{})
				_, err := w.billing.Setup(w.t.Context())
				w.must(err)
				if got := text(); got != want {
					w.t.Errorf("%q became %q, want %q", was, got, want)
				}
			}
		}
	})
}

// Set-up mends what somebody changed in the dashboard, and leaves alone what it did not make.
func TestSetupMends(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.ask(http.MethodPost, "/v1/products/lottery_pro", url.Values{"active": {"false"}}, &struct{}{})
		w.ask(http.MethodPost, "/v1/webhook_endpoints/"+w.endpoint(), url.Values{"disabled": {"true"}, "enabled_events[]": {"invoice.paid"}}, &struct{}{})
		w.ask(http.MethodPost, "/v1/prices/"+w.price, url.Values{"active": {"false"}}, &struct{}{})
		old := w.price
		done, err := w.billing.Setup(ctx)
		w.must(err)
		for _, step := range done.Steps {
			if step.Thing == "price" && (step.Did != "made" || step.ID == old) || step.Thing == "webhook" && step.Did != "updated" {
				w.t.Errorf("%+v", step)
			}
		}
		if done, err = w.billing.Setup(ctx); err != nil || done.Steps[1].Did != "found" {
			w.t.Errorf("%v %+v", err, done)
		}
		for _, c := range w.billing.Doctor(ctx) {
			if !c.OK {
				w.t.Errorf("%+v", c)
			}
		}
		w.checkout()
		_, err = w.stripe.NewSubscription(w.customer(), old, "active", nil) // a customer on the old price keeps Pro
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

// An endpoint with another API version is left alone: Stripe cannot change the version, and others may use it.
func TestSetupEndpointOfAnotherVersion(t *testing.T) {
	each(t, func(w *world) {
		elsewhere := billing.New(billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: "https://lottery.example"})
		w.ask(http.MethodPost, "/v1/webhook_endpoints",
			url.Values{"url": {"https://lottery.example" + billing.WebhookPath}, "enabled_events[]": {"*"}, "api_version": {sandbox.NewVersion}}, &struct{}{})
		_, err := elsewhere.Setup(w.t.Context())
		w.refused(err)
		if err != nil && !strings.Contains(err.Error(), "delete it") {
			w.t.Errorf("%v", err)
		}
		wantOnlyWrong(w.t, elsewhere, "webhook endpoint", "reachability") // nothing listens there
	})
}

// portal returns the only configuration.
func (w *world) portal() (c stripe.BillingPortalConfiguration) {
	w.t.Helper()
	var list struct {
		Data []stripe.BillingPortalConfiguration
	}
	w.ask(http.MethodGet, "/v1/billing_portal/configurations", nil, &list)
	if len(list.Data) != 1 {
		w.t.Fatalf("%d configurations", len(list.Data))
	}
	return list.Data[0]
}

// The service moved to another URL: the portal now leads there, and keeps its other settings.
func TestSetupAfterAMove(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.ask(http.MethodPost, "/v1/billing_portal/configurations/"+w.portal().ID, url.Values{"features[customer_update][enabled]": {"false"}}, &struct{}{})
		moved := billing.New(billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: "https://new.example.com", StripeNow: w.stripe.Now})
		for _, want := range []string{"updated", "found"} {
			done, err := moved.Setup(ctx)
			w.must(err)
			if step := done.Steps[2]; step.Thing != "portal" || step.Did != want || step.ID != w.portal().ID {
				w.t.Errorf("%+v, want it %s", step, want)
			}
		}
		c := w.portal()
		if c.DefaultReturnURL != "https://new.example.com/dashboard" || c.BusinessProfile.PrivacyPolicyURL != "https://new.example.com/privacy" ||
			c.BusinessProfile.TermsOfServiceURL != "https://new.example.com/terms" || c.Features.CustomerUpdate.Enabled {
			w.t.Errorf("%+v %+v", c, c.BusinessProfile)
		}
	})
}

// Stripe shows the endpoint's secret once. Whatever fails, the operator gets it: from the next attempt, or from the
// dashboard if the response with it was lost.
func TestSetupTellsTheSecret(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		for _, path := range []string{"/v1/products/*", "/v1/prices", "/v1/billing_portal/configurations", "/v1/webhook_endpoints"} {
			w.ask(http.MethodDelete, "/v1/webhook_endpoints/"+w.endpoint(), nil, &struct{}{})
			w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: path, Times: 1})
			if done, err := w.billing.Setup(ctx); err == nil || done.WebhookSecret != "" {
				w.t.Errorf("%s: %v %+v", path, err, done)
			}
			if done, err := w.billing.Setup(ctx); err != nil || done.WebhookSecret == "" {
				w.t.Errorf("%s, again: %v %+v", path, err, done)
			}
		}
		w.ask(http.MethodDelete, "/v1/webhook_endpoints/"+w.endpoint(), nil, &struct{}{})
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.LoseReply, Method: http.MethodPost, Path: "/v1/webhook_endpoints", Times: 1})
		if _, err := w.billing.Setup(ctx); err == nil || !strings.Contains(err.Error(), "its secret is in Stripe's dashboard") {
			w.t.Errorf("%v", err)
		}
	})
}

// keyed makes a price in the dashboard and moves the lookup key to it.
func (w *world) keyed(form url.Values) (id string) {
	w.t.Helper()
	form.Set("product", "lottery_pro")
	form.Set("lookup_key", billing.LookupKey)
	form.Set("transfer_lookup_key", "true")
	var made struct{ ID string }
	w.ask(http.MethodPost, "/v1/prices", form, &made)
	return made.ID
}

// If the lookup key is moved to a price that cannot be sold monthly, the previous price stays on sale.
func TestPricesThatCannotBeSold(t *testing.T) {
	each(t, func(w *world) {
		for why, form := range map[string]url.Values{
			"it is one-time":  {"unit_amount": {"999"}, "currency": {"usd"}},
			"every 1 year":    {"unit_amount": {"999"}, "currency": {"usd"}, "recurring[interval]": {"year"}},
			"every 3 month":   {"unit_amount": {"999"}, "currency": {"usd"}, "recurring[interval]": {"month"}, "recurring[interval_count]": {"3"}},
			"no fixed amount": {"unit_amount": {"0"}, "currency": {"usd"}, "recurring[interval]": {"month"}},
		} {
			w.keyed(form)
			_, err := w.billing.Setup(w.t.Context())
			w.refused(err)
			if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "move the lookup key") {
				w.t.Errorf("%s: %v", why, err)
			}
			wantOnlyWrong(w.t, w.billing, "price")
			w.account = w.newAccount()
			w.pro()
		}
	})
}

// A usage-based price, or one in the other mode, is not sold, whatever its amount: the previous price stays on sale.
func TestPricesThatAreNotSold(t *testing.T) {
	each(t, func(w *world) {
		for why, change := range map[string][2]string{
			"usage-based": {`"usage_type": "licensed"`, `"usage_type": "metered"`}, "not in the same mode": {`"livemode": false`, `"livemode": true`},
		} {
			w.keyed(url.Values{"unit_amount": {"1"}, "currency": {"usd"}, "recurring[interval]": {"month"}})
			_, err := w.via(rewritten("/v1/prices", func(text string) string {
				return strings.ReplaceAll(text, change[0], change[1])
			})).Setup(w.t.Context())
			w.refused(err)
			if err == nil || !strings.Contains(err.Error(), why) {
				w.t.Errorf("%s: %v", why, err)
			}
			w.account = w.newAccount()
			if w.pro(); *w.written().PriceID != w.price {
				w.t.Errorf("%s: %s is sold", why, *w.written().PriceID)
			}
		}
	})
}

// Operators may charge what they want for Pro; that it is not the usual price is pointed out.
func TestAnotherAmountIsSoldAndTold(t *testing.T) {
	each(t, func(w *world) {
		id := w.keyed(url.Values{"unit_amount": {"1"}, "currency": {"eur"}, "recurring[interval]": {"month"}})
		done, err := w.billing.Setup(w.t.Context())
		w.must(err)
		if advice := w.billing.SetupAdvice(&done); len(advice) != 1 || !strings.Contains(advice[0], "0.01 EUR") || !strings.Contains(advice[0], "9.99 USD") {
			w.t.Errorf("%q", advice)
		}
		wantOnlyWrong(w.t, w.billing)
		for _, c := range w.billing.Doctor(w.t.Context()) {
			if want := id + ", 0.01 EUR a month (billing setup would create 9.99 USD)"; c.Name == "price" && c.Found != want {
				w.t.Errorf("%q, want %q", c.Found, want)
			}
		}
		w.pro()
	})
}
