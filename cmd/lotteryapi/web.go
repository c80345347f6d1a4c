package main

import (
	"fmt"
	"net/http"
	"strings"

	"lottery/configs"
	"lottery/models"
	"lottery/web"
	"lottery/web/mail"
)

// withPages routes the API's paths to next and all others to the pages.
func (n *node) withPages(next http.Handler) (http.Handler, error) {
	deps := web.Deps{
		Catalog: &n.live, Store: n.store, Plans: n.cfg.Plans, Quota: n.quota, Counters: n.counters, Usage: n.usage, Billing: n.billing,
		Mailbox: n.mailbox, Support: n.cfg.Web.SupportEmail, Terms: n.cfg.Web.Terms, Privacy: n.cfg.Web.Privacy,
		PublicURL: n.cfg.PublicURL.String(), Trusted: n.cfg.TrustedProxies, Build: models.BuildVersion(), Log: n.log,
	}
	if n.cfg.Stripe.APIURL != "" && n.cfg.Stripe.APIURL != configs.StripeURL {
		deps.PayPages = []string{n.cfg.Stripe.APIURL}
	}
	if n.mailbox != nil {
		deps.Mail, deps.Demo = n.mailbox, &web.Demo{StripeURL: n.cfg.Stripe.APIURL}
		deps.Limits = web.Limits{PerAddress: 100, PerClient: 1000}
	}
	if n.cfg.Web.SMTPURL != "" {
		sender, err := mail.NewSMTP(n.cfg.Web.SMTPURL, n.cfg.Web.MailFrom)
		if err != nil {
			return nil, models.Errorf(models.CodeInvalid, "smtp_url: %v", err)
		}
		deps.Mail = sender
	}
	if deps.Mail != nil {
		if n.warn != nil {
			n.warn.Mailed = true
		}
		n.outbox = &web.Outbox{
			Store: n.store, Mail: deps.Mail, Plans: n.cfg.Plans, PublicURL: deps.PublicURL, Support: deps.Support, Sold: deps.Billing != nil, Log: n.log,
		}
	} else {
		n.log.Info("no email is sent, and sign-up on the pages is off (set smtp_url to turn it on)")
	}
	pages, err := web.New(deps)
	if err != nil {
		return nil, fmt.Errorf("make the pages: %w", err)
	}
	pages = n.traffic.Wrap(n.log, pageRoute, pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	}), nil
}

// isAPI reports whether a path is the API's: its errors are problem+json, and it is called from any origin. Paths of it
// in capitals or with an extra slash count too: nothing is there, and a program is told so in the format that it reads.
func isAPI(path string) bool {
	if strings.HasPrefix(path, "/v1/") { // nearly all requests
		return true
	}
	first, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	switch strings.ToLower(first) {
	case "v1", "webhooks", "healthz", "readyz", "openapi.json", "openapi.yaml":
		return true
	default:
		return false
	}
}

func isPage(path string) bool { return !isAPI(path) }
