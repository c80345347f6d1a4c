package billing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// Drift is an account whose plan differed from what Stripe says.
type Drift struct {
	AccountID string
	Was       string
	Became    string
}

// Reconciled is the result of a reconcile.
type Reconciled struct {
	Accounts int      // synced, or tried
	Drifts   []Drift  // repaired
	Failed   []string // ids of accounts that could not be synced; the next reconcile tries them again
	After    string   // where the previous run was cut short and this one began; "" = the first account
	Whole    bool     // the run reached the last account; for SyncAll: it covered every account
}

const (
	// pace is the pause between two accounts: each costs one or two requests, and Stripe allows 25 a second in test
	// mode, 100 in live mode.
	pace = 100 * time.Millisecond
	// settingReconcile and settingSyncAll are the billing settings that hold how far the job and the operator's command
	// got. They are separate, so that each reaches every account whatever the other does meanwhile.
	settingReconcile = "reconcile_after"
	settingSyncAll   = "sync_all_after"
	// reconcilePage is how many account ids are read at once.
	reconcilePage = 200
)

// Reconcile syncs every account that has a customer, and so repairs what differs from Stripe. It resumes where the
// previous run was cut short. each is called after every account with its id and the result, or the error; it may be
// nil.
func (s *Service) Reconcile(ctx context.Context, each func(accountID string, now Standing, err error)) (Reconciled, error) {
	return s.reconcile(ctx, settingReconcile, false, each)
}

// SyncAll is Reconcile for the operator. It also finds accounts whose customer is not known here, since the database
// may have been restored to a state before they first paid. It always covers every account: if it resumes where an
// earlier SyncAll was cut short, however long ago, it then goes on to the accounts before that point. It and Reconcile
// do not share their positions.
func (s *Service) SyncAll(ctx context.Context, each func(accountID string, now Standing, err error)) (Reconciled, error) {
	if err := s.claimAll(ctx); err != nil {
		return Reconciled{}, err
	}
	return s.reconcile(ctx, settingSyncAll, true, each)
}

// claimAll reads every customer that Stripe has, a hundred at a time, and claims those that name an account but are not
// known here. If several name an account without a customer, the oldest becomes its own.
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
		// Not found: another deployment's account, or one that this database no longer has.
		if err != nil && models.ErrorCode(err) != models.CodeNotFound {
			return err
		}
	}
	return nil
}

// reconcile syncs the accounts from where the previous run was cut short to the last one and then, if all is set, those
// before that point.
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

// walk syncs the accounts with ids after `after`, up to and including last ("" = to the end). It stores how far it got.
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

// reached stores how far a reconcile got.
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
