package billing

import (
	"context"
	"fmt"
	"math"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

// Ended is what became of an account's subscriptions.
type Ended struct {
	Cancelled []string // sub_…
	All       bool     // Stripe has confirmed the end of each, whatever failed after that
	// UnderWay tells that a bank may be deciding on a payment for one of them, which cancelling does not call back.
	UnderWay bool
	// JustPaid tells that one of them was paid at a checkout of which nobody here had heard yet: an operator is asked to
	// pay it back.
	JustPaid bool
}

// End cancels everything that the account pays for, by a second customer too, and closes its open checkout: for an account
// that is closed or deleted. It fails if Stripe does not confirm, unless the account is not known to have a customer. What was cancelled before
// it failed is told.
func (s *Service) End(ctx context.Context, accountID string, why Cause) (Ended, error) {
	var out Ended
	err := s.locked(ctx, accountID, func(ctx context.Context, l store.Lease) error {
		if err := s.endOthers(ctx, accountID, &out); err != nil {
			return err
		}
		b, err := s.store.BillingAccount(ctx, accountID)
		if err != nil {
			return err
		}
		if b.CustomerID == nil {
			if err := s.recall(ctx, l, &b); err != nil || b.CustomerID == nil {
				out.All = err == nil
				return err
			}
		}
		if _, err := s.openSession(ctx, &b, ""); err != nil { // none sells "": all are closed, or were paid just now
			return err
		}
		if err := s.endPaid(ctx, &b, &out, true); err != nil {
			return err
		}
		out.All = true
		_, err = s.sync(ctx, l, accountID, why)
		return err
	})
	return out, err
}

// endPaid cancels all of ours that b's customer pays for. What is unheard is flagged, if it is the account's own customer:
// whatever another one pays is flagged already.
func (s *Service) endPaid(ctx context.Context, b *models.BillingAccount, out *Ended, own bool) error {
	subs, _, err := s.subscriptions(ctx, b)
	if err != nil {
		return err
	}
	for _, sub := range subs {
		if !sub.ours || sub.over() {
			continue
		}
		if own && unheard(b, &sub) {
			out.JustPaid = true
			detail := fmt.Sprintf("subscription %s was paid just as the account was closed, and has been canceled: refund its payment", sub.id)
			if err := s.store.RaiseFlag(ctx, flag(b.AccountID, models.FlagClosed, sub.id, detail)); err != nil {
				return err
			}
		}
		if err := s.cancel(ctx, sub.id); err != nil {
			return err
		}
		out.Cancelled = append(out.Cancelled, sub.id)
		out.UnderWay = out.UnderWay || sub.underWay()
	}
	return nil
}

// endOthers cancels what second customers of the account pay for, of whom there was word before. One that names the account
// no more, as Stripe says now, is left alone.
func (s *Service) endOthers(ctx context.Context, accountID string, out *Ended) error {
	ids, err := s.store.SecondCustomers(ctx, accountID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		c, err := s.api.Customers.Get(id, &stripe.CustomerParams{Params: params(ctx, "")})
		if missing(err) {
			continue
		}
		if err != nil {
			return explained("read the account's second customer", err)
		}
		if c.Deleted || c.Metadata[accountKey] != accountID {
			continue
		}
		if err := s.endPaid(ctx, &models.BillingAccount{AccountID: accountID, CustomerID: &id}, out, false); err != nil {
			return err
		}
	}
	return nil
}

// endOther cancels what a second customer pays for an account that is closed, and flags it.
func (s *Service) endOther(ctx context.Context, accountID, customerID string) error {
	return s.locked(ctx, accountID, func(ctx context.Context, _ store.Lease) error {
		subs, _, err := s.subscriptions(ctx, &models.BillingAccount{AccountID: accountID, CustomerID: &customerID})
		if err != nil {
			return err
		}
		return s.endClosed(ctx, accountID, subs)
	})
}

// unheard tells whether a subscription was paid and nobody here knows yet: its checkout was completed just now.
func unheard(b *models.BillingAccount, sub *subscription) bool {
	known := b.SubscriptionID != nil && *b.SubscriptionID == sub.id && b.Status != nil && *b.Status != models.SubscriptionIncomplete
	return !known && sub.status == models.SubscriptionActive && !sub.neverPaid
}

// settled is sync, after which nothing is left of a checkout that is closed: what it had begun, and a refused card left unpaid,
// is cancelled. It can be paid no more, and would keep its owner from buying for a day, as if a payment were under way.
func (s *Service) settled(ctx context.Context, l store.Lease, accountID string, why Cause) (Standing, error) {
	now, err := s.sync(ctx, l, accountID, why)
	if err != nil || !now.Begun || now.Billing.Payable(s.stripeNow()) {
		return now, err
	}
	if ended, err := s.endBegun(ctx, &now.Billing); err != nil || !ended {
		return now, err
	}
	return s.sync(ctx, l, accountID, why)
}

// endBegun cancels what b's checkouts began, if all of them are closed. What belongs to one that is complete waits for a bank,
// and stays.
func (s *Service) endBegun(ctx context.Context, b *models.BillingAccount) (ended bool, err error) {
	expired, complete := int64(math.MaxInt64), map[string]bool{}
	iter := s.api.CheckoutSessions.List(&stripe.CheckoutSessionListParams{ListParams: listParams(ctx), Customer: b.CustomerID})
	for iter.Next() {
		switch c := iter.CheckoutSession(); {
		case c.Status == stripe.CheckoutSessionStatusExpired:
			expired = min(expired, c.Created)
		case c.Status == stripe.CheckoutSessionStatusComplete && c.Subscription != nil:
			complete[c.Subscription.ID] = true
		default: // open, or complete and Stripe does not show yet what it was for
			return false, nil
		}
	}
	if err := iter.Err(); err != nil {
		return false, explained("read the checkouts", err)
	}
	subs, _, err := s.subscriptions(ctx, b) // after the checkouts: what was paid meanwhile is not incomplete any more
	if err != nil {
		return false, err
	}
	for _, sub := range subs {
		if begun([]subscription{sub}) && !complete[sub.id] && sub.created >= expired {
			if err := s.cancel(ctx, sub.id); err != nil {
				return false, err
			}
			ended = true
		}
	}
	return ended, nil
}
