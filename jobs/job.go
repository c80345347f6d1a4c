package jobs

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/robfig/cron/v3"

	"lottery/billing"
	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
)

// Job is something that the servers do by themselves, on one node at a time. What it does may be done twice: a run that
// was cut off is begun again.
type Job struct {
	Name string
	What string // in a line, for a person
	When string // a cron expression, in UTC; "" = never by itself, and Off says why
	Off  string
	// ByHand tells that a person may run it even while it is off.
	ByHand bool
	// Limit is when a run is stopped, and counts as failed.
	Limit time.Duration
	// Run does it, and says in a line what was done. It ends soon after ctx.
	Run func(ctx context.Context) (outcome string, err error)
}

// Deps is what jobs work with.
type Deps struct {
	Store   *store.Store
	Billing *billing.Service // nil = nothing is sold
	Feeds   configs.Feeds
	Contact string           // told to the lotteries' servers: our own address
	Mail    bool             // mails are sent
	Now     func() time.Time // nil = time.Now
	Log     *slog.Logger
	Through func(http.RoundTripper) http.RoundTripper // what feeds are fetched through; nil = directly
}

// All is every job there is.
func All(d Deps) []Job {
	if d.Now == nil {
		d.Now = time.Now
	}
	return []Job{syncJob(&d), reconcileJob(&d), keyExpiryJob(&d), cleanupJob(&d)}
}

// Find is the job of that name.
func Find(list []Job, name string) (Job, bool) {
	for _, j := range list {
		if j.Name == name {
			return j, true
		}
	}
	return Job{}, false
}

// Names is the jobs' names.
func Names() []string {
	list := All(Deps{})
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// Next is when j runs next by the clock; the zero time if it does not.
func (j *Job) Next(after time.Time) time.Time {
	if j.When == "" {
		return time.Time{}
	}
	when, err := cron.ParseStandard(j.When)
	if err != nil { // configs refuses what cannot be read
		return time.Time{}
	}
	return when.Next(after.UTC())
}

const (
	// cutOffTries is how often in a row a job is begun anew at once after it was cut off; then it waits for its hour,
	// since it may be what kills the nodes.
	cutOffTries = 3
	// firstRetry is when a failed run is tried again, if its hour does not come before; every failure doubles it.
	firstRetry = 10 * time.Minute
	mostRetry  = 6 * time.Hour
	// clocksApart is how far the clocks of nodes may be apart; `lotteryadmin doctor` complains of more.
	clocksApart = time.Minute
)

// due tells whether j should run at now. A last run that is not finished counts as cut off: whether it is rather going
// on, its lease tells. nil = it never ran. The times are compared with its own hours: nodes of the release before note
// them by their own clocks, which may differ.
func (j *Job) due(last *models.JobRun, now time.Time) bool {
	if j.When == "" {
		return false
	}
	if last == nil || j.ahead(last, now) || (last.FinishedAt == nil && last.CutOffs < cutOffTries) {
		return true
	}
	if last.Failed && last.FinishedAt != nil {
		wait := min(firstRetry<<min(max(last.Failures-1, 0), 10), mostRetry)
		if !now.Before(last.FinishedAt.Add(wait)) {
			return true
		}
	}
	next := j.Next(last.StartedAt)
	return !next.IsZero() && !next.After(now)
}

// ahead tells whether a run is noted for a time that has not come, later than at the next hour of j: by a clock that was
// wrong then. It says nothing of when j ran, and would keep j from running until that time.
func (j *Job) ahead(last *models.JobRun, now time.Time) bool {
	next := j.Next(now)
	return !next.IsZero() && last.StartedAt.After(next.Add(clocksApart))
}
