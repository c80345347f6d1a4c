package jobs

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// The machine's clock was ahead and is set back: for gocron, none of its times come. Jobs go on at theirs.
func TestScheduleGoesOnWithoutGocronsClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran, hours atomic.Int64
		began := time.Now()
		schedule := &Schedule{
			Jobs: []Job{{Name: "tick", When: "0 * * * *", Limit: time.Minute, Run: func(context.Context) (string, error) {
				ran.Add(1)
				return "", nil
			}}},
			Runner: &Runner{
				Store: storetest.OpenURL(t, storetest.URL(t), store.Options{}), Node: "a", Log: slog.New(slog.DiscardHandler),
				Now: func() time.Time { return began.Add(time.Duration(hours.Load()) * time.Hour) },
			},
			gocron: []gocron.SchedulerOption{gocron.WithClock(clockwork.NewFakeClockAt(began.AddDate(1, 0, 0)))},
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- schedule.Run(ctx) }()
		for range 3 {
			time.Sleep(2 * lookEvery)
			hours.Add(1)
		}
		time.Sleep(2 * lookEvery)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := ran.Load(); n != 4 {
			t.Errorf("it ran %d times in three hours, want at once and every hour", n)
		}
	})
}

// If it cannot be seen which jobs are due, the log says when that begins and when it ends, not at every look.
func TestLooksInVainAreToldOnce(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	var log bytes.Buffer
	l := &looker{schedule: &Schedule{Runner: &Runner{
		Store: storetest.OpenURL(t, url, store.Options{}), Node: "a", Log: slog.New(slog.NewTextHandler(&log, nil)),
	}}}
	for _, change := range []string{"SELECT 1", "ALTER TABLE job_runs RENAME TO away", "ALTER TABLE away RENAME TO job_runs"} {
		storetest.Exec(t, url, change)
		for range 3 {
			l.look(t.Context())
		}
	}
	begun, ended := strings.Count(log.String(), "cannot be seen which jobs are due"), strings.Count(log.String(), "can be seen again which jobs are due")
	if begun != 1 || ended != 1 {
		t.Errorf("told %d times, and its end %d times:\n%s", begun, ended, &log)
	}
}
