package configs

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
)

var stripeKey = regexp.MustCompile(`^[sr]k_(test|live)_[0-9A-Za-z_]+$`)

// webhookSecret matches a webhook secret. Two joined by a semicolon do not match: no event could be verified with that.
var webhookSecret = regexp.MustCompile(`^whsec_[^;[:cntrl:]]+$`)

// stripeOptions returns the options for selling the Pro plan.
func stripeOptions() []Option {
	return []Option{
		{Key: "stripe_secret_key", Default: "", Secret: true, Help: "sk_test_… or sk_live_…: sell the Pro plan through Stripe; empty = nothing is sold", set: func(c *Config, v string) error {
			if v != "" && !stripeKey.MatchString(v) {
				return errors.New("must be a Stripe secret key (sk_test_…, sk_live_…) or restricted key (rk_…), from the dashboard under Developers, API keys")
			}
			c.Stripe.SecretKey = v
			return nil
		}},
		{Key: "stripe_webhook_secret", Default: "", Secret: true, Help: "whsec_…: the secret that Stripe signs events with; several, comma-separated, while you change it", set: func(c *Config, v string) error {
			// The separators include line breaks: a file has one secret per line.
			for secret := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
				if !webhookSecret.MatchString(secret) {
					return errors.New("must be whsec_…, as `lotteryadmin billing setup` prints it, or several, separated by commas")
				}
				c.Stripe.WebhookSecrets = append(c.Stripe.WebhookSecrets, secret)
			}
			return nil
		}},
		{Key: "stripe_api_url", Default: "", Help: "another URL for Stripe's API, scheme and host; for tests", set: func(c *Config, v string) error {
			if v == "" {
				return nil
			}
			u, err := origin(v)
			if err != nil {
				return err
			}
			c.Stripe.APIURL = u.String()
			return nil
		}},
		{Key: "billing_grace", Default: "168h", Help: "how long an account stays on Pro while its payment is past due", set: func(c *Config, v string) (err error) {
			c.Stripe.Grace, err = duration(v)
			return err
		}},
	}
}
