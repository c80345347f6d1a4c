package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// gone runs a cleanup and returns the kinds of rows that it deleted.
func gone(t *testing.T, st *store.Store) string {
	t.Helper()
	list, err := st.Cleanup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, g := range list {
		if g.Rows > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", g.What, g.Rows))
		}
	}
	return strings.Join(parts, ", ")
}

// Everything is kept for its time, and then deleted.
func TestCleanup(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		plans := models.DefaultPlans()
		operator := store.WithOperator(ctx, &store.Operator{Who: "grace", Origin: "here", Command: "accounts create"})
		account, err := st.CreateAccount(operator, store.NewAccount{Email: "ann@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		link := store.NewLink{Hash: secret.Hash("link"), Purpose: models.LinkSignIn, Email: "ann@example.com", PerHour: 9}
		if err := st.CreateLink(ctx, link); err != nil {
			t.Fatal(err)
		}
		if _, err := st.SignIn(ctx, plans, store.SignIn{Link: link.Hash, Session: secret.Hash("session"), NewID: "acc_x"}); err != nil {
			t.Fatal(err)
		}
		other := storetest.Account(t, st, "bob@example.com")
		if _, err := st.DeleteAccount(ctx, other.ID); err != nil { // leaves a departure
			t.Fatal(err)
		}
		for id, state := range map[string]models.EventState{"evt_1": models.EventDone, "evt_2": models.EventFailed, "evt_3": models.EventPending} {
			if _, err := st.AddEvent(ctx, models.StripeEvent{ID: id, State: state}); err != nil {
				t.Fatal(err)
			}
		}
		version, err := st.DataVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		imported, err := st.Clock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		run := store.Merge{Run: models.ImportRun{Feed: models.FeedCSV, Source: "test", FinishedAt: imported}, Changes: slices.Values([]store.DrawChange{})}
		if err := st.MergeDraws(ctx, version.Number, []store.Merge{run, run}, imported); err != nil { // the second stays
			t.Fatal(err)
		}
		expires := time.Now().Add(30 * aDay)
		if _, err := st.CreateKey(ctx, plans, store.NewKey{Account: account.ID, ExpiresAt: &expires}); err != nil {
			t.Fatal(err)
		}
		countDays(t, st, account.ID, 0, 9)
		lease, _, err := st.TryLease(ctx, "job:x", past)
		if err != nil {
			t.Fatal(err)
		}
		begun, err := st.Clock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.SaveJobRun(ctx, lease, models.JobRun{Job: "x", StartedAt: begun}); err != nil {
			t.Fatal(err)
		}
		passed := time.Duration(0)
		after := func(d time.Duration, want string) {
			t.Helper()
			move(d - passed)
			passed = d
			// PostgreSQL's locks use its own clock.
			if got := strings.TrimSuffix(strings.TrimSuffix(gone(t, st), "locks 1"), ", "); got != want {
				t.Errorf("after %s: %q, want %q", d, got, want)
			}
		}
		after(0, "")
		after(aDay-time.Hour, "")
		after(aDay+time.Hour, "sign-in links 1")
		after(3*aDay, "closed addresses 1")
		after(10*aDay, "counters 1")
		after(25*aDay, "")
		if n, err := st.MailExpiringKeys(ctx, 7*aDay); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		mails, err := st.MailsNewest(ctx, store.MailFilter{AccountID: account.ID})
		if err != nil || len(mails) != 1 {
			t.Fatal(mails, err)
		}
		if err := st.MailSent(ctx, mails[0].Once); err != nil {
			t.Fatal(err)
		}
		after(30*aDay-time.Hour, "")
		after(30*aDay+time.Hour, "sessions 1")
		after(90*aDay-time.Hour, "")
		after(90*aDay+time.Hour, "events 1")
		after(400*aDay-time.Hour, "")
		after(400*aDay+time.Hour, "failed events 1, import runs 1, job runs 1")
		after(425*aDay-time.Hour, "")
		after(425*aDay+time.Hour, "mails 1")
		after(4*365*aDay-time.Hour, "")
		after(4*365*aDay+time.Hour, "audit entries 1")
		events, err := st.Events(ctx, store.EventFilter{})
		if err != nil || len(events) != 1 || events[0].State != models.EventPending {
			t.Errorf("what nobody has worked on: %v %+v", err, events)
		}
		keys, err := st.Keys(ctx, account.ID)
		if err != nil || len(keys) != 1 { // it still answers "expired"
			t.Errorf("keys: %v %v", keys, err)
		}
	})
}

// countDays counts a request of an account on each of some days after today.
func countDays(t *testing.T, st *store.Store, account string, first, last int) {
	t.Helper()
	var ops []store.QuotaOp
	for day := first; day <= last; day++ {
		start := models.PeriodStart(time.Now().AddDate(0, 0, day), aDay)
		ops = append(ops, store.QuotaOp{Kind: store.QuotaAdd, Key: account, Period: aDay, Start: start, N: 1})
	}
	applyQuota(t, st, ops...)
}

// More rows than one portion are all deleted.
func TestCleanupOfMany(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		for i := range 30 {
			ops := make([]store.QuotaOp, 40)
			for j := range ops {
				ops[j] = store.QuotaOp{Kind: store.QuotaAdd, Key: fmt.Sprintf("acc_%d_%d", i, j), Period: aDay, Start: models.PeriodStart(time.Now(), aDay), N: 1}
			}
			if _, _, err := st.ApplyQuota(context.Background(), ops); err != nil {
				t.Fatal(err)
			}
		}
		countDays(t, st, "acc_1", 1, 9)
		move(9 * aDay)
		if got := gone(t, st); got != "counters 1200" {
			t.Error(got)
		}
	})
}

// PostgreSQL has no index of the counters by age: reading all of them for each few hundred that are deleted would keep it
// busy for minutes a day.
func TestCleanupReadsTheCountersOnce(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url)
	for _, statement := range []string{
		"INSERT INTO quota_counters SELECT 'acc_' || i, day * 86400, 1 FROM generate_series(1, 500) AS i, generate_series(1, 20) AS day",
		"CREATE TABLE portions (deleted INTEGER)",
		"CREATE FUNCTION portion() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO portions SELECT count(*) FROM gone; RETURN NULL; END'",
		"CREATE TRIGGER portion AFTER DELETE ON quota_counters REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION portion()",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if got := gone(t, st); got != "counters 5500" { // the newest nine days stay
		t.Error(got)
	}
	var portions, deleted int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*), sum(deleted) FROM portions").Scan(&portions, &deleted); err != nil {
		t.Fatal(err)
	}
	if portions != 1 || deleted != 5500 {
		t.Errorf("%d counters deleted in %d portions", deleted, portions)
	}
}

// On SQLite the counters are first moved to their table over a connection that soon gives up on
// the lock; a cleanup waits.
func TestCleanupWhileAnotherWrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lottery.db")
	st := storetest.OpenURL(t, "sqlite:"+path, store.Options{})
	applyQuota(t, st, taking("acc_1", 1, 1))
	tx, err := storetest.SQL(t, "sqlite:"+path+"?_txlock=immediate").BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(500*time.Millisecond, func() { _ = tx.Rollback() })
	if _, err := st.Cleanup(t.Context()); err != nil {
		t.Error(err)
	}
}

// While a node's clock or PostgreSQL's is far ahead, nothing is deleted that is not old by the other one, least of all
// today's counters, which would give everybody a second quota.
func TestCleanupByAWrongClock(t *testing.T) {
	t.Parallel()
	const ahead = 10 * 365 * aDay
	for whose, opts := range map[string]store.Options{
		"the node's":   {Now: func() time.Time { return time.Now().Add(ahead) }},
		"PostgreSQL's": {Skew: func() time.Duration { return ahead }},
	} {
		t.Run(whose, func(t *testing.T) {
			t.Parallel()
			url := storetest.NewPostgres(t)
			right, wrong := storetest.OpenURL(t, url, store.Options{}), storetest.OpenURL(t, url, opts)
			take := taking("acc-1", 100, 100)
			if got := applyQuota(t, right, take)[0]; got.Granted != 100 {
				t.Fatalf("%+v", got)
			}
			addUsage(t, right, models.UsageDay{AccountID: "acc-1", Day: models.DateOf(time.Now().UTC()), Endpoint: "/v1/games", Class: 2, Requests: 100})
			addEvents(t, right, 1)
			if err := right.SettleEvent(t.Context(), claim(t, right, time.Minute, 1)[0], models.EventFailed, "never", 0); err != nil {
				t.Fatal(err)
			}
			signIn(t, right, "ann@example.com", "ann", "")
			if got := gone(t, wrong); got != "" {
				t.Errorf("taken away: %s", got)
			}
			if more, err := wrong.PruneUsage(t.Context()); err != nil || more {
				t.Errorf("%v %v", more, err)
			}
			if got := applyQuota(t, right, take)[0]; got.Granted != 0 {
				t.Errorf("granted a second time: %+v", got)
			}
			today := models.DateOf(time.Now().UTC())
			if days, err := right.UsageByDay(t.Context(), "acc-1", today-1, today); err != nil || len(days) != 1 {
				t.Errorf("statistics: %v %v", days, err)
			}
			if !lives(t, right, "ann") {
				t.Error("a session is gone")
			}
		})
	}
}

// The clock of the counters is a month ahead for a while, and requests are counted and a cleanup runs meanwhile: once the
// clock is set back, nobody gets a second quota for the day that runs again.
func TestCleanupWhileTheClockIsAhead(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		take := taking("acc_1", 100, 100)
		if got := applyQuota(t, st, take)[0]; got.Granted != 100 {
			t.Fatalf("%+v", got)
		}
		move(30 * aDay)
		for i := range 20 { // days are what counts, not counters
			if got := applyQuota(t, st, taking(fmt.Sprintf("acc_%d", i), 100, 100))[0]; got.Granted != 100 {
				t.Fatalf("a month ahead: %+v", got)
			}
		}
		gone(t, st)
		move(-30 * aDay)
		if got := applyQuota(t, st, take)[0]; got.Granted != 0 {
			t.Errorf("granted a second time: %+v", got)
		}
	})
}
