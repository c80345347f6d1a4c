package jobs_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"lottery/jobs"
	"lottery/models/store/storetest"
)

// A job that ran once and is off now has no last success: an alert on its age would never end.
func TestMetricsLeaveOutJobsThatAreOff(t *testing.T) {
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
		off.When, off.Off = "", "nothing is sold"
		list := []jobs.Job{on, off}
		metrics, shown := jobs.NewMetrics(list), prometheus.NewRegistry()
		metrics.Register(shown)
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		if err := (&jobs.Schedule{Jobs: list, Runner: &jobs.Runner{Store: st, Node: "b", Log: quietly, Metrics: metrics}}).Run(ctx); err != nil {
			t.Error(err)
		}
		if err := testutil.GatherAndCompare(shown, strings.NewReader(`
# HELP lottery_job_last_success_timestamp_seconds When a job last succeeded, on whichever node; absent if it never did, or is off.
# TYPE lottery_job_last_success_timestamp_seconds gauge
lottery_job_last_success_timestamp_seconds{job="on"} 9.466848e+08
`), "lottery_job_last_success_timestamp_seconds"); err != nil {
			t.Error(err)
		}
	})
}
