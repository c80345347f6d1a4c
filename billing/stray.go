package billing

import (
	"context"
	"fmt"
	"slices"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// Stray is a customer at Stripe that has a subscription for Pro and names an account that is not here. The account may
// have been created after the backup from which the database was restored, or be another installation's.
type Stray struct {
	CustomerID     string // cus_…
	Email          string // as Stripe knows it; "" = unknown
	AccountID      string // acc_…, which it names
	SubscriptionID string // sub_…
	Status         string // the subscription's, as Stripe calls it
}

// stray returns what a customer pays for, or may, if it names an account that is not here; nil if there is nothing.
func (s *Service) stray(ctx context.Context, c *stripe.Customer) (*Stray, error) {
	named := c.Metadata[accountKey]
	if named == "" || c.Deleted {
		return nil, nil //nolint:nilnil // it names no account, or pays nothing
	}
	if _, err := s.store.BilledAccount(ctx, named); models.ErrorCode(err) != models.CodeNotFound {
		return nil, err
	}
	subs, _, err := s.subscriptions(ctx, &models.BillingAccount{AccountID: named, CustomerID: &c.ID})
	if err != nil {
		return nil, err
	}
	for _, sub := range subs {
		if sub.goesOn() {
			return &Stray{CustomerID: c.ID, Email: c.Email, AccountID: named, SubscriptionID: sub.id, Status: sub.status}, nil
		}
	}
	return nil, nil //nolint:nilnil // it pays nothing
}

// sameAddress is how many customers with an account's address are looked at, the newest ones: its owner waits for the
// checkout, and in test mode somebody who began again and again with an empty database may have left many.
const sameAddress = 5

// flagStrays flags an account that is about to buy Pro while a stray with its address may pay for it already. That is no
// proof that they are the same person's, so the account can buy all the same.
func (s *Service) flagStrays(ctx context.Context, accountID string, withItsAddress []*stripe.Customer) error {
	for _, c := range withItsAddress[:min(len(withItsAddress), sameAddress)] {
		found, err := s.stray(ctx, c)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		detail := fmt.Sprintf("Stripe customer %s has this account's address and subscription %s (%s), but names account %s, which is not here: if it is the same person, "+
			"who may have signed up again after a restore, cancel one of the subscriptions and refund what was paid twice",
			found.CustomerID, found.SubscriptionID, found.Status, found.AccountID)
		if err := s.store.RaiseFlag(ctx, flag(accountID, models.FlagSecondCustomer, found.CustomerID, detail)); err != nil {
			return err
		}
	}
	return nil
}

// attachAll reads every customer that Stripe has, a hundred at a time, and attaches those that name an account but are
// not known here. If several name an account without a customer, the oldest becomes its own.
func (r *reconciliation) attachAll(ctx context.Context) error {
	iter := r.s.api.Customers.List(&stripe.CustomerListParams{ListParams: listParams(ctx)}) // the newest first
	var unknown []*stripe.Customer
	for iter.Next() {
		c := iter.Customer()
		if c.Metadata[accountKey] == "" {
			continue
		}
		_, err := r.s.store.AccountOfCustomer(ctx, c.ID)
		switch {
		case models.ErrorCode(err) == models.CodeNotFound:
			unknown = append(unknown, c)
		case err != nil:
			return err
		}
	}
	if err := iter.Err(); err != nil {
		return explained("read the customers", err)
	}
	for _, c := range slices.Backward(unknown) {
		if err := r.attach(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// attach attaches one customer that names an account, or notes what it pays for if that account is not here.
func (r *reconciliation) attach(ctx context.Context, c *stripe.Customer) error {
	named := c.Metadata[accountKey]
	_, _, err := r.s.attach(ctx, c.ID, named)
	if models.ErrorCode(err) == models.CodeNotFound {
		var found *Stray
		if found, err = r.s.stray(ctx, c); found != nil {
			r.out.Strays = append(r.out.Strays, *found)
		}
	}
	if err == nil {
		r.attached = true
		return r.pause(ctx)
	}
	return r.failed(ctx, named, Standing{}, fmt.Errorf("customer %s at Stripe, which names this account: %w", c.ID, err))
}
