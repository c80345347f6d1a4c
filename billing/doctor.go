package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/configs"
	"lottery/models"
)

// Check is the result of one of the doctor's checks.
type Check struct {
	Name   string
	OK     bool
	Found  string // what was found
	Remedy string // what to do about it; "" if OK
}

// wrong returns the result of a check that found something wrong.
func wrong(found, remedy string) Check { return Check{Found: found, Remedy: remedy} }

// judged returns the result of a check that found something; if that is not ok, remedy is what to do.
func judged(ok bool, found, remedy string) Check {
	if ok {
		remedy = ""
	}
	return Check{OK: ok, Found: found, Remedy: remedy}
}

// unchecked returns the result of a check that could not be made.
func unchecked(err error) Check {
	if _, ok := errors.AsType[forbidden](err); ok {
		return wrong(err.Error(), "give the key the rights that docs/billing.md lists, in Stripe's dashboard under Developers, API keys")
	}
	return wrong(err.Error(), "try again")
}

// Doctor checks everything that billing needs and says what is wrong. It changes nothing.
func (s *Service) Doctor(ctx context.Context) []Check {
	list := []Check{{Name: "mode", OK: true, Found: s.Mode()}}
	add := func(name string, c Check) {
		c.Name = name
		list = append(list, c)
	}
	response, key := s.checkKey(ctx)
	if add("secret key", key); !key.OK {
		return list
	}
	add("clock", checkClock(response, s.now()))
	for _, check := range []struct {
		name string
		run  func(context.Context) Check
	}{
		{"inbox", s.checkInbox}, {"price", s.checkPrice}, {"webhook endpoint", s.checkEndpoint}, {"webhook secret", s.checkSecret},
		{"reachability", s.checkReach}, {"portal", s.checkPortal},
	} {
		var c Check
		if !expired(ctx) {
			c = check.run(ctx)
		}
		if !c.OK && expired(ctx) { // what a check finds wrong without time need not be wrong
			add("the rest", wrong("not checked: Stripe responds too slowly", "try again"))
			break
		}
		add(check.name, c)
	}
	return list
}

// expired reports whether the time for ctx is over. What waits on a network may be told so a moment before ctx itself is.
func expired(ctx context.Context) bool {
	end, ends := ctx.Deadline()
	return ctx.Err() != nil || ends && !time.Now().Before(end)
}

// checkKey asks Stripe whose key it is. It also returns the header of the response.
func (s *Service) checkKey(ctx context.Context) (http.Header, Check) {
	account := &stripe.Account{}
	err := s.api.Accounts.B.Call(http.MethodGet, "/v1/account", s.api.Accounts.Key, &stripe.AccountParams{Params: params(ctx, "")}, account) // Get takes no context
	refused, _ := errors.AsType[*stripe.Error](err)
	switch {
	case err == nil:
		return account.LastResponse.Header, Check{OK: true, Found: "works for Stripe account " + account.ID}
	case refused != nil && refused.HTTPStatusCode == http.StatusForbidden: // the key is genuine, but restricted
		return refused.LastResponse.Header, Check{OK: true, Found: "works for a Stripe account that only an unrestricted key can name"}
	default:
		return nil, wrong(explained("ask Stripe", err).Error(),
			"set stripe_secret_key to a key of this Stripe account, and make sure that this machine can reach "+cmp.Or(s.cfg.APIURL, configs.StripeURL))
	}
}

const clockTolerance = 30 * time.Second

// checkClock compares now with the date of Stripe's response.
func checkClock(response http.Header, now time.Time) Check {
	theirs, err := http.ParseTime(response.Get("Date"))
	if err != nil {
		return Check{OK: true, Found: "Stripe's response has no date"}
	}
	off := now.Sub(theirs).Round(time.Second)
	return judged(off.Abs() < clockTolerance, fmt.Sprintf("%s from Stripe's", off), "set this machine's clock (NTP): event signatures are only valid for 5 minutes")
}

func (s *Service) checkInbox(ctx context.Context) Check {
	q, err := s.store.InboxState(ctx)
	if err != nil {
		return wrong(err.Error(), "make sure that the database responds")
	}
	late := q.Waiting > 0 && s.now().Sub(q.Oldest) > 10*time.Minute
	return judged(q.Dead == 0 && !late, fmt.Sprintf("%s waiting, %d failed", models.Count(q.Waiting, "event"), q.Dead),
		"`lotteryadmin billing events --failed` lists them, `billing events retry ID` retries one; a server must be running to process them")
}

func (s *Service) checkPrice(ctx context.Context) Check {
	price, err := s.priceByLookupKey(ctx)
	if err != nil {
		return unchecked(err)
	}
	if price == nil {
		found := "Stripe has no active price with the lookup key " + LookupKey
		if sold := s.soldAnother(ctx); models.ErrorCode(sold) == models.CodeConflict {
			return wrong(found+"; the price sold so far, another than "+models.MoneyText(models.ProMonthlyCents, models.ProCurrency)+", has lost it or is archived", returnKey)
		}
		return wrong(found, "run `lotteryadmin billing setup`")
	}
	if why := unsellable(price); why != "" {
		return wrong(price.ID+" cannot be sold: "+why, moveKey)
	}
	product, err := s.api.Products.Get(price.Product.ID, &stripe.ProductParams{Params: params(ctx, "")})
	if err != nil {
		return unchecked(explained("look for the product", err))
	}
	if !product.Active {
		return wrong(fmt.Sprintf("%s is of the product %s, which is archived: Stripe does not sell it", price.ID, product.ID),
			"make the product active in Stripe's dashboard")
	}
	found := fmt.Sprintf("%s, %s a month", price.ID, money(price.UnitAmount, price.Currency))
	if unusual(price.UnitAmount, string(price.Currency)) {
		found += fmt.Sprintf(" (billing setup would create %s)", money(models.ProMonthlyCents, models.ProCurrency))
	}
	if !registered(price) {
		return wrong(found+", is not marked at Stripe: a restored database would not know it", "run `lotteryadmin billing setup`")
	}
	current, err := s.currentPrice(ctx)
	if err != nil && models.ErrorCode(err) != models.CodeConflict { // which says that none is being sold
		return unchecked(err)
	}
	return judged(err == nil && current.PriceID == price.ID, found, "this is not the price being sold: run `lotteryadmin billing setup`")
}

func (s *Service) checkEndpoint(ctx context.Context) Check {
	e, err := s.webhookEndpoint(ctx)
	switch {
	case err != nil:
		return unchecked(err)
	case e == nil:
		return wrong("Stripe has none for "+s.webhookURL(), "check public_url, then run `lotteryadmin billing setup`")
	case e.Status != "enabled" || !sends(e):
		return wrong(e.ID+" is disabled, or does not receive all events", "run `lotteryadmin billing setup`")
	case e.APIVersion != APIVersion:
		return wrong(fmt.Sprintf("%s sends events of API version %q", e.ID, e.APIVersion), "delete it in the dashboard, then run `lotteryadmin billing setup`")
	default:
		return Check{OK: true, Found: e.ID + " at " + e.URL}
	}
}

func (s *Service) checkSecret(context.Context) Check {
	return judged(len(s.cfg.WebhookSecrets) > 0, fmt.Sprintf("%d configured", len(s.cfg.WebhookSecrets)),
		"set stripe_webhook_secret to what `billing setup` printed, or to what the dashboard shows under Developers, Webhooks")
}

// asStripe sends requests as Stripe does: it treats a redirect as the final answer, and so as a failure.
// https://support.stripe.com/questions/webhooks-what-to-do-when-the-http-status-code-starts-with-a-three-(3xx)
var asStripe = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// checkReach posts an unsigned event to our own webhook URL, as Stripe would; the service must refuse it.
func (s *Service) checkReach(ctx context.Context) Check {
	remedy := "make sure that " + s.webhookURL() + " leads to this service, also from outside"
	if strings.HasPrefix(s.webhookURL(), "http://localhost") && s.cfg.APIURL == "" {
		return wrong(s.webhookURL()+" cannot be reached by Stripe", "set public_url to the public address of this service")
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.webhookURL(), strings.NewReader("{}"))
	if err != nil {
		return wrong(err.Error(), remedy)
	}
	res, err := asStripe.Do(r)
	if err != nil {
		return wrong(withoutKey(err).Error(), remedy)
	}
	defer res.Body.Close() //nolint:errcheck // its body is not read
	return judged(res.StatusCode == http.StatusBadRequest, fmt.Sprintf("an unsigned event gets %d (400 is right)", res.StatusCode), remedy)
}
