// Package jobs is what the server does on its own, besides answering requests: the jobs (Job), their schedule and the
// lease for who runs one (Schedule, Runner); fetching the lotteries' feeds (Sync); keeping the index in memory as new as
// the database (Refresher); the demo's draws; and the metrics of all these.
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

// Job is something that the servers do on their own, on one node at a time. It must tolerate being done twice: a run
// that was cut off is started again.
type Job struct {
	Name string
	What string // one line for people
	When string // a cron expression, in UTC; "" = never by itself, and Off says why
	Off  string
	// ByHand is set if a person may run the job even while it is off.
	ByHand bool
	// Limit is how long a run may take; a longer one is stopped and counts as failed.
	Limit time.Duration
	// Run does the work and returns one line about what was done. It must return soon after ctx ends.
	Run func(ctx context.Context) (outcome string, err error)
}

// Deps is what jobs need.
type Deps struct {
	Store   *store.Store
	Billing *billing.Service // nil = nothing is sold
	Feeds   configs.Feeds
	Contact string           // sent to the lotteries' servers: our own address
	Mail    bool             // mails are sent
	Now     func() time.Time // nil = time.Now
	Log     *slog.Logger
	Through func(http.RoundTripper) http.RoundTripper // wraps the transport that fetches feeds; nil = no wrapping
}

// All returns every job.
func All(d Deps) []Job {
	return []Job{syncJob(&d), reconcileJob(&d), keyExpiryJob(&d), cleanupJob(&d)}
}

// Find returns the job with that name.
func Find(list []Job, name string) (Job, bool) {
	for _, j := range list {
		if j.Name == name {
			return j, true
		}
	}
	return Job{}, false
}

// Names returns the jobs' names.
func Names() []string {
	list := All(Deps{})
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// Next returns when j is scheduled to run next; the zero time if never.
func (j *Job) Next(after time.Time) time.Time {
	if j.When == "" {
		return time.Time{}
	}
	when, err := cron.ParseStandard(j.When)
	if err != nil { // cannot happen: configs refuses a bad expression
		return time.Time{}
	}
	return when.Next(after.UTC())
}

const (
	// cutOffTries is how often in a row a job that was cut off is restarted immediately. After that it waits for its
	// scheduled time: the job may be what kills the nodes.
	cutOffTries = 3
	// firstRetry is how soon a failed run is retried, unless its scheduled time comes first; it doubles with every
	// failure.
	firstRetry = 10 * time.Minute
	mostRetry  = 6 * time.Hour
)

// due reports whether j should run at now. An unfinished last run counts as cut off, since j's lease, not due, shows
// whether it is still running. last is nil if j never ran. Times are compared with j's own schedule, because nodes of
// the previous release record them by their own clocks, which may differ.
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

// ahead reports whether a run is recorded for a future time, later than j's next scheduled one, because a clock was
// wrong. Such a record does not tell when j ran, and would keep j from running until then.
func (j *Job) ahead(last *models.JobRun, now time.Time) bool {
	next := j.Next(now)
	return !next.IsZero() && last.StartedAt.After(next.Add(store.ClocksApart))
}
