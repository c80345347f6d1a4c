package billing

import (
	"context"

	"lottery/models"
	"lottery/models/store"
)

// FlagSuspended asks the operator to look at a suspended account whose subscription, as it was read last, goes on
// charging; it tells whether there is one. It needs no word of Stripe.
func FlagSuspended(ctx context.Context, st *store.Store, accountID string) (bool, error) {
	b, err := st.BillingAccount(ctx, accountID)
	if err != nil || !b.GoesOn() {
		return false, err
	}
	return true, st.RaiseFlag(ctx, flag(accountID, models.FlagSuspended, *b.SubscriptionID,
		"the account is suspended and its subscription goes on: cancel it in Stripe's dashboard, or resume the account"))
}
