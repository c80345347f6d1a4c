package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

// errNotYet means that Stripe has not made yet what an event announces.
var errNotYet = errors.New("no subscription is shown for this checkout yet")

// follow processes an event by syncing its customer's account. It does not trust what the event says about the
// customer, which may be out of date or in the shape of another API version. own is set if the customer is an account's
// own.
func (s *Service) follow(ctx context.Context, e *models.StripeEvent) (outcome string, own bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, eventFor)
	defer cancel()
	money, err := s.moneyBack(ctx, e)
	if err != nil {
		return "", false, err
	}
	if money != nil && money.customer != "" {
		e.CustomerID = money.customer
	}
	if money != nil && money.foreign { // the operator's other business with the same customer
		money = nil
	}
	if e.CustomerID == "" {
		return "the event names no customer", false, nil
	}
	p, money, err := s.payer(ctx, e, money)
	if err != nil || p.accountID == "" {
		return p.outcome, false, err
	}
	e.AccountID = p.accountID
	if err := s.name(ctx, e); err != nil {
		return "", false, err
	}
	if money != nil {
		if err := s.store.RaiseFlag(ctx, flag(p.accountID, money.kind, money.ref, money.detail)); err != nil {
			return "", false, err
		}
	}
	if !p.own { // the account's plan does not depend on this customer
		return p.outcome, false, nil
	}
	why := Cause{Actor: "stripe", Reason: e.Type, EventID: e.ID}
	now, err := s.Sync(ctx, p.accountID, why)
	if err != nil {
		return "", false, err
	}
	if e.Type == "checkout.session.completed" && !now.Unfinished {
		if err := s.expectSubscription(ctx, e.ObjectID); err != nil {
			return "", false, err
		}
		if now, err = s.Sync(ctx, p.accountID, why); err != nil { // it may have come since
			return "", false, err
		}
	}
	own = equal(now.Billing.CustomerID, e.CustomerID)
	if !own && e.Type == invoicePaid { // the customer turned out to be deleted, and its payment may be for nothing
		return s.follow(ctx, e)
	}
	plan, source := now.Account.Plan()
	return fmt.Sprintf("the account is on %s (%s)", plan, source), own, nil
}

// payer is whose customer an event is about.
type payer struct {
	accountID string // "" = no account's
	own       bool   // the customer is the account's own
	outcome   string // what to record of the event if not
}

// payer finds the payer of an event, if need be by the payment that the event is about, and returns what to flag there.
func (s *Service) payer(ctx context.Context, e *models.StripeEvent, money *moneyBack) (payer, *moneyBack, error) {
	p, err := s.whose(ctx, e)
	if err == nil && !p.own && e.Type == invoicePaid {
		money, p.outcome, err = s.paidElsewhere(ctx, e, p.outcome)
	}
	if err == nil && p.accountID == "" && money != nil {
		p, err = s.paidFor(ctx, money, p)
	}
	return p, money, err
}

// name stores which account and customer an event is about.
func (s *Service) name(ctx context.Context, e *models.StripeEvent) error {
	asked, cancel := s.store.Bounded(ctx)
	defer cancel()
	return s.store.NameEventAccount(asked, e.ID, e.AccountID, e.CustomerID)
}

// expectSubscription returns an error while Stripe shows no subscription for a paid checkout.
func (s *Service) expectSubscription(ctx context.Context, sessionID string) error {
	c, err := s.api.CheckoutSessions.Get(sessionID, &stripe.CheckoutSessionParams{Params: params(ctx, "")})
	switch {
	case missing(err):
		return nil
	case err != nil:
		return explained("read the checkout", err)
	case paidUnseen(c):
		return errNotYet
	default:
		return nil
	}
}

// whose finds the payer of an event by its customer. An unknown customer may name one of our accounts in its metadata: if
// that account has no customer, this becomes its own; otherwise it is flagged as a second one.
func (s *Service) whose(ctx context.Context, e *models.StripeEvent) (payer, error) {
	accountID, err := s.store.AccountOfCustomer(ctx, e.CustomerID)
	if models.ErrorCode(err) != models.CodeNotFound {
		return payer{accountID: accountID, own: true}, err
	}
	c, err := s.api.Customers.Get(e.CustomerID, &stripe.CustomerParams{Params: params(ctx, "")})
	if missing(err) {
		return payer{outcome: "the customer no longer exists at Stripe"}, nil
	}
	if err != nil {
		return payer{}, explained("read the customer", err)
	}
	named := c.Metadata[accountKey]
	switch {
	case c.Deleted:
		return payer{outcome: "the customer was deleted at Stripe"}, nil
	case named == "":
		return payer{outcome: notOurs}, nil
	}
	accountID, own, err := s.attach(ctx, e.CustomerID, named)
	switch {
	case models.ErrorCode(err) == models.CodeNotFound:
		s.log.WarnContext(ctx, "a customer at Stripe names an account that is not here, and may pay for nothing: look at it in Stripe's dashboard",
			"event", e.ID, "type", e.Type, "customer", e.CustomerID, "account", named)
		return payer{outcome: "the customer names an account that does not exist"}, nil
	case err != nil:
		return payer{}, err
	default:
		return payer{accountID, own, "a second customer of account " + accountID + "; flagged"}, nil
	}
}

// attach makes a customer that names an account the account's own, if it has none, or one that was deleted at Stripe.
// Otherwise it flags the customer as a second one, and cancels what that pays for if the account is closed. own is set
// if the customer is the account's own.
func (s *Service) attach(ctx context.Context, customerID, named string) (accountID string, own bool, err error) {
	account, err := s.store.BilledAccount(ctx, named) // closed and deleted ones as well: somebody may still pay
	if err != nil {
		return "", false, err
	}
	b, err := s.store.BillingAccount(ctx, account.ID)
	if err != nil {
		return "", false, err
	}
	free, err := s.unowned(ctx, &b)
	if err == nil && free {
		b, err = s.adopt(ctx, account.ID, customerID, b.CustomerID)
	}
	switch {
	case err != nil:
		return "", false, err
	case *b.CustomerID == customerID: // perhaps another server attached it just now
		return account.ID, true, nil
	}
	if err := s.flagSecond(ctx, account.ID, customerID, secondDetail(customerID, *b.CustomerID)); err != nil {
		return "", false, err
	}
	if account, err = s.store.BilledAccount(ctx, named); err != nil { // it may have been closed before it was flagged
		return "", false, err
	}
	if account.Status == models.AccountClosed {
		err = s.endOther(ctx, account.ID, customerID)
	}
	return account.ID, false, err
}

func secondDetail(second, own string) string {
	return fmt.Sprintf("Stripe customer %s names this account, but its own customer is %s: find out which one pays", second, own)
}

// flagSecond flags a second customer of an account. If that flag was cleared, it is news again with each subscription that
// begins afterwards.
func (s *Service) flagSecond(ctx context.Context, accountID, customerID, detail string) error {
	first := flag(accountID, models.FlagSecondCustomer, customerID, detail)
	if err := s.store.RaiseFlag(ctx, first); err != nil {
		return err
	}
	cleared, err := s.store.FlagCleared(ctx, first)
	if err != nil || cleared == nil {
		return err
	}
	subs, _, err := s.subscriptions(ctx, &models.BillingAccount{AccountID: accountID, CustomerID: &customerID})
	if err != nil {
		return err
	}
	for _, sub := range subs {
		if sub.goesOn() && time.Unix(sub.created, 0).After(*cleared) {
			anew := flag(accountID, models.FlagSecondCustomer, customerID+":"+sub.id, fmt.Sprintf("%s; it has begun subscription %s", detail, sub.id))
			if err := s.store.RaiseFlag(ctx, anew); err != nil {
				return err
			}
		}
	}
	return nil
}

// unowned reports whether an account has no customer, or one that was deleted at Stripe, of which nobody may have heard
// yet. A customer that Stripe has never heard of stays: the key may be the wrong one.
func (s *Service) unowned(ctx context.Context, b *models.BillingAccount) (bool, error) {
	if b.CustomerID == nil {
		return true, nil
	}
	gone, err := s.gone(ctx, b)
	if missing(err) {
		return false, nil
	}
	return gone, explained("read the account's own customer", err)
}

// adopt makes a customer the account's own, if it still has none or the dead one: we made that customer, but the
// database that knew was lost or restored, or an operator made it in place of the dead one. It returns what is stored
// afterwards.
func (s *Service) adopt(ctx context.Context, accountID, customerID string, dead *string) (b models.BillingAccount, err error) {
	err = s.locked(ctx, accountID, func(ctx context.Context, l store.Lease) (err error) {
		b, err = s.store.BillingAccount(ctx, accountID)
		switch {
		case err != nil:
			return err
		case b.CustomerID == nil:
		case dead != nil && *b.CustomerID == *dead:
			b.DropSession()
			b.Attempt++
		default:
			return nil
		}
		b.CustomerID = &customerID
		return s.store.SaveBilling(ctx, l, b)
	})
	return b, err
}
