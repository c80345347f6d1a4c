package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/configs"
	"lottery/jobs"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// What alerts watch: of each feed its best address and how many fail, of each queue how much waits, since when, and what
// was given up. The database is read again after a quarter of a minute.
func TestStoredMetrics(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	now := noon
	clock := func() time.Time { return now }
	url := storetest.URL(t)
	st, db := storetest.OpenURL(t, url, store.Options{Now: clock}), storetest.SQL(t, url)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	change := func(statement string, args ...any) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), statement, args...)
		ok(err)
	}
	ago := func(minutes int) *time.Time {
		at := noon.Add(-time.Duration(minutes) * time.Minute)
		return &at
	}
	feeds := configs.Feeds{NYURL: "https://ny", VirginiaURL: "https://va"}
	for _, src := range []models.FeedSource{
		{Feed: models.FeedVirginia, Address: "https://va?gameId=1040", CheckedAt: ago(5), SucceededAt: ago(5)},
		{Feed: models.FeedVirginia, Address: "https://va?gameId=1050", CheckedAt: ago(4), SucceededAt: ago(90), Error: "404"},
		{Feed: models.FeedNYOpenData, Address: "https://ny", CheckedAt: ago(3), Error: "it shrank"},
	} {
		ok(st.SaveFeedSource(t.Context(), src))
	}
	for _, e := range []struct {
		id      string
		state   models.EventState
		minutes int
	}{{"evt_1", models.EventPending, 7}, {"evt_2", models.EventPending, 8}, {"evt_3", models.EventFailed, 9}, {"evt_4", models.EventDone, 10}} {
		now = *ago(e.minutes)
		_, err := st.AddEvent(t.Context(), models.StripeEvent{ID: e.id, Type: "invoice.paid", State: e.state, CreatedAt: now})
		ok(err)
	}
	now = noon
	for _, m := range []struct {
		name         string
		created      *time.Time
		sent, failed *time.Time
	}{{"a", ago(30), nil, nil}, {"b", ago(20), nil, nil}, {"c", ago(40), ago(39), nil}, {"d", ago(50), nil, ago(49)}, {"e", ago(51), nil, ago(49)}, {"f", ago(1), nil, nil}} {
		change("INSERT INTO mails (account_id, kind, once, created_at, next_at, sent_at, failed_at) VALUES ('acc_1', 'x', ?, ?, ?, ?, ?)", m.name, m.created, m.created, m.sent, m.failed)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(jobs.NewStoredMetrics(st, &catalog.Live{}, feeds, clock))
	shows := func(when string, want map[string]float64) {
		t.Helper()
		families, err := registry.Gather()
		ok(err)
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := strings.TrimPrefix(f.GetName(), "lottery_")
				for _, label := range m.GetLabel() {
					name += " " + label.GetValue()
				}
				got[name] = m.GetGauge().GetValue()
			}
		}
		for name, value := range want {
			if now, found := got[name]; !found || now != value {
				t.Errorf("%s: %s is %v, want %v", when, name, now, value)
			}
		}
		if _, found := got["feed_last_success_timestamp_seconds ny-open-data"]; found {
			t.Errorf("%s: a success of a feed that never had one", when)
		}
	}
	before := map[string]float64{
		"database_up": 1, "feed_last_success_timestamp_seconds va-lottery": float64(ago(5).Unix()),
		"feed_last_check_timestamp_seconds va-lottery": float64(ago(4).Unix()), "feed_last_check_timestamp_seconds ny-open-data": float64(ago(3).Unix()),
		"feed_failing_addresses va-lottery": 1, "feed_failing_addresses ny-open-data": 1,
		"webhook_inbox_waiting": 2, "webhook_inbox_oldest_seconds": 480, "webhook_inbox_dead": 1,
		"outbox_waiting": 3, "outbox_oldest_seconds": 1800, "outbox_dead": 2,
	}
	shows("at noon", before)
	change("UPDATE mails SET sent_at = ? WHERE failed_at IS NULL", noon)
	now = noon.Add(14 * time.Second)
	shows("soon after", before)
	now = noon.Add(15 * time.Second)
	shows("when all are sent", map[string]float64{"outbox_waiting": 0, "outbox_oldest_seconds": 0})
	change("UPDATE mails SET sent_at = NULL, created_at = ?", noon.Add(time.Hour))
	now = noon.Add(30 * time.Second)
	shows("written by a clock that is ahead", map[string]float64{"outbox_waiting": 4, "outbox_oldest_seconds": 0})
}
