package jobs

import (
	"context"
	"log/slog"
	"time"

	"lottery/billing"
	"lottery/models/store"
)

const (
	// reconcileEvery is how often all accounts are compared with Stripe.
	reconcileEvery = time.Hour
	// reconcileLook is how often a node looks whether it is time.
	reconcileLook = time.Minute
)

// Reconcile compares the plans of all accounts with Stripe once an hour, on one node: the one that gets the hour's
// lease, which nobody gives back. A reconcile whose node died goes on in the next hour where it was.
type Reconcile struct {
	Store   *store.Store
	Billing *billing.Service
	Log     *slog.Logger
}

// Run reconciles until ctx ends.
func (j *Reconcile) Run(ctx context.Context) {
	tick := time.NewTicker(reconcileLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := j.Once(ctx); err != nil && ctx.Err() == nil {
				j.Log.WarnContext(ctx, "the plans could not be compared with Stripe; it is tried again in an hour", "error", err)
			}
		}
	}
}

// Once reconciles, if no node has in this hour; ran tells whether.
func (j *Reconcile) Once(ctx context.Context) (ran bool, err error) {
	_, mine, err := j.Store.TryLease(ctx, "job:reconcile", reconcileEvery)
	if err != nil || !mine {
		return false, err
	}
	done, err := j.Billing.Reconcile(ctx, nil)
	if len(done.Drifts) > 0 || done.Failed > 0 {
		j.Log.WarnContext(ctx, "plans were compared with Stripe", "accounts", done.Accounts, "repaired", len(done.Drifts), "failed", done.Failed)
	}
	return true, err
}
