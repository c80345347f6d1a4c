package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lottery/jobs"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Two nodes run each job once at each of its scheduled times, and never both at the same time.
func TestScheduleOfTwoNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		url := storetest.URL(t)
		var running, often atomic.Int64
		var mu sync.Mutex
		var hours []string
		var told bytes.Buffer
		log := slog.New(slog.NewTextHandler(&told, nil))
		list := []jobs.Job{
			{Name: "tick", When: "*/5 * * * *", Limit: time.Minute, Run: func(context.Context) (string, error) {
				if running.Add(1) > 1 {
					t.Error("it runs twice")
				}
				time.Sleep(30 * time.Second) // longer than a lease that is not renewed
				defer running.Add(-1)
				mu.Lock()
				defer mu.Unlock()
				hours = append(hours, time.Now().UTC().Format("15:04"))
				return "", nil
			}},
			{Name: "fails", When: "0 0 1 1 *", Limit: time.Minute, Run: func(context.Context) (string, error) {
				often.Add(1)
				return "", errors.New("as always")
			}},
			{Name: "off", Limit: time.Minute, Run: func(context.Context) (string, error) {
				t.Error("it is off")
				return "", nil
			}},
		}
		ctx, stop := context.WithCancel(t.Context())
		time.Sleep(time.Minute) // now it is a minute past the hour
		var wg sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			schedule := &jobs.Schedule{Jobs: list, Runner: &jobs.Runner{Store: storetest.OpenURL(t, url, store.Options{}), Node: name, Log: log}}
			wg.Go(func() {
				if err := schedule.Run(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(28 * time.Minute)
		stop()
		wg.Wait()
		// The first run is immediate, since the job never ran.
		want := []string{"00:01", "00:05", "00:10", "00:15", "00:20", "00:25"}
		if len(hours) != len(want) {
			t.Fatalf("it ran at %v", hours)
		}
		for i := range want {
			if hours[i] != want[i] {
				t.Errorf("it ran at %v", hours)
			}
		}
		if n := often.Load(); n != 2 { // and after ten minutes; the next would be after twenty more
			t.Errorf("what fails was tried %d times", n)
		}
		for text, want := range map[string]int{"a job is done": len(hours), "level=WARN msg=\"a job failed; it is tried again\"": 2, "cannot be run now": 0, "it can be seen again": 0} {
			if n := strings.Count(told.String(), text); n != want {
				t.Errorf("%q is logged %d times, want %d:\n%s", text, n, want, &told)
			}
		}
	})
}

// A run that loses its lease, whatever the reason, is stopped, and does not overwrite what its successor records.
func TestLostLeaseStopsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		url := storetest.URL(t)
		mine := storetest.OpenURL(t, url, store.Options{})
		later := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
		var cause error
		j := jobs.Job{Name: "slow", When: yearly, Limit: time.Hour, Run: func(ctx context.Context) (string, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return "", ctx.Err()
		}}
		heir := j
		heir.Run = func(context.Context) (string, error) { return "by the heir", nil }
		var wg sync.WaitGroup
		began := time.Now()
		wg.Go(func() {
			if _, err := (&jobs.Runner{Store: mine, Node: "a", Log: quietly}).RunDue(t.Context(), &j); err == nil {
				t.Error("nothing was wrong")
			}
		})
		synctest.Wait()
		if err := runDue(t, &jobs.Runner{Store: later, Node: "b", Log: quietly}, &heir, true); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if cause == nil || time.Since(began) > 20*time.Second {
			t.Errorf("stopped after %s: %v", time.Since(began), cause)
		}
		if got := lastRun(t, &jobs.Runner{Store: mine}, "slow"); got.Outcome != "by the heir" || got.Node != "b" {
			t.Errorf("%+v", got)
		}
	})
}

// Shutting down waits for a job that is slow to stop, and nothing more is started.
func TestScheduleEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun, ended atomic.Int64
		list := []jobs.Job{{Name: "slow", When: "* * * * *", Limit: time.Hour, Run: func(ctx context.Context) (string, error) {
			begun.Add(1)
			<-ctx.Done()
			time.Sleep(5 * time.Second)
			ended.Add(1)
			return "", ctx.Err()
		}}}
		st := storetest.Open(t)
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute-time.Second, stop) // its next scheduled time comes while it is slow to stop
		began := time.Now()
		if err := (&jobs.Schedule{Jobs: list, Runner: &jobs.Runner{Store: st, Node: "a", Log: quietly}}).Run(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); begun.Load() != 1 || ended.Load() != 1 || took < 64*time.Second {
			t.Errorf("%d begun, %d ended, after %s", begun.Load(), ended.Load(), took)
		}
	})
}
