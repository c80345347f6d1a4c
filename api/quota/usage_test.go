package quota_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// hands is a clock that tests set.
type hands struct {
	mu sync.Mutex
	at time.Time
}

func (h *hands) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hands) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

var april = models.NewDate(2026, time.April, 1)

func nearMidnight() *hands { return &hands{at: april.Time().Add(24*time.Hour - time.Second)} }

func usageOf(t *testing.T, st *store.Store, account string) (total int64) {
	t.Helper()
	days, err := st.UsageByDay(context.Background(), account, april-1000, april+1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range days {
		total += d.Requests
	}
	return total
}

func run(t *testing.T, f func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { f(ctx) })
	t.Cleanup(func() { cancel(); done.Wait() })
}

func TestUsageIsCountedByDayEndpointAndClass(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		u := quota.NewUsage(st, nearMidnight().now, slog.New(slog.DiscardHandler))
		for range 3 {
			u.Record("a", april, "/v1/games", 200)
		}
		u.Record("a", april, "/v1/games", 404)
		u.Record("b", april, "/v1/games", 304)
		u.Record("a", april+1, "/v1/stats", 200)
		if today, yesterday := u.Pending("a", april+1), u.Pending("a", april); today != 1 || yesterday != 4 {
			t.Errorf("pending: %d today, %d yesterday", today, yesterday)
		}
		for range 2 { // the second flush writes nothing again
			if err := u.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if n := u.Pending("a", april) + u.Pending("a", april+1); n != 0 {
			t.Errorf("%d pending after a flush", n)
		}
		u.Record("a", april+1, "/v1/games", 200)
		u.Record("a", april+1, "/v1/stats", 200)
		if err := u.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		days, err := st.UsageByDay(ctx, "a", april-1, april+1)
		if want := []store.DayUsage{{Day: april + 1, Requests: 3}, {Day: april, Requests: 4}}; err != nil || !reflect.DeepEqual(days, want) {
			t.Errorf("%v, %v; want %v", days, err, want)
		}
		endpoints, err := st.UsageByEndpoint(ctx, "a", april, april)
		if want := []store.EndpointUsage{{Endpoint: "/v1/games", Class: 2, Requests: 3}, {Endpoint: "/v1/games", Class: 4, Requests: 1}}; err != nil || !reflect.DeepEqual(endpoints, want) {
			t.Errorf("%v, %v; want %v", endpoints, err, want)
		}
		endpoints, err = st.UsageByEndpoint(ctx, "a", april+1, april+1)
		if want := []store.EndpointUsage{{Endpoint: "/v1/stats", Class: 2, Requests: 2}, {Endpoint: "/v1/games", Class: 2, Requests: 1}}; err != nil || !reflect.DeepEqual(endpoints, want) {
			t.Errorf("the next day: %v, %v; want %v", endpoints, err, want)
		}
	})
}

// Requests counted during a write are neither lost nor written twice.
func TestUsageUnderLoad(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const nodes, clerks, times, accounts = 2, 4, 1000, 250
		var group sync.WaitGroup
		name := func(i int) string { return "acc" + time.Duration(i%accounts).String() }
		for range nodes {
			u := quota.NewUsage(st, nearMidnight().now, slog.New(slog.DiscardHandler))
			var work sync.WaitGroup
			for range clerks {
				work.Go(func() {
					for i := range times {
						u.Record(name(i), april, "/v1/games", 200)
					}
				})
			}
			group.Go(func() {
				done := make(chan struct{})
				go func() { work.Wait(); close(done) }()
				for last := false; !last; {
					select {
					case <-done:
						last = true
					default:
					}
					if err := u.Flush(context.Background()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		top, err := st.UsageTop(context.Background(), april, 2*accounts)
		if err != nil || len(top) != accounts {
			t.Fatalf("%d accounts, %v", len(top), err)
		}
		for _, a := range top {
			if want := int64(nodes * clerks * times / accounts); a.Requests != want {
				t.Errorf("%s has %d, want %d", a.Account.ID, a.Requests, want)
			}
		}
	})
}

func TestUsageWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	st := storetest.OpenURL(t, server.NewDatabase(t), store.Options{})
	ctx := context.Background()
	var log bytes.Buffer
	u := quota.NewUsage(st, nearMidnight().now, slog.New(slog.NewTextHandler(&log, nil)))
	u.Record("a", april, "/v1/games", 200)
	server.Stop()
	for i := range 3 {
		want := fmt.Sprintf("the statistics of %s could not be written: ", models.Count(i+1, "request"))
		if err := u.Flush(ctx); models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), want) {
			t.Fatalf("a flush into nothing: %v, want %s", err, want)
		}
		u.Record("a", april, "/v1/games", 200)
	}
	if n := u.Pending("a", april); n != 4 {
		t.Errorf("%d pending", n)
	}
	server.Start(t)
	storetest.Until(t, "the database to be back", func() bool { return u.Flush(ctx) == nil })
	if n := usageOf(t, st, "a"); n != 4 {
		t.Errorf("%d written, want 4", n)
	}
	if told := log.String(); strings.Count(told, "cannot be written now") != 1 || strings.Count(told, "can be written again") != 1 {
		t.Errorf("an outage is told as\n%s", told)
	}
}

// What is being written is still pending, beside what comes meanwhile. Once it is written and nothing more comes, it
// takes no memory.
func TestUsageThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	u := quota.NewUsage(storetest.OpenURL(t, url, store.Options{}), nearMidnight().now, slog.New(slog.DiscardHandler))
	for range 3 {
		u.Record("a", april, "/v1/games", 200)
	}
	letGo := storetest.Lock(t, url, "usage_days")
	var writing sync.WaitGroup
	flush := func() {
		if err := u.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	writing.Go(flush)
	storetest.UntilBlocked(t, storetest.SQL(t, url), 1)
	u.Record("a", april, "/v1/games", 200)
	if n := u.Pending("a", april); n != 4 {
		t.Errorf("%d pending, want 4", n)
	}
	letGo()
	writing.Wait()
	for range 3 {
		flush()
	}
	if n := u.Kept(); n != 0 {
		t.Errorf("%d accounts are kept in memory", n)
	}
}

// While an import holds SQLite's write lock, statistics give up soon: they share their turn with the counters.
func TestUsageDoesNotWaitForAnImport(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	tx, err := storetest.SQL(t, url+"?_txlock=immediate").Begin()
	if err != nil {
		t.Fatal(err)
	}
	u := quota.NewUsage(st, nearMidnight().now, slog.New(slog.DiscardHandler))
	u.Record("a", april, "/v1/games", 200)
	began := time.Now()
	if err := u.Flush(context.Background()); models.ErrorCode(err) != models.CodeUnavailable || time.Since(began) > 2*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := u.Flush(context.Background()); err != nil || usageOf(t, st, "a") != 1 || u.Pending("a", april) != 0 {
		t.Errorf("after the import: %v", err)
	}
}

func TestUsageRunsByItself(t *testing.T) {
	t.Parallel()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: nearMidnight().now})
	old := models.UsageDay{AccountID: "old", Day: april - 400 - 1, Endpoint: "/v1/games", Class: 2, Requests: 1}
	kept := models.UsageDay{AccountID: "kept", Day: april - 400, Endpoint: "/v1/games", Class: 2, Requests: 1}
	if err := st.AddUsage(context.Background(), []models.UsageDay{old, kept}); err != nil {
		t.Fatal(err)
	}
	u := quota.NewUsage(st, nearMidnight().now, slog.New(slog.DiscardHandler))
	run(t, u.Run)
	u.Record("a", april, "/v1/games", 200)
	storetest.Until(t, "a request to be written", func() bool { return usageOf(t, st, "a") == 1 })
	storetest.Until(t, "what is too old to go", func() bool { return usageOf(t, st, "old") == 0 })
	if usageOf(t, st, "kept") != 1 {
		t.Error("a row of the last day that is kept is gone")
	}
}

// What is too old is looked for once a day: deleting waits for the same lock as counting.
func TestOldUsageIsLookedForOnceADay(t *testing.T) {
	t.Parallel()
	h := nearMidnight()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: h.now})
	u := quota.NewUsage(st, h.now, slog.New(slog.DiscardHandler))
	for i, c := range []struct {
		later time.Duration
		left  int64
	}{{0, 0}, {0, 1}, {24*time.Hour - 1, 2}, {1, 0}, {time.Hour, 1}} {
		if err := st.AddUsage(t.Context(), []models.UsageDay{{AccountID: "old", Day: april - 400 - 1, Endpoint: "/v1/games", Class: 2, Requests: 1}}); err != nil {
			t.Fatal(err)
		}
		h.move(c.later)
		u.Prune(t.Context())
		if got := usageOf(t, st, "old"); got != c.left {
			t.Errorf("step %d: %d old requests are left, want %d", i, got, c.left)
		}
	}
}

// A server that ends between two portions writes the remaining ones as it ends.
func TestUsageIsWrittenAtTheEnd(t *testing.T) {
	t.Parallel()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: nearMidnight().now})
	u := quota.NewUsage(st, nearMidnight().now, slog.New(slog.DiscardHandler))
	const accounts = 2000
	written := func() (n int) {
		for i := range accounts {
			n += int(usageOf(t, st, fmt.Sprintf("acc-%04d", i)))
		}
		return n
	}
	for i := range accounts {
		u.Record(fmt.Sprintf("acc-%04d", i), april, "/v1/games", 200)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { u.Run(ctx) })
	storetest.Until(t, "the first portion", func() bool { return usageOf(t, st, "acc-0000") == 1 })
	cancel()
	running.Wait()
	if n := written(); n == accounts {
		t.Fatal("all is written: the test shows nothing")
	}
	if err := u.Flush(t.Context()); err != nil || written() != accounts {
		t.Errorf("%d of %d are written, %v", written(), accounts, err)
	}
}

func TestRecordOfAKnownKeyDoesNotAllocate(t *testing.T) {
	u := quota.NewUsage(nil, time.Now, slog.New(slog.DiscardHandler))
	u.Record("a", april, "/v1/games", 200)
	if n := testing.AllocsPerRun(1000, func() { u.Record("a", april, "/v1/games", 200) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	u := quota.NewUsage(nil, time.Now, slog.New(slog.DiscardHandler))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			u.Record("acc_0123456789abcdefghij", april, "/v1/draws/recent", 200)
		}
	})
}

// A node whose machine was paused for hours while it wrote statistics rests as long as after any slow portion.
func TestUsageRestsShortly(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		time.Millisecond: 39 * time.Millisecond, 50 * time.Millisecond: 1950 * time.Millisecond, 5 * time.Second: 1950 * time.Millisecond, 2 * time.Hour: 1950 * time.Millisecond,
	} {
		if got := quota.LeisureAfter(took); got != want {
			t.Errorf("after %v: %v, want %v", took, got, want)
		}
	}
}

// After the statistics had to wait for a lock, the next ones are in the database soon.
func TestUsageAfterALock(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	account := storetest.Account(t, st, "ann@example.com").ID
	u := quota.NewUsage(st, time.Now, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { u.Run(ctx) })
	defer running.Wait()
	defer stop()

	letGo := storetest.Lock(t, url, "usage_days")
	record := func(requests int) {
		for range requests {
			u.Record(account, models.DateOf(time.Now().UTC()), "recent", 200)
		}
	}
	for i := range 2 * quota.UsagePortion {
		u.Record(account, models.DateOf(time.Now().UTC()), fmt.Sprintf("endpoint %d", i), 200)
	}
	db := storetest.SQL(t, url)
	storetest.UntilBlocked(t, db, 1)
	time.Sleep(time.Second) // more than what a pause may be proportional to
	letGo()
	record(3)
	storetest.Until(t, "all statistics", func() bool {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COALESCE(sum(requests), 0) FROM usage_days").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 2*quota.UsagePortion+3
	})
}

// A server that stops while it takes expired rows away does not blame the database: the next one takes them away.
func TestUsageThatIsInterruptedIsNotTold(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	var log bytes.Buffer
	u := quota.NewUsage(st, time.Now, slog.New(slog.NewTextHandler(&log, nil)))
	letGo := storetest.Lock(t, url, "usage_days")
	defer letGo()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { u.Run(ctx) })
	storetest.UntilBlocked(t, storetest.SQL(t, url), 1)
	stop()
	running.Wait()
	if log.Len() > 0 {
		t.Error(log.String())
	}
}
