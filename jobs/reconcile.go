package jobs

import (
	"context"
	"fmt"
	"time"

	"lottery/models"
)

// reconcileJob compares the plans of all accounts with Stripe. One that was cut short goes on where it was.
func reconcileJob(d *Deps) Job {
	j := Job{
		Name: "reconcile", What: "compare all plans with Stripe", When: "7 * * * *", Limit: 3 * time.Hour,
		Run: func(ctx context.Context) (string, error) {
			done, err := d.Billing.Reconcile(ctx, nil)
			outcome := fmt.Sprintf("%d accounts compared, %d repaired", done.Accounts, len(done.Drifts))
			if done.Failed > 0 {
				outcome += fmt.Sprintf(", %d could not be looked at", done.Failed)
			}
			for _, drift := range done.Drifts {
				d.Log.WarnContext(ctx, "a plan was not what Stripe says; it is repaired", "account", drift.AccountID, "was", drift.Was, "became", drift.Became)
			}
			if err == nil && done.Failed > 0 {
				err = models.Errorf(models.CodeUnavailable, "some accounts could not be compared; the log says why")
			}
			return outcome, err
		},
	}
	if d.Billing == nil {
		j.When, j.Off = "", "stripe_secret_key is not set here"
	}
	return j
}
