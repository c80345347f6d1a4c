package store

import (
	"context"
	"slices"
	"time"

	"lottery/models"
)

// How long things are kept; docs/decisions/0012-jobs.md says why.
const (
	eventsKept   = 90 * 24 * time.Hour // finished Stripe events: Stripe resends one for a month at most
	recordsKept  = 400 * 24 * time.Hour
	countersKept = 8 // days, and the newest ones that have counters, whatever the clock says
	leasesKept   = 24 * time.Hour
	auditKept    = 4 * 365 * 24 * time.Hour
)

// CleanedUp is how many rows of a kind Cleanup deleted.
type CleanedUp struct {
	What string
	Rows int64
}

// stale describes expired rows; see pruning.
type stale struct {
	what, table, key, age string
	where                 string
	args                  []any
}

// stale returns what has expired at now, which is no later than Clock's time: a node whose own clock is ahead must not
// delete today's counters, which would restart everybody's quota. counters is where those begin that are kept.
func (s *Store) stale(now time.Time, counters int64) []stale {
	today := models.DateOf(now)
	clock := s.nowMicros()
	return []stale{
		{"sessions", "sessions", "id", "last_seen_at", "last_seen_at < ?", []any{now.Add(-models.SessionIdle)}},
		{"sign-in links", "links", "id", "created_at", "created_at < ?", []any{now.Add(-linksKept)}},
		{"closed addresses", "departures", "account_id", "day", "day < ?", []any{today - 1}},
		{"events", "stripe_events", "id", "received_at", "state NOT IN (?, ?) AND received_at < ?", []any{models.EventPending, models.EventFailed, now.Add(-eventsKept)}},
		{"failed events", "stripe_events", "id", "received_at", "state <> ? AND received_at < ?", []any{models.EventPending, now.Add(-recordsKept)}},
		{"mails", "mails", "id", "created_at", "(sent_at IS NOT NULL OR failed_at IS NOT NULL) AND created_at < ?", []any{now.Add(-recordsKept)}},
		{"counters", "quota_counters", "account_id, period_start", "period_start", "period_start < ?", []any{counters}},
		{"locks", "leases", "name", "name", "until_us < ? - ? OR until_us > ? + ?", []any{clock, leasesKept.Microseconds(), clock, leasesKept.Microseconds()}},
		{"import runs", "import_runs", "id", "finished_at", "finished_at < ? AND " + s.outdatedRun(), []any{now.Add(-recordsKept)}},
		{"job runs", "job_runs", "job", "job", "started_at < ?", []any{now.Add(-recordsKept)}},
		{"audit entries", "audit_entries", "id", "at", "at < ?", []any{now.Add(-auditKept)}},
	}
}

// Cleanup deletes expired rows, in portions that block others only briefly. What it did before ctx ended or the
// database failed stays done. It does not handle counted requests; PruneUsage does.
func (s *Store) Cleanup(ctx context.Context) ([]CleanedUp, error) {
	if err := s.compactQuota(ctx); err != nil {
		return nil, err
	}
	now, err := s.earlier(s.reader(ctx))
	if err != nil {
		return nil, err
	}
	counters, err := s.countersFrom(ctx, models.DateOf(now))
	if err != nil {
		return nil, err
	}
	portion := int64(prunedRows)
	if s.dialect == Postgres { // nobody waits, and each portion of the counters, which have no index by age, reads all of them
		portion = 20_000
	}
	var gone []CleanedUp
	for _, old := range s.stale(now, counters) {
		g := CleanedUp{What: old.what}
		for {
			done := s.writer(ctx).Exec(pruning(old.table, old.key, old.where, old.age, portion), old.args...)
			if done.Error != nil {
				return append(gone, g), translate(done.Error)
			}
			g.Rows += done.RowsAffected
			if done.RowsAffected < portion {
				break
			}
		}
		gone = append(gone, g)
	}
	return gone, nil
}

// countersFrom returns where the counters begin that are kept, in Unix seconds. The newest days that have counters stay
// even if they seem to be old: if Clock is ahead, their day may run again, and its counts must still be there.
func (s *Store) countersFrom(ctx context.Context, today models.Date) (int64, error) {
	var starts []int64
	err := s.reader(ctx).Table("quota_counters").Distinct("period_start").Order("period_start DESC").Limit(countersKept+1).Pluck("period_start", &starts).Error
	if err != nil {
		return 0, unavailable(err)
	}
	return slices.Min(append(starts, (today - countersKept).Time().Unix())), nil
}
