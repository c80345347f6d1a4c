package quota_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// told collects the warnings passed to Notify.
type told struct {
	mu   sync.Mutex
	list []string
}

func (l *told) notify(_ context.Context, w quota.Warning) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, fmt.Sprintf("%s %s %d of %d", w.AccountID, w.Day, w.Percent, w.Limit))
}

func (l *told) sorted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.list)
	slices.Sort(list)
	return list
}

func watcher(t *testing.T, st *store.Store, clock *hands, to *told) *quota.Warnings {
	t.Helper()
	w := quota.NewWarnings(st, clock.now, slog.New(slog.DiscardHandler))
	w.Notify = to.notify
	run(t, w.Run)
	return w
}

func TestWarningsOncePerDayOverAllNodes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		clock, got := nearMidnight(), &told{}
		nodes := []*quota.Warnings{watcher(t, st, clock, got), watcher(t, st, clock, got), watcher(t, st, clock, got)}
		all := func(account string, limit, from, to int64) {
			for used := from; used <= to; used++ {
				for _, w := range nodes {
					w.Check(account, models.DateOf(clock.now()), limit, used)
				}
			}
		}
		waitFor := func(want ...string) {
			t.Helper()
			storetest.Until(t, fmt.Sprint(want), func() bool { return len(got.sorted()) >= len(want) })
			if list := got.sorted(); !slices.Equal(list, want) {
				t.Fatalf("told %q\nwant %q", list, want)
			}
		}
		all("quiet", 100, 0, 79)
		all("none", 0, 0, 3) // limit 0: every request is refused, which is no news
		all("busy", 100, 1, 99)
		waitFor("busy 2026-04-01 80 of 100")
		all("busy", 100, 99, 105) // past the limit after a downgrade
		all("one", 1, 1, 1)
		waitFor("busy 2026-04-01 100 of 100", "busy 2026-04-01 80 of 100", "one 2026-04-01 100 of 1")
		all("busy", 100, 80, 100)
		all("busy", 10_000, 106, 8000) // upgraded
		waitFor("busy 2026-04-01 100 of 100", "busy 2026-04-01 80 of 100", "busy 2026-04-01 80 of 10000", "one 2026-04-01 100 of 1")
		all("busy", 100, 106, 8000) // as a node sees it that has yet to learn of the upgrade
		all("busy", 10_000, 8001, 9000)
		all("busy", 5000, 9001, 9001) // downgraded, and nothing is left
		waitFor("busy 2026-04-01 100 of 100", "busy 2026-04-01 100 of 5000", "busy 2026-04-01 80 of 100", "busy 2026-04-01 80 of 10000", "one 2026-04-01 100 of 1")
		clock.move(time.Second)
		all("busy", 10_000, 1, 8000)
		waitFor("busy 2026-04-01 100 of 100", "busy 2026-04-01 100 of 5000", "busy 2026-04-01 80 of 100", "busy 2026-04-01 80 of 10000",
			"busy 2026-04-02 80 of 10000", "one 2026-04-01 100 of 1")
	})
}

func TestWarningsWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	st := storetest.OpenURL(t, server.NewDatabase(t), store.Options{})
	clock, got := nearMidnight(), &told{}
	w := watcher(t, st, clock, got)
	server.Stop()
	w.Check("a", april, 100, 80)
	w.Check("b", april, 100, 100)
	server.Start(t)
	storetest.Until(t, "the warnings", func() bool { return len(got.sorted()) == 2 })
}

func BenchmarkCheck(b *testing.B) {
	w := quota.NewWarnings(nil, time.Now, slog.New(slog.DiscardHandler))
	for name, used := range map[string]int64{"below": 10, "above": 90} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.Check("acc_0123456789abcdefghij", april, 100, used)
			}
		})
	}
}

// A database that hangs is asked again: one hanging connection does not block warnings.
func TestWarningsWithADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{Patience: 100 * time.Millisecond})
	logged := make(chan string, 9)
	w := quota.NewWarnings(st, time.Now, slog.New(slog.NewTextHandler(lines(logged), nil)))
	storetest.Lock(t, url, "usage_warnings")
	run(t, w.Run)
	w.Check("acc-1", models.DateOf(time.Now().UTC()), 100, 100)
	select {
	case line := <-logged:
		if !strings.Contains(line, "warnings about daily limits wait for the database") {
			t.Error(line)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for the connection that hangs")
	}
}

// lines is a writer that sends each write to a channel.
type lines chan<- string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// A warning that outlived its day is dropped: the account has a full quota again.
func TestWarningsOfYesterdayAreNotTold(t *testing.T) {
	t.Parallel()
	clock, got := nearMidnight(), &told{}
	w := quota.NewWarnings(storetest.OpenURL(t, storetest.URL(t), store.Options{Now: clock.now}), clock.now, slog.New(slog.DiscardHandler))
	w.Notify = got.notify
	w.Check("late", april, 100, 80)
	clock.move(2 * time.Second)
	w.Check("new", april+1, 100, 80)
	run(t, w.Run)
	storetest.Until(t, "a warning", func() bool { return len(got.sorted()) > 0 })
	if list := got.sorted(); !slices.Equal(list, []string{"new " + (april + 1).String() + " 80 of 100"}) {
		t.Errorf("told %q", list)
	}
}
