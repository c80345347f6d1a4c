package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

// errNotYet says that Stripe has not made yet what an event tells of.
var errNotYet = errors.New("no subscription is shown for this checkout yet")

// follow does what follows from an event: its customer's account is looked at afresh. What the event itself says of
// the customer is not believed: it may be late, or in a shape of another API version.
func (s *Service) follow(ctx context.Context, e *models.StripeEvent) (outcome string, err error) {
	ctx, cancel := context.WithTimeout(ctx, eventFor)
	defer cancel()
	money, err := s.moneyBack(ctx, e)
	if err != nil {
		return "", err
	}
	if money != nil && money.customer != "" {
		e.CustomerID = money.customer
	}
	if e.CustomerID == "" {
		return "the event names no customer", nil
	}
	accountID, outcome, err := s.whose(ctx, e)
	if err == nil && accountID == "" && money != nil {
		accountID, outcome, err = s.paidFor(ctx, money, outcome)
	}
	if err != nil || accountID == "" {
		return outcome, err
	}
	e.AccountID = accountID
	if err := s.name(ctx, e); err != nil {
		return "", err
	}
	if money != nil {
		if err := s.store.RaiseFlag(ctx, flag(accountID, money.kind, money.ref, money.detail)); err != nil {
			return "", err
		}
	}
	if outcome != "" { // not of the account's own customer: no plan follows from it
		return outcome, nil
	}
	why := Cause{Actor: "stripe", Reason: e.Type, EventID: e.ID}
	now, err := s.Sync(ctx, accountID, why)
	if err != nil {
		return "", err
	}
	if e.Type == "checkout.session.completed" && !now.Unfinished {
		if err := s.expectSubscription(ctx, e.ObjectID); err != nil {
			return "", err
		}
		if now, err = s.Sync(ctx, accountID, why); err != nil { // it may have come since
			return "", err
		}
	}
	plan, source := now.Account.Plan()
	return fmt.Sprintf("the account is on %s (%s)", plan, source), nil
}

// name notes whose event it is.
func (s *Service) name(ctx context.Context, e *models.StripeEvent) error {
	asked, cancel := s.store.Bounded(ctx)
	defer cancel()
	return s.store.NameEventAccount(asked, e.ID, e.AccountID, e.CustomerID)
}

// expectSubscription is an error while a paid checkout has no subscription to show.
func (s *Service) expectSubscription(ctx context.Context, sessionID string) error {
	c, err := s.api.CheckoutSessions.Get(sessionID, &stripe.CheckoutSessionParams{Params: params(ctx, "")})
	switch {
	case missing(err):
		return nil
	case err != nil:
		return explained("read the checkout", err)
	case c.Mode == stripe.CheckoutSessionModeSubscription && c.Status == stripe.CheckoutSessionStatusComplete &&
		c.PaymentStatus != stripe.CheckoutSessionPaymentStatusUnpaid && c.Subscription == nil:
		return errNotYet
	default:
		return nil
	}
}

// whose finds the account of an event's customer. A customer that we do not know may still name an account of ours:
// if that has no customer it is the account's own, else it is a second one, and flagged. There is an outcome unless the
// customer is the account's own.
func (s *Service) whose(ctx context.Context, e *models.StripeEvent) (accountID, outcome string, err error) {
	accountID, err = s.store.AccountOfCustomer(ctx, e.CustomerID)
	if models.ErrorCode(err) != models.CodeNotFound {
		return accountID, "", err
	}
	c, err := s.api.Customers.Get(e.CustomerID, &stripe.CustomerParams{Params: params(ctx, "")})
	if missing(err) {
		return "", "the customer no longer exists at Stripe", nil
	}
	if err != nil {
		return "", "", explained("read the customer", err)
	}
	named := c.Metadata[accountKey]
	if c.Deleted || named == "" {
		return "", "not the customer of any account here", nil
	}
	accountID, own, err := s.claim(ctx, e.CustomerID, named)
	switch {
	case models.ErrorCode(err) == models.CodeNotFound:
		s.log.WarnContext(ctx, "a customer at Stripe names an account that is not here, and may pay for nothing: look at it in Stripe's dashboard",
			"event", e.ID, "type", e.Type, "customer", e.CustomerID, "account", named)
		return "", "the customer names an account that does not exist", nil
	case err != nil:
		return "", "", err
	case !own:
		return accountID, "a second customer of account " + accountID + "; flagged", nil
	default:
		return accountID, "", nil
	}
}

// claim makes a customer that names an account the account's own, if that has none; else it is a second one, and flagged,
// and what it pays for an account that is closed is cancelled.
func (s *Service) claim(ctx context.Context, customerID, named string) (accountID string, own bool, err error) {
	account, err := s.store.BilledAccount(ctx, named) // whoever pays for one that is closed is not forgotten
	if err != nil {
		return "", false, err
	}
	b, err := s.store.BillingAccount(ctx, account.ID)
	if err == nil && b.CustomerID == nil {
		b, err = s.adopt(ctx, account.ID, customerID)
	}
	switch {
	case err != nil:
		return "", false, err
	case *b.CustomerID == customerID: // maybe since another server heard of it just now
		return account.ID, true, nil
	}
	detail := fmt.Sprintf("Stripe customer %s names this account, but its own customer is %s: find out which one pays", customerID, *b.CustomerID)
	err = s.store.RaiseFlag(ctx, flag(account.ID, models.FlagSecondCustomer, customerID, detail))
	if err == nil && account.Status == models.AccountClosed {
		err = s.endOther(ctx, account.ID, customerID)
	}
	return account.ID, false, err
}

// adopt makes a customer the account's own, if it has none: ours to begin with, but the database that knew so was lost
// or set back. It gives what the account has then.
func (s *Service) adopt(ctx context.Context, accountID, customerID string) (b models.BillingAccount, err error) {
	err = s.locked(ctx, accountID, func(ctx context.Context, l store.Lease) (err error) {
		if b, err = s.store.BillingAccount(ctx, accountID); err != nil || b.CustomerID != nil {
			return err
		}
		b.CustomerID = &customerID
		return s.store.SaveBilling(ctx, l, b)
	})
	return b, err
}
