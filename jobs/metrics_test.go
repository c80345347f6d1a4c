package jobs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"lottery/configs"
	"lottery/jobs"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A job's last success and failures are exported by a node that never ran it. For a job that once ran but is off now
// they are not: an alert on them would never end.
func TestMetricsAreOfJobsThatAreOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := storetest.Open(t)
		nothing := func(context.Context) (string, error) { return "", nil }
		on := jobs.Job{Name: "on", When: yearly, Limit: time.Minute, Run: nothing}
		off := jobs.Job{Name: "off", When: yearly, Limit: time.Minute, Run: nothing}
		for _, j := range []*jobs.Job{&on, &off} {
			if err := runDue(t, &jobs.Runner{Store: st, Node: "a", Log: quietly}, j, true); err != nil {
				t.Fatal(err)
			}
		}
		ill := jobs.Job{Name: "ill", When: yearly, Limit: time.Minute, Run: func(context.Context) (string, error) { return "", errors.New("no") }}
		for range 2 {
			if err := runDue(t, &jobs.Runner{Store: st, Node: "a", Log: quietly}, &ill, true); err == nil {
				t.Fatal("it succeeded")
			}
			time.Sleep(15 * time.Minute)
		}
		off.When, off.Off = "", "nothing is sold"
		list := []jobs.Job{on, off, ill}
		metrics, shown := jobs.NewMetrics(list), prometheus.NewRegistry()
		metrics.Register(shown)
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		if err := (&jobs.Schedule{Jobs: list, Runner: &jobs.Runner{Store: st, Node: "b", Log: quietly, Metrics: metrics}}).Run(ctx); err != nil {
			t.Error(err)
		}
		if err := testutil.GatherAndCompare(shown, strings.NewReader(`
# HELP lottery_job_last_success_timestamp_seconds When a job last succeeded, on any node; absent if it never did, or is off.
# TYPE lottery_job_last_success_timestamp_seconds gauge
lottery_job_last_success_timestamp_seconds{job="on"} 9.466848e+08
# HELP lottery_job_consecutive_failures How often in a row a job failed or was cut off, on any node; absent if it is off.
# TYPE lottery_job_consecutive_failures gauge
lottery_job_consecutive_failures{job="ill"} 2
lottery_job_consecutive_failures{job="on"} 0
`), "lottery_job_last_success_timestamp_seconds", "lottery_job_consecutive_failures"); err != nil {
			t.Error(err)
		}
	})
}

// An operator's confirmation of a draw changes nothing that is served: no alert may say that a node serves old draws.
func TestConfirmedDrawIsNotStale(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var live catalog.Live
		refresh := &jobs.Refresher{Store: st, Live: &live, Log: quietly}
		shown := prometheus.NewRegistry()
		shown.MustRegister(jobs.NewStoredMetrics(st, &live, configs.Feeds{}, time.Now))
		draw := store.OperatorDraw{Slot: models.Slot{GameID: "ny-numbers", Date: models.NewDate(2024, 1, 2), Tod: models.Evening, Sequence: 1}, Number: "013"}
		for _, reason := range []string{"a newspaper", "and the lottery's letter"} {
			draw.Reason = reason
			if _, err := st.SetDraw(t.Context(), draw); err != nil {
				t.Fatal(err)
			}
			if err := refresh.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		stored, err := st.DataVersion(t.Context())
		if err != nil || stored.Number == live.Load().Version().Number {
			t.Fatalf("the second word moved no number: %+v %v", stored, err)
		}
		families, err := shown.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "lottery_database_data_version" {
				if got := int64(f.GetMetric()[0].GetGauge().GetValue()); got != live.Load().Version().Number {
					t.Errorf("the database is at %d, and what is served at %d", got, live.Load().Version().Number)
				}
				return
			}
		}
		t.Error("no lottery_database_data_version")
	})
}

// A URL that was replaced no longer counts as failing, whatever its last result.
func TestFeedMovedAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	b.set(va3, virginia(20, "0,3,4"))
	old := b.sync.Feeds
	old.VirginiaURL += "-before"
	failing := func(feeds configs.Feeds) (addresses float64) {
		t.Helper()
		b.sync.Feeds = feeds
		b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia})
		shown := prometheus.NewRegistry()
		shown.MustRegister(jobs.NewStoredMetrics(b.store, &catalog.Live{}, feeds, time.Now))
		families, err := shown.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "lottery_feed_failing_addresses" {
				return f.GetMetric()[0].GetGauge().GetValue()
			}
		}
		t.Fatal("no lottery_feed_failing_addresses")
		return 0
	}
	now := b.sync.Feeds
	if n := failing(old); n != 2 {
		t.Errorf("before it was replaced: %v", n)
	}
	if n := failing(now); n != 0 {
		t.Errorf("afterwards: %v", n)
	}
}
