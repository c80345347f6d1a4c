package billing

import (
	"context"
	"errors"
	"slices"
	"time"

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
	Strays   []Stray  // for SyncAll: customers that pay for accounts that are not here
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

// EachAccount receives an account's id with the result of its sync, or the error.
type EachAccount func(accountID string, now Standing, err error)

// Reconcile syncs every account that has a customer, and so repairs what differs from Stripe. Before that, it sends
// Stripe the new addresses that it has not been told. It resumes where the previous run was cut short. each is called
// after every account; it may be nil.
func (s *Service) Reconcile(ctx context.Context, each EachAccount) (Reconciled, error) {
	r := reconciliation{s: s, setting: settingReconcile, each: each}
	err := r.run(ctx, false)
	return r.out, err
}

// SyncAll is Reconcile for the operator. It also finds accounts whose customer is not known here, since the database
// may have been restored to a state before they first paid. It always covers every account: if it resumes where an
// earlier SyncAll was cut short, however long ago, it then goes on to the accounts before that point. It and Reconcile
// do not share their positions.
func (s *Service) SyncAll(ctx context.Context, each EachAccount) (Reconciled, error) {
	r := reconciliation{s: s, setting: settingSyncAll, each: each}
	err := r.attachAll(ctx)
	if err == nil {
		err = r.run(ctx, true)
	}
	return r.out, err
}

// reconciliation is one run of Reconcile or SyncAll.
type reconciliation struct {
	s       *Service
	setting string // where it stores how far it got
	each    EachAccount
	out     Reconciled

	attached bool // a customer could be attached, or need not be
}

// run syncs the accounts from where the previous run was cut short to the last one and then, if all is set, those
// before that point.
func (r *reconciliation) run(ctx context.Context, all bool) error {
	if err := r.s.sendOwed(ctx); err != nil {
		return err
	}
	asked, cancel := r.s.store.Bounded(ctx)
	var err error
	r.out.After, err = r.s.store.BillingSetting(asked, r.setting)
	cancel()
	if err != nil {
		return err
	}
	if err := r.walk(ctx, r.out.After, ""); err != nil {
		return err
	}
	if all && r.out.After != "" {
		if err := r.walk(ctx, "", r.out.After); err != nil {
			return err
		}
	}
	r.out.Whole = true
	return r.reached(ctx, "")
}

// walk syncs the accounts with ids after `after`, up to and including last ("" = to the end). It stores how far it got.
func (r *reconciliation) walk(ctx context.Context, after, last string) error {
	for {
		asked, cancel := r.s.store.Bounded(ctx)
		ids, err := r.s.store.BillingAccountsAfter(asked, after, last, reconcilePage)
		cancel()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := r.account(ctx, id); err != nil {
				return err
			}
			after = id
			if err := r.reached(ctx, after); err != nil {
				return err
			}
		}
		if len(ids) < reconcilePage {
			return nil
		}
	}
}

// reached stores how far the run got.
func (r *reconciliation) reached(ctx context.Context, after string) error {
	asked, cancel := r.s.store.Bounded(ctx)
	defer cancel()
	return r.s.store.SetBillingSetting(asked, r.setting, after)
}

// account syncs one account, and pauses.
func (r *reconciliation) account(ctx context.Context, id string) error {
	now, err := r.s.Sync(ctx, id, Cause{Actor: "reconcile", Reason: "what is stored differed from what Stripe says"})
	if err != nil {
		return r.failed(ctx, id, now, err)
	}
	if r.each != nil {
		r.each(id, now, nil)
	}
	if !slices.Contains(r.out.Failed, id) {
		r.out.Accounts++
	}
	if now.Changed {
		became, _ := now.Account.Plan()
		r.out.Drifts = append(r.out.Drifts, Drift{AccountID: id, Was: string(now.Was), Became: string(became)})
	}
	return r.pause(ctx)
}

// failed notes that an account could not be checked, and pauses. It returns an error if nothing at all can be read from
// Stripe.
func (r *reconciliation) failed(ctx context.Context, id string, now Standing, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.each != nil {
		r.each(id, now, err)
	}
	r.s.log.WarnContext(ctx, "an account could not be reconciled", "account", id, "error", err)
	if !slices.Contains(r.out.Failed, id) {
		r.out.Failed = append(r.out.Failed, id)
		r.out.Accounts++
	}
	if models.ErrorCode(err) == models.CodeUnavailable && !r.attached && len(r.out.Failed) > 20 && len(r.out.Failed) == r.out.Accounts {
		return errors.Join(models.Errorf(models.CodeUnavailable, "the reconcile stops: nothing can be read from Stripe"), err)
	}
	return r.pause(ctx)
}

func (r *reconciliation) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(r.s.pace):
		return nil
	}
}
