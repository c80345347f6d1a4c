package billing

import (
	"context"

	"lottery/models"
	"lottery/models/store"
)

// FlagSuspended asks the operator to look at an account that was just suspended while its subscription, as last read,
// goes on charging. It reports whether there is one, and does not ask Stripe. If such a flag was cleared after an
// earlier suspension, it is raised again.
func FlagSuspended(ctx context.Context, st *store.Store, accountID string) (bool, error) {
	b, err := st.BillingAccount(ctx, accountID)
	if err != nil || !b.GoesOn() {
		return false, err
	}
	return true, st.RaiseFlagAnew(ctx, suspendedFlag(accountID, *b.SubscriptionID))
}

func suspendedFlag(accountID, subscriptionID string) models.AccountFlag {
	return flag(accountID, models.FlagSuspended, subscriptionID,
		"the account is suspended but its subscription is still running: cancel it in Stripe's dashboard, or resume the account")
}

// CloseCheckout closes the open checkouts of an account that may no longer buy, and then syncs it: a checkout may have
// been paid at this very moment.
func (s *Service) CloseCheckout(ctx context.Context, accountID string, why Cause) error {
	return s.locked(ctx, accountID, func(ctx context.Context, l store.Lease) error {
		b, err := s.store.BillingAccount(ctx, accountID)
		if err != nil || b.CustomerID == nil {
			return err
		}
		if err := s.closeSessions(ctx, &b); err != nil {
			return err
		}
		b.DropSession()
		if err := s.store.SaveBilling(ctx, l, b); err != nil {
			return err
		}
		_, err = s.settled(ctx, l, accountID, why)
		return err
	})
}
