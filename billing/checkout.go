package billing

import (
	"context"
	"errors"
	"regexp"
	"slices"
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

// sessionLeft is how much longer an open session must live to be given again.
const sessionLeft = 10 * time.Minute

// The paths of the web pages that Stripe sends people back to.
const (
	returnPath    = "/dashboard/billing/return"
	dashboardPath = "/dashboard"
)

// Checkout gives the account's open checkout session, or makes one. It refuses (CodeConflict) an account that has a
// subscription that goes on, or may: it is managed in the portal; and one whose plan the operator has set: it would pay
// for nothing.
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
	// The sessions before the subscriptions: one that is paid in between is among the open, or has its subscription.
	open, err := s.openSession(ctx, &b, price.PriceID)
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
		if known { // it may pay already, or have a checkout open: nothing was read of it yet
			return s.checkout(ctx, l, accountID)
		}
	}
	if open == nil {
		b.DropSession()
		if err := s.store.SaveBilling(ctx, l, b); err != nil { // what was open is closed, whether or not another one opens
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

// sellable refuses accounts that have nothing to gain by paying. open tells that a checkout is: what was only begun there is
// paid there.
func sellable(now *Standing, open bool) error {
	a := &now.Account
	plan, source := a.Plan()
	unfinished := now.Unfinished && (!open || !now.Begun)
	switch {
	case a.Status == models.AccountClosed:
		return models.Errorf(models.CodeConflict, "account %s is closed", a.ID)
	case a.Status == models.AccountSuspended:
		return models.Errorf(models.CodeConflict, "account %s is suspended, so nothing is sold to it", a.ID)
	case unfinished && now.Billing.Status != nil && *now.Billing.Status == models.SubscriptionIncomplete:
		return models.Errorf(models.CodeConflict, "a payment for account %s is being processed; wait for its result", a.ID)
	case unfinished:
		return models.Errorf(models.CodeConflict, "account %s already has a subscription; use the billing portal to manage it", a.ID)
	case source == models.SourceOperator: // it stands whatever is paid
		return models.Errorf(models.CodeConflict,
			"the operator has set the plan of account %s to %s, and paying would not change it; `lotteryadmin accounts set-plan %s billing` undoes that", a.ID, plan, a.ID)
	default:
		return nil
	}
}

// currentPrice is what checkout sells.
func (s *Service) currentPrice(ctx context.Context) (models.KnownPrice, error) {
	list, err := s.store.KnownPrices(ctx, s.cfg.Live())
	if err != nil {
		return models.KnownPrice{}, err
	}
	for _, p := range list {
		if p.Current && p.Plan == models.PlanPro {
			return p, nil
		}
	}
	return models.KnownPrice{}, models.Errorf(models.CodeConflict, "nothing is for sale yet: run `lotteryadmin billing setup`")
}

// openSession is the customer's open session, if it is to the price and lives long enough; every other one that is
// open is expired. Stripe is asked rather than our own note, which misses a session whose answer got lost.
func (s *Service) openSession(ctx context.Context, b *models.BillingAccount, priceID string) (keep *stripe.CheckoutSession, err error) {
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
	if err := iter.Err(); err != nil && !missing(err) { // a customer that is gone has none
		return nil, explained("read the open checkouts", err)
	}
	for _, id := range expire {
		if err := s.expire(ctx, id); err != nil {
			return nil, err
		}
	}
	return keep, nil
}

// forgetPaid forgets b's checkout if it is not open any more: its subscription stands for it, and nobody needs to close it.
// One that is open beside a subscription of another origin is closed: nothing is sold beside that, and whoever has the page
// open still would pay twice. If Stripe does not tell, the next sync asks again.
func (s *Service) forgetPaid(ctx context.Context, b *models.BillingAccount, subs []subscription) {
	if !b.Payable(s.stripeNow()) {
		return
	}
	c, err := s.api.CheckoutSessions.Get(*b.SessionID, &stripe.CheckoutSessionParams{Params: params(ctx, "")})
	open := err == nil && c.Status == stripe.CheckoutSessionStatusOpen
	if open && slices.ContainsFunc(subs, func(sub subscription) bool { // what the checkout itself began is sold, and not older
		one := []subscription{sub}
		return unfinished(one) && !begun(one) && (!sub.sold || sub.created < c.Created)
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

// expire closes a session, unless it is not open any more: it may be completed in this very moment. The key is another
// one each time: an answer that was an error would be given for a day.
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

// newSession opens a checkout. Its key is another one each time, for openSession finds one whose answer got lost: a key
// that a restored database makes again would be answered with a session that is not open any more.
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
	if e, ok := errors.AsType[*stripe.Error](err); ok && e.Type == stripe.ErrorTypeInvalidRequest && !missing(err) && e.Param == "line_items[0][price]" {
		s.log.WarnContext(ctx, "Stripe does not sell the price of Pro: `lotteryadmin billing doctor` has the details", "account", b.AccountID, "price", priceID, "error", e.Msg)
		return nil, models.Errorf(models.CodeConflict, "Stripe does not sell price %s: %s `lotteryadmin billing doctor` says what to do", priceID, e.Msg)
	}
	if err != nil {
		return nil, explained("open a checkout", err)
	}
	return c, nil
}

// Portal gives the address of Stripe's portal for the account: cards, invoices, cancelling.
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

// sessionForm is how a checkout session's id looks.
var sessionForm = regexp.MustCompile(`^cs_[0-9A-Za-z_]{1,200}$`)

// Arrival is how somebody comes back from checkout.
type Arrival string

// The ways to come back.
const (
	ArrivedPro     Arrival = "pro"     // paid: the plan is Pro
	ArrivedPending Arrival = "pending" // the payment, or Stripe's word on it, is still under way
	ArrivedOpen    Arrival = "open"    // nothing was paid yet
	ArrivedLate    Arrival = "late"    // the payment failed, or what was bought or offered is over: the plan page tells it
)

// Return is called when somebody comes back from checkout: it does not wait for a webhook. A session that is not this
// account's is CodeNotFound, whether or not it exists.
func (s *Service) Return(ctx context.Context, accountID, sessionID string) (Arrival, Standing, error) {
	unknown := models.Errorf(models.CodeNotFound, "this account has no such checkout")
	if !sessionForm.MatchString(sessionID) {
		return "", Standing{}, unknown
	}
	b, err := s.store.BillingAccount(ctx, accountID)
	if err != nil {
		return "", Standing{}, err
	}
	if b.CustomerID == nil { // it never went to checkout: Stripe need not be asked
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

// isPast tells whether somebody who comes back from a checkout comes too late for news of it: nobody paid while it was open,
// or the payment was refused, or what was bought has stopped since. One may look at that page again at any time.
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
