package billing

import (
	"context"
	"fmt"
	"slices"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
)

// What the product sells.
const (
	LookupKey   = "lottery_pro_monthly" // of the price
	productID   = "lottery_pro"
	productName = "Lottery Draws API Pro"

	// What Stripe shows about the product where it is bought. It does not say how many requests Pro has, only our own
	// pages do: an operator may change that any day, and Stripe's text would keep promising the old number.
	productText = "More requests a day, and priority support"
	// formerText is the description that earlier releases set, whatever the plan had.
	formerText = "10,000 requests a day and priority support"
)

// newKey returns an idempotency key for a request that is never repeated under the same key.
func newKey(what string) string { return what + "-" + secret.NewID("") }

// SetupStep is one thing that Setup made, found or updated.
type SetupStep struct {
	Thing string // product, price, webhook, portal
	ID    string
	Did   string // made, found, updated
}

// SetupResult is what Setup did.
type SetupResult struct {
	Steps []SetupStep
	// WebhookSecret is the secret that Stripe signs events with. Stripe shows it only when the endpoint is made; else
	// "".
	WebhookSecret string
	// Price is what is sold from now on.
	Price models.KnownPrice
}

// Setup creates at Stripe what selling needs, or finds it: the product, its price, the portal's configuration and the
// webhook endpoint. Running it again changes nothing, and of two that run at once, one waits. The endpoint comes last
// because Stripe shows its secret only once: no later step can fail and lose it.
func (s *Service) Setup(ctx context.Context) (SetupResult, error) {
	var out SetupResult
	err := s.alone(ctx, "billing setup", "the setup of billing", func(ctx context.Context, _ store.Lease) error {
		for _, step := range []func(context.Context, *SetupResult) (SetupStep, error){s.setupProduct, s.setupPrice, s.setupPortal, s.setupWebhook} {
			done, err := step(ctx, &out)
			if err != nil {
				return err
			}
			out.Steps = append(out.Steps, done)
		}
		return nil
	})
	if out.WebhookSecret != "" { // all steps are done; a lease that cannot be given back ends by itself
		err = nil
	}
	return out, err
}

func (s *Service) setupProduct(ctx context.Context, _ *SetupResult) (SetupStep, error) {
	found, err := s.api.Products.Get(productID, &stripe.ProductParams{Params: params(ctx, "")})
	switch {
	case err == nil && found.Active && found.Description != formerText:
		return SetupStep{"product", found.ID, "found"}, nil
	case err == nil:
		mend := &stripe.ProductParams{Params: params(ctx, newKey("product")), Active: new(true)}
		if found.Description == formerText { // any other text is the operator's own
			mend.Description = new(productText)
		}
		_, err = s.api.Products.Update(productID, mend)
		return SetupStep{"product", productID, "updated"}, explained("update the product", err)
	case !missing(err):
		return SetupStep{}, explained("look for the product", err)
	}
	made, err := s.api.Products.New(&stripe.ProductParams{
		Params: params(ctx, newKey("product")), ID: new(productID), Name: new(productName),
		Description: new(productText),
	})
	if err != nil {
		return SetupStep{}, explained("create the product", err)
	}
	return SetupStep{"product", made.ID, "made"}, nil
}

func (s *Service) webhookURL() string { return s.publicURL + WebhookPath }

func (s *Service) setupWebhook(ctx context.Context, out *SetupResult) (SetupStep, error) {
	found, err := s.webhookEndpoint(ctx)
	if err != nil {
		return SetupStep{}, err
	}
	wanted := stripe.StringSlice(Events())
	switch {
	case found == nil:
		made, err := s.api.WebhookEndpoints.New(&stripe.WebhookEndpointParams{
			Params: params(ctx, newKey("webhook")), URL: new(s.webhookURL()), EnabledEvents: wanted, APIVersion: new(APIVersion),
			Description: new("lottery draws API"),
		})
		if err != nil {
			return SetupStep{}, explained("create the webhook endpoint for "+s.webhookURL()+" (if the next try finds it, its secret is in Stripe's dashboard, under Developers, Webhooks)", err)
		}
		out.WebhookSecret = made.Secret
		return SetupStep{"webhook", made.ID, "made"}, nil
	case found.APIVersion != APIVersion:
		return SetupStep{}, models.Errorf(models.CodeConflict,
			"the webhook endpoint %s sends events of API version %q; delete it in Stripe's dashboard and run this again: a new one uses %s", found.ID, found.APIVersion, APIVersion)
	case sends(found) && found.Status == "enabled":
		return SetupStep{"webhook", found.ID, "found"}, nil
	}
	_, err = s.api.WebhookEndpoints.Update(found.ID, &stripe.WebhookEndpointParams{
		Params: params(ctx, newKey("webhook")), EnabledEvents: wanted, Disabled: new(false),
	})
	return SetupStep{"webhook", found.ID, "updated"}, explained("update the webhook endpoint", err)
}

// sends reports whether an endpoint receives all events that have an effect.
func sends(e *stripe.WebhookEndpoint) bool {
	if slices.Contains(e.EnabledEvents, "*") {
		return true
	}
	for _, kind := range Events() {
		if !slices.Contains(e.EnabledEvents, kind) {
			return false
		}
	}
	return true
}

// webhookEndpoint returns the endpoint with our URL, or nil.
func (s *Service) webhookEndpoint(ctx context.Context) (*stripe.WebhookEndpoint, error) {
	iter := s.api.WebhookEndpoints.List(&stripe.WebhookEndpointListParams{ListParams: listParams(ctx)})
	for iter.Next() {
		if e := iter.WebhookEndpoint(); e.URL == s.webhookURL() {
			return e, nil
		}
	}
	return nil, explained("look for the webhook endpoint", iter.Err())
}

// Mode returns test or live.
func (s *Service) Mode() string {
	if s.cfg.Live() {
		return "live"
	}
	return "test"
}

// SetupAdvice returns what the operator should do after Setup.
func (s *Service) SetupAdvice(r *SetupResult) []string {
	var list []string
	switch {
	case r.WebhookSecret != "" && len(s.cfg.WebhookSecrets) > 0:
		list = append(list, fmt.Sprintf("add the new webhook secret to stripe_webhook_secret (LOTTERY_STRIPE_WEBHOOK_SECRET), after a comma, and restart the servers: %s", r.WebhookSecret))
	case r.WebhookSecret != "":
		list = append(list, fmt.Sprintf("set stripe_webhook_secret (LOTTERY_STRIPE_WEBHOOK_SECRET) and start the servers: %s", r.WebhookSecret))
	case len(s.cfg.WebhookSecrets) == 0:
		list = append(list, "set stripe_webhook_secret: Stripe shows it in the dashboard, under Developers, Webhooks, "+s.webhookURL())
	}
	if p := &r.Price; unusual(p.UnitAmount, p.Currency) {
		list = append(list, fmt.Sprintf("check that %s a month is what you want to charge: billing setup would create a price of %s",
			models.MoneyText(p.UnitAmount, p.Currency), models.MoneyText(models.ProMonthlyCents, models.ProCurrency)))
	}
	return list
}
