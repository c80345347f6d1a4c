package billing

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

// The paths of the web pages that Stripe sends people back to.
const (
	returnPath    = "/dashboard/billing/return"
	dashboardPath = "/dashboard"
)

// Checkout returns the account's open checkout session, or makes one. It refuses (CodeConflict) an account whose
// subscription continues, or may, since that is managed in the portal; one whose payment is being processed
// (ErrUnderWay); and one whose plan the operator has set, since it would pay for nothing.
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
	open, paid, err := s.reusableSession(ctx, &b, price.PriceID)
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
	if paid {
		return Session{}, underWay(accountID)
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

// ErrUnderWay is the cause for which nothing is sold while a payment is being processed.
var ErrUnderWay = errors.New("wait for its result")

func underWay(accountID string) error {
	return &models.Error{Code: models.CodeConflict, Message: fmt.Sprintf("a payment for account %s is being processed", accountID), Err: ErrUnderWay}
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
		return underWay(a.ID)
	case unfinished:
		return models.Errorf(models.CodeConflict, "account %s already has a subscription; use the billing portal to manage it", a.ID)
	case source == models.SourceOperator: // the grant stands whatever is paid
		return models.Errorf(models.CodeConflict,
			"the operator has set the plan of account %s to %s, and paying would not change it; `lotteryadmin accounts set-plan %s billing` undoes that", a.ID, plan, a.ID)
	default:
		return nil
	}
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
