package billing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// Drift is an account whose plan was not what Stripe says.
type Drift struct {
	AccountID string
	Was       string
	Became    string
}

// Reconciled is what a reconcile found.
type Reconciled struct {
	Accounts int      // looked at
	Drifts   []Drift  // and repaired
	Failed   []string // ids of those that could not be looked at; the next reconcile does
	After    string   // where the one before was cut short, and this one began; "" = at the first account
	Whole    bool     // the last account was come to; of a SyncAll: every one
}

const (
	// pace is the time between two accounts: each asks Stripe once or twice, and Stripe allows 25 requests a second in
	// test mode, 100 in live mode.
	pace = 100 * time.Millisecond
	// settingReconcile and settingSyncAll are the billing settings that say how far the job and the operator came: either
	// looks at every account, whatever the other does meanwhile.
	settingReconcile = "reconcile_after"
	settingSyncAll   = "sync_all_after"
	// reconcilePage is how many accounts are read at once.
	reconcilePage = 200
)

// Reconcile looks at every account that has a customer, and repairs what differs from what Stripe says. One that was
// cut short goes on where it was. each is told of every account, by its id, what it is or why that is not known; nil =
// nobody wants to know.
func (s *Service) Reconcile(ctx context.Context, each func(accountID string, now Standing, err error)) (Reconciled, error) {
	return s.reconcile(ctx, settingReconcile, false, each)
}

// SyncAll is Reconcile at the operator's word, also of accounts whose customer is not known here: the database may have
// been set back to before they first paid. It looks at everybody: one that begins where another was cut short, who knows
// how long ago, comes to those before that in the end. Where one of them was cut short is nothing to the other.
func (s *Service) SyncAll(ctx context.Context, each func(accountID string, now Standing, err error)) (Reconciled, error) {
	if err := s.claimAll(ctx); err != nil {
		return Reconciled{}, err
	}
	return s.reconcile(ctx, settingSyncAll, true, each)
}

// claimAll reads every customer that Stripe has, a hundred at a time, and claims those of ours that nobody has here: of
// several that name one account, the first that was made.
func (s *Service) claimAll(ctx context.Context) error {
	iter := s.api.Customers.List(&stripe.CustomerListParams{ListParams: listParams(ctx)}) // the newest first
	var ours []*stripe.Customer
	for iter.Next() {
		c := iter.Customer()
		if c.Metadata[accountKey] == "" {
			continue
		}
		_, err := s.store.AccountOfCustomer(ctx, c.ID)
		switch {
		case models.ErrorCode(err) == models.CodeNotFound:
			ours = append(ours, c)
		case err != nil:
			return err
		}
	}
	if err := iter.Err(); err != nil {
		return explained("read the customers", err)
	}
	for _, c := range slices.Backward(ours) {
		_, _, err := s.claim(ctx, c.ID, c.Metadata[accountKey])
		if err != nil && models.ErrorCode(err) != models.CodeNotFound { // another deployment's, or of an account that is forgotten
			return err
		}
	}
	return nil
}

// reconcile looks at the accounts from where the one before was cut short to the last, and then, if it is to be all of
// them, at those before that.
func (s *Service) reconcile(ctx context.Context, setting string, all bool, each func(accountID string, now Standing, err error)) (out Reconciled, err error) {
	asked, cancel := s.store.Bounded(ctx)
	out.After, err = s.store.BillingSetting(asked, setting)
	cancel()
	if err != nil {
		return out, err
	}
	if err := s.walk(ctx, setting, out.After, "", &out, each); err != nil {
		return out, err
	}
	if all && out.After != "" {
		if err := s.walk(ctx, setting, "", out.After, &out, each); err != nil {
			return out, err
		}
	}
	out.Whole = true
	return out, s.reached(ctx, setting, "")
}

// walk looks at the accounts after one, and up to another, or to the last if that is "". It writes down how far it came.
func (s *Service) walk(ctx context.Context, setting, after, last string, out *Reconciled, each func(accountID string, now Standing, err error)) error {
	for {
		asked, cancel := s.store.Bounded(ctx)
		ids, err := s.store.BillingAccountsAfter(asked, after, last, reconcilePage)
		cancel()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.reconcileOne(ctx, id, out, each); err != nil {
				return err
			}
			after = id
			if err := s.reached(ctx, setting, after); err != nil {
				return err
			}
		}
		if len(ids) < reconcilePage {
			return nil
		}
	}
}

// reached notes how far a reconcile came.
func (s *Service) reached(ctx context.Context, setting, after string) error {
	asked, cancel := s.store.Bounded(ctx)
	defer cancel()
	return s.store.SetBillingSetting(asked, setting, after)
}

func (s *Service) reconcileOne(ctx context.Context, id string, out *Reconciled, each func(string, Standing, error)) error {
	now, err := s.Sync(ctx, id, Cause{Actor: "reconcile", Reason: "what is stored differed from what Stripe says"})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if each != nil {
		each(id, now, err)
	}
	out.Accounts++
	switch {
	case err != nil:
		out.Failed = append(out.Failed, id)
		s.log.WarnContext(ctx, "an account could not be reconciled", "account", id, "error", err)
		if models.ErrorCode(err) == models.CodeUnavailable && len(out.Failed) > 20 && len(out.Failed) == out.Accounts {
			return errors.Join(models.Errorf(models.CodeUnavailable, "the reconcile stops: nothing can be read from Stripe"), err)
		}
	case now.Changed:
		became, _ := now.Account.Plan()
		out.Drifts = append(out.Drifts, Drift{AccountID: id, Was: string(now.Was), Became: string(became)})
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.pace):
		return nil
	}
}
