package billing_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store/storetest"
)

// What set-up finds, mends and leaves alone, and what it tells the operator to do.

// What customers may do in the portal: they can cancel, and do not lose what they have paid for by that.
func TestPortalLetsCustomersManage(t *testing.T) {
	each(t, func(w *world) {
		c := w.portal()
		f := c.Features
		if !f.SubscriptionCancel.Enabled || f.SubscriptionCancel.Mode != "at_period_end" || f.SubscriptionCancel.ProrationBehavior != "none" {
			w.t.Errorf("cancelling: %+v", f.SubscriptionCancel)
		}
		if !f.PaymentMethodUpdate.Enabled || !f.InvoiceHistory.Enabled || f.SubscriptionUpdate.Enabled || f.SubscriptionPause.Enabled {
			w.t.Errorf("%+v %+v %+v %+v", f.PaymentMethodUpdate, f.InvoiceHistory, f.SubscriptionUpdate, f.SubscriptionPause)
		}
		var may []string
		for _, what := range f.CustomerUpdate.AllowedUpdates {
			may = append(may, string(what))
		}
		slices.Sort(may)
		if !f.CustomerUpdate.Enabled || !slices.Equal(may, []string{"address", "email", "name", "tax_id"}) {
			w.t.Errorf("%+v", f.CustomerUpdate)
		}
		if c.DefaultReturnURL != w.hook.URL+"/dashboard" {
			w.t.Errorf("it leads to %q", c.DefaultReturnURL)
		}
	})
}

// The pages promise that customers can cancel whenever they like and keep what they have paid for, change their card and
// see their invoices; and the portal leads back here. If it no longer does, doctor says so, and set-up mends it. What
// else it allows is the operator's choice.
func TestPortalThatKeepsCustomers(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		configuration := "/v1/billing_portal/configurations/" + w.portal().ID
		w.ask(http.MethodPost, configuration, url.Values{"features[customer_update][enabled]": {"false"}}, &struct{}{})
		wantOnlyWrong(w.t, w.billing)
		for set, found := range map[string]string{
			"features[subscription_cancel][enabled]=false":    "customers cannot cancel there",
			"features[subscription_cancel][mode]=immediately": "lose what they have paid for",
			"features[payment_method_update][enabled]=false":  "cannot change their card there",
			"features[invoice_history][enabled]=false":        "cannot see their invoices there",
			"default_return_url=https://old.example.com":      "leads to another address than ",
		} {
			key, value, _ := strings.Cut(set, "=")
			w.ask(http.MethodPost, configuration, url.Values{key: {value}}, &struct{}{})
			wantOnlyWrong(w.t, w.billing, "portal")
			for _, c := range w.billing.Doctor(ctx) {
				if c.Name == "portal" && !strings.Contains(c.Found, found) {
					w.t.Errorf("%s: %q", set, c.Found)
				}
			}
			done, err := w.billing.Setup(ctx)
			if err != nil || done.Steps[2].Did != "updated" {
				w.t.Errorf("%s: %v %+v", set, err, done.Steps)
			}
			wantOnlyWrong(w.t, w.billing)
		}
		if w.portal().Features.CustomerUpdate.Enabled {
			w.t.Error("the operator's own choice is undone")
		}
	})
}

// A restored database does not know the portal's configuration: set-up finds it again, and does not take somebody
// else's.
func TestSetupFindsThePortalAgain(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.pro()
		ours := w.portal().ID
		w.ask(http.MethodPost, "/v1/billing_portal/configurations", url.Values{
			"business_profile[headline]": {"Socks"}, "features[invoice_history][enabled]": {"true"}, "default_return_url": {"https://socks.example.com"},
		}, &struct{}{})
		w.must(w.store.SetBillingSetting(ctx, "test:portal_configuration", ""))
		done, err := w.billing.Setup(ctx)
		if err != nil || done.Steps[2] != (billing.SetupStep{Thing: "portal", ID: ours, Did: "found"}) {
			w.t.Errorf("%v %+v", err, done.Steps)
		}
		if noted, err := w.store.BillingSetting(ctx, "test:portal_configuration"); err != nil || noted != ours {
			w.t.Errorf("%q is written down, want %q: %v", noted, ours, err)
		}
		if _, err := w.billing.Portal(ctx, w.account.ID); err != nil {
			w.t.Error(err)
		}
	})
}

// A deactivated configuration opens no portal: set-up makes a new one.
func TestSetupReplacesThePortal(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.pro()
		off := w.portal().ID
		w.ask(http.MethodPost, "/v1/billing_portal/configurations/"+off, url.Values{"active": {"false"}}, &struct{}{})
		done, err := w.billing.Setup(ctx)
		if err != nil || done.Steps[2].Did != "made" || done.Steps[2].ID == off {
			w.t.Errorf("%v %+v", err, done.Steps)
		}
		if _, err := w.billing.Portal(ctx, w.account.ID); err != nil {
			w.t.Error(err)
		}
	})
}

// An endpoint that somebody disabled, or removed events from, gets all of them again.
func TestSetupMendsTheEndpoint(t *testing.T) {
	each(t, func(w *world) {
		id := w.endpoint()
		for _, form := range []url.Values{{"disabled": {"true"}}, {"enabled_events[]": {"invoice.paid"}}} {
			w.ask(http.MethodPost, "/v1/webhook_endpoints/"+id, form, &struct{}{})
			done, err := w.billing.Setup(w.t.Context())
			if err != nil || done.Steps[3] != (billing.SetupStep{Thing: "webhook", ID: id, Did: "updated"}) || done.WebhookSecret != "" {
				w.t.Errorf("%v: %v %+v", form, err, done)
			}
			var is struct {
				Status string
				Events []string `json:"enabled_events"`
			}
			w.ask(http.MethodGet, "/v1/webhook_endpoints/"+id, nil, &is)
			if is.Status != "enabled" || len(is.Events) != len(billing.Events()) {
				w.t.Errorf("%v: %+v", form, is)
			}
		}
	})
}

// The price of Pro is the one with its lookup key, whatever else the operator sells.
func TestSetupTakesThePriceByItsKey(t *testing.T) {
	each(t, func(w *world) {
		w.otherPrice("")
		w.otherPrice("lottery_pro")
		if sold := w.sold(); sold.PriceID != w.price || sold.UnitAmount != models.ProMonthlyCents {
			w.t.Errorf("%+v is sold, want %s", sold, w.price)
		}
	})
}

// Stripe shows the webhook's secret once, so it is not lost to a lock that cannot be released afterwards.
func TestSetupShowsTheSecretWhateverTheDatabaseDoes(t *testing.T) {
	each(t, func(w *world) {
		w.kill()
		stripe, err := sandbox.New(sandbox.Options{URL: w.api.URL}) // which has no endpoint yet
		w.must(err)
		defer func() { w.must(stripe.Close(context.Background())) }()
		node := w.via(roundTrip(func(r *http.Request) (*http.Response, error) {
			res, err := stripe.Transport().RoundTrip(r)
			if r.Method == http.MethodPost && r.URL.Path == "/v1/webhook_endpoints" {
				storetest.Exec(w.t, w.address, "ALTER TABLE leases RENAME TO gone")
			}
			return res, err
		}))
		if done, err := node.Setup(w.t.Context()); err != nil || done.WebhookSecret == "" {
			w.t.Errorf("the secret is %q: %v", done.WebhookSecret, err)
		}
	})
}

// sold returns the price of Pro.
func (w *world) sold() models.KnownPrice {
	w.t.Helper()
	done, err := w.billing.Setup(w.t.Context())
	w.must(err)
	return done.Price
}

// A new webhook secret is useless until the operator has added it to the settings, beside the one in use.
func TestSetupAdvisesWhatToDoWithTheSecret(t *testing.T) {
	each(t, func(w *world) {
		made := billing.SetupResult{WebhookSecret: "whsec_new", Price: w.sold()}
		found := billing.SetupResult{Price: w.sold()}
		for _, c := range []struct {
			result  billing.SetupResult
			secrets []string
			want    []string // parts of the advice; none = no advice
		}{
			{made, nil, []string{"set stripe_webhook_secret", "start the servers: whsec_new"}},
			{made, []string{"whsec_old"}, []string{"add the new webhook secret to stripe_webhook_secret", "after a comma", "restart the servers: whsec_new"}},
			{found, nil, []string{"set stripe_webhook_secret: Stripe shows it in the dashboard", w.hook.URL + billing.WebhookPath}},
			{found, []string{"whsec_old"}, nil},
		} {
			w.cfg.WebhookSecrets = c.secrets
			advice := w.service().SetupAdvice(&c.result)
			if len(advice) != min(1, len(c.want)) {
				w.t.Errorf("%v: %q", c.secrets, advice)
				continue
			}
			for _, text := range c.want {
				if !strings.Contains(advice[0], text) {
					w.t.Errorf("%v: %q does not say %q", c.secrets, advice[0], text)
				}
			}
		}
	})
}
