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

const clockTolerance = 30 * time.Second

// Doctor checks everything that billing needs and says what is wrong. It changes nothing.
func (s *Service) Doctor(ctx context.Context) []Check {
	var list []Check
	add := func(name string, ok bool, found, remedy string) {
		if ok {
			remedy = ""
		}
		list = append(list, Check{name, ok, found, remedy})
	}
	add("mode", true, s.Mode(), "")
	account := &stripe.Account{}
	err := s.api.Accounts.B.Call(http.MethodGet, "/v1/account", s.api.Accounts.Key, &stripe.AccountParams{Params: params(ctx, "")}, account) // Get takes no context
	var header http.Header
	works := "works for a Stripe account that only an unrestricted key can name"
	refused, _ := errors.AsType[*stripe.Error](err)
	switch {
	case err == nil:
		header, works = account.LastResponse.Header, "works for Stripe account "+account.ID
	case refused != nil && refused.HTTPStatusCode == http.StatusForbidden: // the key is genuine, but restricted
		header = refused.LastResponse.Header
	default:
		add("secret key", false, explained("ask Stripe", err).Error(), "set stripe_secret_key to a key of this Stripe account, and make sure that this machine can reach "+cmp.Or(s.cfg.APIURL, configs.StripeURL))
		return list
	}
	add("secret key", true, works, "")
	found, ok := clock(header, s.now())
	add("clock", ok, found, "set this machine's clock (NTP): event signatures are only valid for 5 minutes")
	late := false // what a check finds wrong without time need not be wrong
	within := func(name string, ok bool, found, remedy string) {
		if late = late || (!ok && ctx.Err() != nil); !late {
			add(name, ok, found, remedy)
		}
	}
	for _, check := range []func(context.Context, adder){s.checkInbox, s.checkPrice, s.checkEndpoint, s.checkSecret, s.checkReach, s.checkPortal} {
		if late = late || ctx.Err() != nil; !late {
			check(ctx, within)
		}
	}
	if late {
		add("the rest", false, "not checked: Stripe responds too slowly", "try again")
	}
	return list
}

// again is the remedy for a check that could not be made.
func again(err error) string {
	if _, ok := errors.AsType[forbidden](err); ok {
		return "give the key the rights that docs/billing.md lists, in Stripe's dashboard under Developers, API keys"
	}
	return "try again"
}

type adder func(name string, ok bool, found, remedy string)

func (s *Service) checkSecret(_ context.Context, add adder) {
	add("webhook secret", len(s.cfg.WebhookSecrets) > 0, fmt.Sprintf("%d configured", len(s.cfg.WebhookSecrets)),
		"set stripe_webhook_secret to what `billing setup` printed, or to what the dashboard shows under Developers, Webhooks")
}

func (s *Service) checkPrice(ctx context.Context, add adder) {
	price, err := s.priceByLookupKey(ctx)
	if err != nil {
		add("price", false, err.Error(), again(err))
		return
	}
	if price == nil {
		add("price", false, "Stripe has no active price with the lookup key "+LookupKey, "run `lotteryadmin billing setup`")
		return
	}
	if why := unsellable(price); why != "" {
		add("price", false, price.ID+" cannot be sold: "+why, moveKey)
		return
	}
	product, err := s.api.Products.Get(price.Product.ID, &stripe.ProductParams{Params: params(ctx, "")})
	if err != nil {
		err = explained("look for the product", err)
		add("price", false, err.Error(), again(err))
		return
	}
	if !product.Active {
		add("price", false, fmt.Sprintf("%s is of the product %s, which is archived: Stripe does not sell it", price.ID, product.ID),
			"make the product active in Stripe's dashboard")
		return
	}
	found := fmt.Sprintf("%s, %s a month", price.ID, money(price.UnitAmount, price.Currency))
	if unusual(price.UnitAmount, string(price.Currency)) {
		found += fmt.Sprintf(" (billing setup would create %s)", money(models.ProMonthlyCents, models.ProCurrency))
	}
	current, err := s.currentPrice(ctx)
	if err != nil && models.ErrorCode(err) != models.CodeConflict { // which says that none is being sold
		add("price", false, err.Error(), again(err))
		return
	}
	add("price", err == nil && current.PriceID == price.ID, found, "this is not the price being sold: run `lotteryadmin billing setup`")
}

func (s *Service) checkEndpoint(ctx context.Context, add adder) {
	e, err := s.webhookEndpoint(ctx)
	switch {
	case err != nil:
		add("webhook endpoint", false, err.Error(), again(err))
	case e == nil:
		add("webhook endpoint", false, "Stripe has none for "+s.webhookURL(), "check public_url, then run `lotteryadmin billing setup`")
	case e.Status != "enabled" || !sends(e):
		add("webhook endpoint", false, e.ID+" is disabled, or does not receive all events", "run `lotteryadmin billing setup`")
	case e.APIVersion != APIVersion:
		add("webhook endpoint", false, fmt.Sprintf("%s sends events of API version %q", e.ID, e.APIVersion), "delete it in the dashboard, then run `lotteryadmin billing setup`")
	default:
		add("webhook endpoint", true, e.ID+" at "+e.URL, "")
	}
}

// asStripe sends requests as Stripe does: it treats a redirect as the final answer, and so as a failure.
// https://support.stripe.com/questions/webhooks-what-to-do-when-the-http-status-code-starts-with-a-three-(3xx)
var asStripe = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// checkReach posts an unsigned event to our own webhook URL, as Stripe would; the service must refuse it.
func (s *Service) checkReach(ctx context.Context, add adder) {
	const name = "reachability"
	remedy := "make sure that " + s.webhookURL() + " leads to this service, also from outside"
	if strings.HasPrefix(s.webhookURL(), "http://localhost") && s.cfg.APIURL == "" {
		add(name, false, s.webhookURL()+" cannot be reached by Stripe", "set public_url to the public address of this service")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.webhookURL(), strings.NewReader("{}"))
	if err != nil {
		add(name, false, err.Error(), remedy)
		return
	}
	res, err := asStripe.Do(r)
	if err != nil {
		add(name, false, withoutKey(err).Error(), remedy)
		return
	}
	defer res.Body.Close() //nolint:errcheck // its body is not read
	add(name, res.StatusCode == http.StatusBadRequest, fmt.Sprintf("an unsigned event gets %d (400 is right)", res.StatusCode), remedy)
}

func (s *Service) checkInbox(ctx context.Context, add adder) {
	q, err := s.store.InboxState(ctx)
	if err != nil {
		add("inbox", false, err.Error(), "make sure that the database responds")
		return
	}
	found := fmt.Sprintf("%s waiting, %d failed", models.Count(q.Waiting, "event"), q.Dead)
	late := q.Waiting > 0 && s.now().Sub(q.Oldest) > 10*time.Minute
	add("inbox", q.Dead == 0 && !late, found, "`lotteryadmin billing events --failed` lists them, `billing events retry ID` retries one; a server must be running to process them")
}

// clock compares now with the date of Stripe's response.
func clock(response http.Header, now time.Time) (found string, ok bool) {
	theirs, err := http.ParseTime(response.Get("Date"))
	if err != nil {
		return "Stripe's response has no date", true
	}
	off := now.Sub(theirs).Round(time.Second)
	return fmt.Sprintf("%s from Stripe's", off), off.Abs() < clockTolerance
}
