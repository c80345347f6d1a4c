package billing

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

// Ended is what End did to an account's subscriptions.
type Ended struct {
	Cancelled []string // sub_…
	All       bool     // Stripe confirmed the end of every one, even if something failed after that
	// UnderWay is set if a bank may still be deciding on a payment for one of them: cancelling does not call that back.
	// An earlier attempt may have cancelled it.
	UnderWay bool
	// JustPaid is set if one of them had just been paid at a checkout, before we had heard of it: a flag asks the
	// operator to refund it. It may be the last one bought, which an earlier attempt canceled (see paidBefore).
	JustPaid bool
}

// justPaid is how long the payment of a subscription that End canceled is reported to later attempts.
const justPaid = 24 * time.Hour

// End cancels all of the account's subscriptions, also those of its second customers, and closes its open checkout. It
// is for an account that is closed or deleted. It fails if Stripe does not confirm, unless the account is not known to
// have a customer; what it cancelled before failing is in Ended.
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
		gone, err := s.endOwn(ctx, &b, &out)
		if err != nil {
			return err
		}
		if gone { // perhaps there is another, forgotten here
			if b.CustomerID != nil {
				now, err := s.sync(ctx, l, accountID, why)
				if err != nil {
					return err
				}
				b = now.Billing
			}
			if err := s.recall(ctx, l, &b); err != nil || b.CustomerID == nil {
				out.All = err == nil
				return err
			}
			if _, err := s.endOwn(ctx, &b, &out); err != nil {
				return err
			}
			if err := s.endOthers(ctx, accountID, &out); err != nil { // recall may have found some
				return err
			}
		}
		if out.All = true; len(out.Cancelled) == 0 {
			return nil // what is stored about it follows by an event, or by reconcile
		}
		_, err = s.sync(ctx, l, accountID, why)
		return err
	})
	return out, err
}

// endOwn cancels what the account's own customer pays for, and closes its open checkouts. gone is set if it has none, or
// one that was deleted at Stripe.
func (s *Service) endOwn(ctx context.Context, b *models.BillingAccount, out *Ended) (gone bool, err error) {
	if b.CustomerID == nil {
		return true, nil
	}
	if err := s.closeSessions(ctx, b); err != nil {
		return false, err
	}
	return s.endPaid(ctx, b, out, true)
}

// endPaid cancels all subscriptions for our product of b's customer, unless that is gone. If own is set, it flags one
// that was paid without our having heard of it; a second customer is flagged anyway.
func (s *Service) endPaid(ctx context.Context, b *models.BillingAccount, out *Ended, own bool) (gone bool, err error) {
	subs, gone, err := s.subscriptions(ctx, b)
	if err != nil {
		return false, err
	}
	if own && !out.JustPaid {
		if out.JustPaid, err = s.paidBefore(ctx, b.AccountID, subs); err != nil {
			return false, err
		}
	}
	for _, sub := range subs {
		out.UnderWay = out.UnderWay || sub.ours && (sub.withBank() || sub.leftWithBank(s.stripeNow()))
		if !sub.goesOn() {
			continue
		}
		if own && unheard(b, &sub, s.stripeNow()) {
			out.JustPaid = true
			detail := fmt.Sprintf("subscription %s was paid just as the account was closed, and has been canceled: refund its payment", sub.id)
			if err := s.store.RaiseFlag(ctx, flag(b.AccountID, models.FlagClosed, sub.id, detail)); err != nil {
				return false, err
			}
		}
		if err := s.cancel(ctx, &sub); err != nil {
			return false, err
		}
		out.Cancelled = append(out.Cancelled, sub.id)
	}
	return gone, nil
}

// paidBefore reports whether the newest of subs for our product had just been paid when an earlier attempt of the last
// day canceled it, and its flag has not been cleared.
func (s *Service) paidBefore(ctx context.Context, accountID string, subs []subscription) (bool, error) {
	var newest subscription
	for _, sub := range subs {
		if sub.ours && sub.created > newest.created {
			newest = sub
		}
	}
	flags, err := s.store.Flags(ctx, accountID)
	return slices.ContainsFunc(flags, func(f models.AccountFlag) bool {
		return f.Kind == models.FlagClosed && f.Ref == newest.id && s.now().Sub(f.RaisedAt) < justPaid
	}), err
}

// endOthers cancels the subscriptions of the account's second customers, known from flags. A customer that, according
// to Stripe, no longer names the account is left alone.
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
		if _, err := s.endPaid(ctx, &models.BillingAccount{AccountID: accountID, CustomerID: &id}, out, false); err != nil {
			return err
		}
	}
	return nil
}

// endOther cancels what a second customer pays for a closed account, and flags it.
func (s *Service) endOther(ctx context.Context, accountID, customerID string) error {
	return s.locked(ctx, accountID, func(ctx context.Context, _ store.Lease) error {
		subs, _, err := s.subscriptions(ctx, &models.BillingAccount{AccountID: accountID, CustomerID: &customerID})
		if err != nil {
			return err
		}
		return s.endClosed(ctx, accountID, subs)
	})
}

// unheard reports whether a subscription has been paid but is not known here yet, at now: its checkout was completed just
// now. One that was paid earlier is only not the one that counts, or the database was restored.
func unheard(b *models.BillingAccount, sub *subscription, now time.Time) bool {
	known := equal(b.SubscriptionID, sub.id) && !equal(b.Status, models.SubscriptionIncomplete)
	return !known && sub.status == models.SubscriptionActive && !sub.neverPaid && now.Sub(sub.paidAt) < justPaid
}

// settled is sync, plus cancelling what a closed checkout leaves behind: a subscription that it began and that a
// refused card left unpaid. That can no longer be paid, but would keep its owner from buying for a day, as if a payment
// were under way.
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

// endBegun cancels the unpaid subscriptions that b's checkouts began, if all of those are closed. The subscription of a
// complete checkout is waiting for a bank, and stays.
func (s *Service) endBegun(ctx context.Context, b *models.BillingAccount) (ended bool, err error) {
	sessions, err := s.proSessions(ctx, b)
	if err != nil {
		return false, err
	}
	expired, complete := int64(math.MaxInt64), map[string]bool{}
	for _, c := range sessions {
		switch {
		case c.Status == stripe.CheckoutSessionStatusExpired:
			expired = min(expired, c.Created)
		case c.Status == stripe.CheckoutSessionStatusComplete && c.Subscription != nil:
			complete[c.Subscription.ID] = true
		default: // open, or complete but without a visible subscription
			return false, nil
		}
	}
	// After the checkouts: what was paid meanwhile is no longer incomplete.
	subs, _, err := s.subscriptions(ctx, b)
	if err != nil {
		return false, err
	}
	for _, sub := range subs {
		if sub.begun() && !complete[sub.id] && sub.created >= expired {
			if err := s.cancel(ctx, &sub); err != nil {
				return false, err
			}
			ended = true
		}
	}
	return ended, nil
}
