package billing

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

// Session is an open checkout.
type Session struct {
	URL       string
	ID        string // cs_…
	ExpiresAt time.Time
}

// sessionLeft is how much longer an open session must live to be offered again.
const sessionLeft = 10 * time.Minute

// The paths of the web pages that Stripe sends people back to.
const (
	returnPath    = "/dashboard/billing/return"
	dashboardPath = "/dashboard"
)

// Checkout returns the account's open checkout session, or makes one. It refuses (CodeConflict) an account whose
// subscription continues, or may, since that is managed in the portal; and one whose plan the operator has set, since
// it would pay for nothing.
func (s *Service) Checkout(ctx context.Context, accountID string) (Session, error) {
	var out Session
	err := s.locked(ctx, accountID, func(ctx context.Context, l store.Lease) (err error) {
		out, err = s.checkout(ctx, l, accountID)
		return err
	})
	return out, err
}

func (s *Service) checkout(ctx context.Context, l store.Lease, accountID string) (Session, error) {
	price, err := s.currentPrice(ctx)
	if err != nil {
		return Session{}, err
	}
	b, err := s.store.BillingAccount(ctx, accountID)
	if err != nil {
		return Session{}, err
	}
	// Read the sessions before the subscriptions: one that is paid in between is then still among the open ones, or
	// already has its subscription.
	open, err := s.reusableSession(ctx, &b, price.PriceID)
	if err != nil {
		return Session{}, err
	}
	now, err := s.settled(ctx, l, accountID, Cause{Actor: "customer", Reason: "checkout"})
	if err != nil {
		return Session{}, err
	}
	if err := sellable(&now, open != nil); err != nil {
		return Session{}, err
	}
	if b = now.Billing; b.CustomerID == nil {
		id, known, err := s.newCustomer(ctx, &now.Account, b.Attempt)
		if err != nil {
			return Session{}, err
		}
		b.CustomerID, open = &id, nil
		if err := s.store.SaveBilling(ctx, l, b); err != nil {
			return Session{}, err
		}
		if known { // it may have a subscription or an open checkout, not read yet
			return s.checkout(ctx, l, accountID)
		}
	}
	if open == nil {
		b.DropSession()
		// Whatever was open is closed by now, whether or not another one opens.
		if err := s.store.SaveBilling(ctx, l, b); err != nil {
			return Session{}, err
		}
		if open, err = s.newSession(ctx, &b, price.PriceID); err != nil {
			return Session{}, err
		}
	}
	out := Session{URL: open.URL, ID: open.ID, ExpiresAt: time.Unix(open.ExpiresAt, 0).UTC()}
	b.SessionID, b.SessionURL, b.SessionExpiresAt = &out.ID, &out.URL, &out.ExpiresAt
	return out, s.store.SaveBilling(ctx, l, b)
}

// sellable returns an error for an account that would gain nothing by paying. open says that a checkout is open; a
// subscription that was only begun there can still be paid there.
func sellable(now *Standing, open bool) error {
	a := &now.Account
	plan, source := a.Plan()
	unfinished := now.Unfinished && (!open || !now.Begun)
	switch {
	case a.Status == models.AccountClosed:
		return models.Errorf(models.CodeConflict, "account %s is closed", a.ID)
	case a.Status == models.AccountSuspended:
		return models.Errorf(models.CodeConflict, "account %s is suspended, so nothing is sold to it", a.ID)
	case unfinished && equal(now.Billing.Status, models.SubscriptionIncomplete):
		return models.Errorf(models.CodeConflict, "a payment for account %s is being processed; wait for its result", a.ID)
	case unfinished:
		return models.Errorf(models.CodeConflict, "account %s already has a subscription; use the billing portal to manage it", a.ID)
	case source == models.SourceOperator: // the grant stands whatever is paid
		return models.Errorf(models.CodeConflict,
			"the operator has set the plan of account %s to %s, and paying would not change it; `lotteryadmin accounts set-plan %s billing` undoes that", a.ID, plan, a.ID)
	default:
		return nil
	}
}

// currentPrice returns the price that checkout sells.
func (s *Service) currentPrice(ctx context.Context) (models.KnownPrice, error) {
	list, err := s.store.KnownPrices(ctx, s.cfg.Live())
	if err != nil {
		return models.KnownPrice{}, err
	}
	if i := slices.IndexFunc(list, models.KnownPrice.Sold); i >= 0 {
		return list[i], nil
	}
	return models.KnownPrice{}, models.Errorf(models.CodeConflict, "nothing is for sale yet: run `lotteryadmin billing setup`")
}

// reusableSession returns the customer's open session if it sells the price and lives long enough; it expires every other
// open one. It asks Stripe instead of relying on our own record, which lacks a session whose response was lost.
func (s *Service) reusableSession(ctx context.Context, b *models.BillingAccount, priceID string) (keep *stripe.CheckoutSession, err error) {
	if b.CustomerID == nil {
		return nil, nil //nolint:nilnil // there is no customer, and so no session
	}
	p := &stripe.CheckoutSessionListParams{ListParams: listParams(ctx), Customer: b.CustomerID}
	p.AddExpand("data.line_items")
	var expire []string
	iter := s.api.CheckoutSessions.List(p)
	for iter.Next() {
		c := iter.CheckoutSession()
		if c.Status != stripe.CheckoutSessionStatusOpen {
			continue
		}
		lives := time.Unix(c.ExpiresAt, 0).Sub(s.stripeNow()) > sessionLeft
		if keep == nil && lives && c.ClientReferenceID == b.AccountID && sells(c, priceID) {
			keep = c
		} else {
			expire = append(expire, c.ID)
		}
	}
	if err := iter.Err(); err != nil && !missing(err) { // a customer that no longer exists has none
		return nil, explained("read the open checkouts", err)
	}
	for _, id := range expire {
		if err := s.expire(ctx, id); err != nil {
			return nil, err
		}
	}
	return keep, nil
}

// closeSessions closes all open sessions of the customer, but for one that is being paid at this very moment.
func (s *Service) closeSessions(ctx context.Context, b *models.BillingAccount) error {
	_, err := s.reusableSession(ctx, b, "") // none sells ""
	return err
}

// forgetPaid drops b's checkout if it is no longer open: its subscription now represents it, and nobody needs to close
// it. If it is still open beside a subscription that did not come from it, it is closed: whoever still has its page
// open would pay twice. If Stripe does not answer, the next sync asks again.
func (s *Service) forgetPaid(ctx context.Context, b *models.BillingAccount, subs []subscription) {
	if !b.Payable(s.stripeNow()) {
		return
	}
	c, err := s.api.CheckoutSessions.Get(*b.SessionID, &stripe.CheckoutSessionParams{Params: params(ctx, "")})
	open := err == nil && c.Status == stripe.CheckoutSessionStatusOpen
	// A subscription that the checkout itself began has sold set, and is not older than the checkout.
	if open && slices.ContainsFunc(subs, func(sub subscription) bool {
		return sub.goesOn() && !sub.begun() && (!sub.sold || sub.created < c.Created)
	}) {
		err, open = s.expire(ctx, c.ID), false
	}
	if err == nil && !open {
		b.DropSession()
	}
}

func sells(c *stripe.CheckoutSession, priceID string) bool {
	if c.LineItems == nil {
		return false
	}
	for _, item := range c.LineItems.Data {
		if item.Price != nil && item.Price.ID == priceID {
			return true
		}
	}
	return false
}

// expire closes a session. It is no error if the session is no longer open: it may have been completed just now. Every
// call uses a new idempotency key, because Stripe would repeat an error for a day.
func (s *Service) expire(ctx context.Context, sessionID string) error {
	_, err := s.api.CheckoutSessions.Expire(sessionID, &stripe.CheckoutSessionExpireParams{Params: params(ctx, newKey("expire"))})
	if e, ok := errors.AsType[*stripe.Error](err); ok && e.Type == stripe.ErrorTypeInvalidRequest {
		c, getErr := s.api.CheckoutSessions.Get(sessionID, &stripe.CheckoutSessionParams{Params: params(ctx, "")})
		if getErr != nil {
			return explained("read the open checkout", getErr)
		}
		if c.Status != stripe.CheckoutSessionStatusOpen {
			return nil
		}
	}
	return explained("close the open checkout", err)
}

// newSession opens a checkout. Every call uses a new idempotency key, since reusableSession finds one whose response was
// lost. A restored database could make an old key again, and Stripe would repeat a session that is no longer open.
func (s *Service) newSession(ctx context.Context, b *models.BillingAccount, priceID string) (*stripe.CheckoutSession, error) {
	c, err := s.api.CheckoutSessions.New(&stripe.CheckoutSessionParams{
		Params:            params(ctx, newKey("checkout")),
		Mode:              stripe.String(string(stripe.CheckoutSessionModeSubscription)),
		Customer:          b.CustomerID,
		ClientReferenceID: new(b.AccountID),
		LineItems:         []*stripe.CheckoutSessionLineItemParams{{Price: new(priceID), Quantity: stripe.Int64(1)}},
		SuccessURL:        new(s.publicURL + returnPath + "?session_id={CHECKOUT_SESSION_ID}"),
		CancelURL:         new(s.publicURL + dashboardPath),
		Metadata:          map[string]string{accountKey: b.AccountID},
		SubscriptionData:  &stripe.CheckoutSessionSubscriptionDataParams{Metadata: map[string]string{accountKey: b.AccountID}},
	})
	// The price or its product is archived, or the customer pays for something else in another currency. A URL of
	// ours that Stripe does not take is a fault of this installation.
	if e, ok := errors.AsType[*stripe.Error](err); ok && e.HTTPStatusCode == http.StatusBadRequest && !missing(err) && !strings.HasSuffix(e.Param, "_url") {
		s.log.WarnContext(ctx, "Stripe refuses a checkout for Pro: `lotteryadmin billing doctor` may have the details", "account", b.AccountID, "price", priceID, "error", e.Msg)
		return nil, models.Errorf(models.CodeConflict, "Stripe refuses a checkout for price %s: %s `lotteryadmin billing doctor` may say what to do", priceID, e.Msg)
	}
	if err != nil {
		return nil, explained("open a checkout", err)
	}
	return c, nil
}

// Portal returns the URL of Stripe's portal for the account, where it manages cards, invoices and cancelling.
func (s *Service) Portal(ctx context.Context, accountID string) (url string, err error) {
	b, err := s.store.BillingAccount(ctx, accountID)
	if err != nil {
		return "", err
	}
	if b.CustomerID == nil {
		return "", models.Errorf(models.CodeConflict, "account %s has never paid: there is nothing to manage", accountID)
	}
	p := &stripe.BillingPortalSessionParams{
		Params: params(ctx, newKey("portal")), Customer: b.CustomerID, ReturnURL: new(s.publicURL + dashboardPath + "?from=portal"),
	}
	configuration, err := s.store.BillingSetting(ctx, s.portalSetting())
	if err != nil {
		return "", err
	}
	if configuration != "" {
		p.Configuration = new(configuration)
	}
	session, err := s.api.BillingPortalSessions.New(p)
	if missing(err) {
		now, err := s.Sync(ctx, accountID, Cause{Actor: "customer", Reason: "the portal does not know the customer"})
		if err == nil && now.Billing.CustomerID == nil {
			err = models.Errorf(models.CodeConflict, "account %s no longer has a customer at Stripe: there is nothing to manage", accountID)
		}
		if err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", explained("open the billing portal", err)
	}
	return session.URL, nil
}

// sessionForm matches a checkout session's id.
var sessionForm = regexp.MustCompile(`^cs_[0-9A-Za-z_]{1,200}$`)

// Arrival is the state in which somebody comes back from checkout.
type Arrival string

// The states in which somebody comes back.
const (
	ArrivedPro     Arrival = "pro"     // paid: the plan is Pro
	ArrivedPending Arrival = "pending" // paid or being paid, but not confirmed yet
	ArrivedOpen    Arrival = "open"    // nothing has been paid yet
	ArrivedLate    Arrival = "late"    // the payment failed, or the offer or plan is over: see the plan page
)

// Return is called when somebody comes back from checkout; it does not wait for a webhook. If the session is not this
// account's, the error is CodeNotFound, whether or not the session exists.
func (s *Service) Return(ctx context.Context, accountID, sessionID string) (Arrival, Standing, error) {
	unknown := models.Errorf(models.CodeNotFound, "this account has no such checkout")
	if !sessionForm.MatchString(sessionID) {
		return "", Standing{}, unknown
	}
	b, err := s.store.BillingAccount(ctx, accountID)
	if err != nil {
		return "", Standing{}, err
	}
	if b.CustomerID == nil { // it never went to checkout: no need to ask Stripe
		return "", Standing{}, unknown
	}
	p := &stripe.CheckoutSessionParams{Params: params(ctx, "")}
	p.AddExpand("subscription")
	c, err := s.api.CheckoutSessions.Get(sessionID, p)
	if missing(err) {
		return "", Standing{}, unknown
	}
	if err != nil {
		return "", Standing{}, explained("read the checkout", err)
	}
	if c.ClientReferenceID != accountID || c.Customer == nil || c.Customer.ID != *b.CustomerID {
		return "", Standing{}, unknown
	}
	now, err := s.Sync(ctx, accountID, Cause{Actor: "customer", Reason: "came back from checkout " + sessionID})
	if err != nil {
		return "", Standing{}, err
	}
	switch {
	case isPast(c):
		return ArrivedLate, now, nil
	case now.Account.BilledPlan != nil && *now.Account.BilledPlan == models.PlanPro:
		return ArrivedPro, now, nil
	case c.Status == stripe.CheckoutSessionStatusComplete:
		return ArrivedPending, now, nil
	default:
		return ArrivedOpen, now, nil
	}
}

// isPast reports whether the checkout is old news: it expired unpaid, its payment was refused, or the subscription has
// stopped since. The return page can be opened again at any time.
func isPast(c *stripe.CheckoutSession) bool {
	if c.Status == stripe.CheckoutSessionStatusExpired {
		return true
	}
	if c.Subscription == nil {
		return false
	}
	switch c.Subscription.Status {
	case stripe.SubscriptionStatusPastDue, stripe.SubscriptionStatusUnpaid, stripe.SubscriptionStatusPaused,
		stripe.SubscriptionStatusCanceled, stripe.SubscriptionStatusIncompleteExpired:
		return true
	default:
		return false
	}
}
