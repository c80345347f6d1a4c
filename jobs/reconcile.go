package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lottery/models"
)

// reconcileJob compares all accounts' plans with Stripe. It resumes where a run was cut short.
func reconcileJob(d *Deps) Job {
	j := Job{
		Name: "reconcile", What: "compare all plans with Stripe", When: "7 * * * *", Limit: 3 * time.Hour,
		Run: func(ctx context.Context) (string, error) {
			done, err := d.Billing.Reconcile(ctx, nil)
			outcome := fmt.Sprintf("%s compared, %d repaired", models.Count(done.Accounts, "account"), len(done.Drifts))
			if len(done.Failed) > 0 {
				outcome += fmt.Sprintf(", %d could not be looked at", len(done.Failed))
			}
			for _, drift := range done.Drifts {
				d.Log.WarnContext(ctx, "a plan was not what Stripe says; it is repaired", "account", drift.AccountID, "was", drift.Was, "became", drift.Became)
			}
			if err == nil && len(done.Failed) > 0 {
				err = models.Errorf(models.CodeUnavailable, "not compared: %s; `lotteryadmin billing sync ACCOUNT` says why", namedIDs(done.Failed))
			}
			return outcome, err
		},
	}
	if d.Billing == nil {
		j.When, j.Off = "", "stripe_secret_key is not set here"
	}
	return j
}

// namedIDs returns the first few of ids and the number of the rest: a run's outcome is one line.
func namedIDs(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
