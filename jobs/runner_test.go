package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"lottery/jobs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

var quietly = slog.New(slog.DiscardHandler)

// twoNodes runs test with two nodes on one database.
func twoNodes(t *testing.T, test func(t *testing.T, a, b *jobs.Runner)) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		node := func(name string) *jobs.Runner {
			return &jobs.Runner{Store: storetest.OpenURL(t, url, store.Options{}), Node: name, Log: quietly}
		}
		test(t, node("a"), node("b"))
	})
}

func runDue(t *testing.T, r *jobs.Runner, j *jobs.Job, want bool) error {
	t.Helper()
	ran, err := r.RunDue(t.Context(), j)
	if ran != want {
		t.Fatalf("%s on %s: ran %v (%v)", j.Name, r.Node, ran, err)
	}
	return err
}

func lastRun(t *testing.T, r *jobs.Runner, job string) *models.JobRun {
	t.Helper()
	runs, err := r.Store.JobRuns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := runs[job]
	if last == nil {
		t.Fatalf("%s never ran", job)
	}
	return last
}

const yearly = "0 0 1 1 *"

// While one node runs a job, no other does; afterwards all know how it went.
func TestOneNodeRuns(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *jobs.Runner) {
		begun, end := make(chan struct{}), make(chan struct{})
		j := jobs.Job{Name: "long", When: yearly, Limit: time.Hour, Run: func(context.Context) (string, error) {
			close(begun)
			<-end
			return "all is well", nil
		}}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := a.RunDue(t.Context(), &j); err != nil {
				t.Error(err)
			}
		})
		<-begun
		_ = runDue(t, b, &j, false)
		_, err := b.RunByHand(t.Context(), &j)
		if models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "on node a") {
			t.Errorf("by hand: %v", err)
		}
		if got := lastRun(t, b, "long"); got.FinishedAt != nil || got.Node != "a" {
			t.Errorf("while it runs: %+v", got)
		}
		close(end)
		wg.Wait()
		got := lastRun(t, b, "long")
		if got.FinishedAt == nil || got.Outcome != "all is well" || got.Failed || got.Failures != 0 || got.SucceededAt == nil {
			t.Errorf("afterwards: %+v", got)
		}
		_ = runDue(t, b, &j, false) // it is not due
	})
}

// Failures are counted and recorded, and a job that panics does not bring down the server.
func TestFailedRuns(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *jobs.Runner) {
		var fault error
		j := jobs.Job{Name: "frail", When: yearly, Limit: time.Hour, Run: func(ctx context.Context) (string, error) {
			switch {
			case fault == nil:
				return "fine", nil
			case fault.Error() == "panic":
				panic("nobody expected this")
			case errors.Is(fault, context.DeadlineExceeded):
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "half of it", fault
		}}
		by := func(r *jobs.Runner, want string, failures int) {
			t.Helper()
			run, err := r.RunByHand(t.Context(), &j)
			if (err != nil) != (failures > 0) {
				t.Errorf("%s: %v", want, err)
			}
			got := lastRun(t, b, "frail")
			if got.FinishedAt == nil || !strings.Contains(got.Outcome, want) || got.Failed != (failures > 0) || got.Failures != failures || run.Outcome != got.Outcome || strings.HasPrefix(got.Outcome, ";") {
				t.Errorf("%s: %+v", want, got)
			}
			if got.SucceededAt == nil {
				t.Errorf("%s: it is forgotten that it succeeded once", want)
			}
		}
		by(a, "fine", 0)
		fault = errors.New("no bread")
		by(a, "half of it; no bread", 1)
		fault = errors.New("panic")
		by(b, "nobody expected this", 2)
		fault = context.DeadlineExceeded
		j.Limit = time.Millisecond
		by(a, "took too long", 3)
		fault = errors.New("-" + strings.Repeat("ü", 1000)) // its 500th byte is inside a character
		by(a, "-üü", 4)
		if noted := lastRun(t, a, "frail").Outcome; len(noted) > 510 || !utf8.ValidString(noted) {
			t.Errorf("%d bytes are noted: %q", len(noted), noted)
		}
		fault = nil
		by(b, "fine", 0)
	})
}

// A run whose node died is restarted by another: immediately, but not for ever.
func TestKilledRun(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *jobs.Runner) {
		runs := 0
		cutOffs := 0 // those before the run that is under way
		j := jobs.Job{Name: "victim", When: yearly, Limit: time.Hour, Run: func(context.Context) (string, error) {
			runs++
			cutOffs = lastRun(t, a, "victim").CutOffs
			return "done", nil
		}}
		die := func(before models.JobRun) { // as a killed node leaves it
			t.Helper()
			l, ok, err := a.Store.TryLease(t.Context(), "job:victim", time.Minute)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			before.Job, before.Node, before.StartedAt = "victim", "a", time.Now().UTC().Truncate(time.Microsecond)
			if err := a.Store.SaveJobRun(t.Context(), l, before); err != nil {
				t.Fatal(err)
			}
			_ = runDue(t, b, &j, false) // while the dead node's lease lasts
			if err := a.Store.EndLease(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		die(models.JobRun{})
		if err := runDue(t, b, &j, true); err != nil || runs != 1 || cutOffs != 1 {
			t.Fatal(runs, err, cutOffs)
		}
		if got := lastRun(t, a, "victim"); got.Node != "b" || got.FinishedAt == nil || got.Failures != 0 {
			t.Errorf("%+v", got)
		}
		die(models.JobRun{Failures: 2, CutOffs: 2})
		if err := runDue(t, b, &j, true); err != nil || cutOffs != 3 { // if its node dies, too, three have
			t.Fatal(err, cutOffs)
		}
		die(models.JobRun{Failures: 3, CutOffs: 3})
		_ = runDue(t, b, &j, false) // three nodes died: it waits for its scheduled time
		if _, err := b.RunByHand(t.Context(), &j); err != nil || runs != 3 {
			t.Fatal(runs, err)
		}
		if got := lastRun(t, a, "victim"); got.Failures != 0 || got.CutOffs != 0 {
			t.Errorf("%+v", got)
		}
		die(models.JobRun{Failures: 5, CutOffs: 1}) // most runs failed, which does not mean that the job kills nodes
		j.Run = func(context.Context) (string, error) { return "", errors.New("no bread") }
		if err := runDue(t, b, &j, true); err == nil {
			t.Error("no error")
		}
		if got := lastRun(t, a, "victim"); got.Failures != 7 || got.CutOffs != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A node that stops cuts off its run, and another continues immediately.
func TestStoppedNode(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *jobs.Runner) {
		begun := make(chan struct{}, 2)
		j := jobs.Job{Name: "long", When: yearly, Limit: time.Hour, Run: func(ctx context.Context) (string, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		}}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = a.RunDue(ctx, &j) })
		<-begun
		stop()
		wg.Wait()
		if got := lastRun(t, b, "long"); got.FinishedAt != nil || !strings.Contains(got.Outcome, "cut off") || got.Failures != 0 {
			t.Errorf("%+v", got)
		}
		j.Run = func(context.Context) (string, error) { // being stopped counts neither as a failure nor as being killed
			if got := lastRun(t, a, "long"); got.Failures != 0 || got.CutOffs != 0 || got.Outcome != "" {
				t.Errorf("while it runs again: %+v", got)
			}
			return "done", nil
		}
		if err := runDue(t, b, &j, true); err != nil {
			t.Error(err)
		}
		if got := lastRun(t, b, "long"); got.Failures != 0 || got.Failed || got.Node != "b" {
			t.Errorf("%+v", got)
		}
	})
}

// A run that is done when its node is stopped is done.
func TestDoneWhenStopped(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *jobs.Runner) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		j := jobs.Job{Name: "quick", When: yearly, Limit: time.Hour, Run: func(context.Context) (string, error) {
			stop()
			return "done", nil
		}}
		if ran, err := a.RunDue(ctx, &j); !ran || err != nil {
			t.Error(ran, err)
		}
		if got := lastRun(t, b, "quick"); got.FinishedAt == nil || got.SucceededAt == nil || got.Outcome != "done" {
			t.Errorf("%+v", got)
		}
		_ = runDue(t, b, &j, false)
	})
}

// A run recorded while the clock was ahead keeps nobody from the job once the clock is right, and is reported.
func TestClockWasAhead(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		var log strings.Builder
		st := storetest.OpenURL(t, url, store.Options{})
		j := jobs.Job{Name: "hourly", When: "7 * * * *", Limit: time.Hour, Run: func(context.Context) (string, error) { return "done", nil }}
		ahead := &jobs.Runner{Store: st, Node: "a", Log: quietly, Now: func() time.Time { return time.Now().AddDate(1, 0, 0) }}
		_ = runDue(t, ahead, &j, true)
		mended := &jobs.Runner{Store: st, Node: "b", Log: slog.New(slog.NewTextHandler(&log, nil))}
		_ = runDue(t, mended, &j, true)
		if got := lastRun(t, mended, "hourly"); time.Until(got.StartedAt) > time.Minute || time.Until(*got.SucceededAt) > time.Minute {
			t.Errorf("%+v", got)
		}
		if !strings.Contains(log.String(), "noted for a time that has not come") {
			t.Error(log.String())
		}
		log.Reset()
		_ = runDue(t, mended, &j, false)
		if log.Len() > 0 {
			t.Error(log.String())
		}
	})
}

// Nodes on one PostgreSQL record runs by its clock: a node whose own clock is wrong neither runs a job too often nor
// keeps others from it.
func TestOneClock(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	const theirs = 3 * time.Hour // by how much PostgreSQL's clock is ahead of this machine's
	node := func(name string, ahead time.Duration) *jobs.Runner {
		now := func() time.Time { return time.Now().Add(ahead) }
		opts := store.Options{Now: now, Skew: func() time.Duration { return theirs }}
		return &jobs.Runner{Store: storetest.OpenURL(t, url, opts), Node: name, Log: quietly}
	}
	wrong, right := node("a", 30*time.Hour), node("b", 0)
	j := jobs.Job{Name: "yearly", When: yearly, Limit: time.Hour, Run: func(context.Context) (string, error) { return "done", nil }}
	_ = runDue(t, wrong, &j, true)
	if got := lastRun(t, right, "yearly"); (time.Until(got.StartedAt)-theirs).Abs() > time.Minute || (time.Until(*got.FinishedAt)-theirs).Abs() > time.Minute {
		t.Errorf("%+v", got)
	}
	_ = runDue(t, right, &j, false)
	_ = runDue(t, wrong, &j, false)
}
