package main

import (
	"log/slog"
	"net/http"
	"time"

	"lottery/billing"
	"lottery/configs"
	"lottery/models/store"
)

// newBilling returns billing as configured; nil if nothing is sold. configs.Load has made sure that there is a webhook
// secret, without which billing accepts no event. now is Stripe's clock; nil = this machine's. transport reaches
// Stripe; nil = the default.
func newBilling(cfg *configs.Config, st *store.Store, now func() time.Time, transport http.RoundTripper, log *slog.Logger) *billing.Service {
	if !cfg.Stripe.On() {
		return nil
	}
	return billing.New(billing.Options{
		Store: st, Stripe: cfg.Stripe, PublicURL: cfg.PublicURL.String(), StripeNow: now, Transport: transport, Log: log, Retries: 1,
	})
}

// withWebhook routes Stripe's events to billing and everything else to next.
func (n *node) withWebhook(next http.Handler) http.Handler {
	if n.billing == nil {
		return next
	}
	webhook := n.traffic.Wrap(n.log, func(*http.Request) string { return billing.WebhookPath }, n.billing.Webhook())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == billing.WebhookPath {
			webhook.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
