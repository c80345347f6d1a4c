package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/migrations"
	"lottery/models/store/storetest"
)

// waitingStore is a Store that reports to waiting after patience.
func waitingStore(t *testing.T, url string, patience time.Duration, waiting func(why string)) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), url, store.Options{Patience: patience, Waiting: waiting})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// A startup that waits for a locked table says who has locked it, and continues when it is free.
func TestStartThatWaitsForATable(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	storetest.OpenURL(t, url, store.Options{})
	release := storetest.Lock(t, url, "games")
	var told []string
	st := waitingStore(t, url, 2*time.Second, func(why string) {
		told = append(told, why)
		release()
	})
	if err := st.Prepare(t.Context(), true); err != nil {
		t.Error(err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "has locked the table games (process ") || !strings.Contains(told[0], "SELECT pg_terminate_backend(") {
		t.Errorf("%q", told)
	}
}

// migratedTo returns a database that has the migrations up to a version, as an earlier release leaves it.
func migratedTo(t *testing.T, url string, version int64) *sql.DB {
	t.Helper()
	db := storetest.SQL(t, url)
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrations.For(store.Postgres), goose.WithTableName("schema_migrations"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return db
}

// A migration that has to wait for a table, such as for a backup that reads it, holds up nobody else who reads it, says
// what it waits for, and continues when the table is free.
func TestMigrationThatWaitsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	db := migratedTo(t, url, 12) // the next one alters billing_accounts
	release := storetest.Hold(t, url, "LOCK TABLE billing_accounts IN ACCESS SHARE MODE")
	told := make(chan string, 10)
	st := waitingStore(t, url, 2500*time.Millisecond, func(why string) { told <- why })
	done := make(chan error, 1)
	var applied []string
	go func() {
		var err error
		applied, err = st.Migrate(t.Context())
		done <- err
	}()
	for begun := time.Now(); time.Since(begun) < 5*time.Second; {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := db.ExecContext(ctx, "SELECT count(*) FROM billing_accounts")
		cancel()
		if err != nil {
			t.Fatalf("a reader waits for the migration that waits: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	release()
	if err := <-done; err != nil || len(applied) == 0 || applied[0] != "0013_billing_quantity.sql" {
		t.Errorf("%q, %v", applied, err)
	}
	if len(told) != 1 {
		t.Fatalf("told %d times", len(told))
	}
	if why := <-told; !strings.Contains(why, "has locked the table billing_accounts (process ") {
		t.Errorf("%q", why)
	}
}

// One that waits too long ends with the same message.
func TestStartThatWaitsTooLong(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	storetest.OpenURL(t, url, store.Options{})
	for _, table := range []string{"schema_migrations", "games"} {
		release := storetest.Lock(t, url, table)
		told := 0
		st := waitingStore(t, url, 500*time.Millisecond, func(string) { told++ })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := st.Prepare(ctx, false)
		cancel()
		if told != 1 || models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), "the database has not responded for too long: ") ||
			!strings.Contains(err.Error(), "has locked the table "+table+" (") {
			t.Errorf("%s: told %d times, %v", table, told, err)
		}
		release()
	}
}

// A startup that is told to stop while it waits stops.
func TestStopWhileWaiting(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	storetest.OpenURL(t, url, store.Options{})
	defer storetest.Lock(t, url, "games")()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	st := waitingStore(t, url, time.Second, func(string) { stop() })
	if err := st.Prepare(ctx, true); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A migration may take longer than anything else: waiting programs say what they wait for, and it is not given up.
func TestMigrationIsNotGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lock, want string }{
		"another program's":   {fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lock.DefaultLockID), "another program is upgrading it (process "},
		"behind a table":      {"LOCK TABLE stripe_events", "another session has locked the table stripe_events (process "},
		"one that takes long": {"", "it is being upgraded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const patience = 300 * time.Millisecond
			url := storetest.EmptyPostgres(t)
			db := migratedTo(t, url, 8) // the next one alters stripe_events
			release := func() {}
			if c.lock != "" {
				release = storetest.Hold(t, url, c.lock)
			} else if _, err := db.ExecContext(t.Context(), "CREATE SEQUENCE altered; CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS "+
				"$$ BEGIN IF nextval('altered') = 1 THEN PERFORM pg_sleep(2.2); END IF; END $$; "+
				"CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION slow()"); err != nil {
				t.Fatal(err)
			}
			var told []string
			begun := time.Now()
			st := waitingStore(t, url, patience, func(why string) {
				if told = append(told, why); len(told) == 1 {
					time.AfterFunc(8*patience-time.Since(begun), release)
				}
			})
			applied, err := st.Migrate(t.Context())
			if err != nil || len(applied) == 0 || applied[0] != "0009_inbox_retried.sql" || len(told) < 1 || time.Since(begun) < 7*patience {
				t.Fatalf("after %s: %q, %v, told %q", time.Since(begun), applied, err, told)
			}
			if !slices.ContainsFunc(told, func(why string) bool { return strings.Contains(why, c.want) }) {
				t.Errorf("%q", told)
			}
		})
	}
}

// While a wait goes on, it is told again, but not all the time.
func TestLongWaitIsToldAgain(t *testing.T) {
	t.Parallel()
	const patience = 50 * time.Millisecond
	url := storetest.EmptyPostgres(t)
	migratedTo(t, url, 8)
	defer storetest.Hold(t, url, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lock.DefaultLockID))()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var told []time.Duration
	begun := time.Now()
	st := waitingStore(t, url, patience, func(string) {
		if told = append(told, time.Since(begun)); len(told) == 2 {
			stop()
		}
	})
	if _, err := st.Migrate(ctx); err == nil || len(told) != 2 || told[1] < 13*patience {
		t.Errorf("told after %v, %v", told, err)
	}
}

// After startup, a statement that waits for a locked row is reported with the session that locked it, once a minute;
// one that waits only a moment is not.
func TestLocksAreTold(t *testing.T) {
	t.Parallel()
	const patience = 500 * time.Millisecond
	url := storetest.EmptyPostgres(t)
	seed := storetest.OpenURL(t, url, store.Options{})
	account := storetest.Account(t, seed, "ada@example.com")
	lock := "SELECT 1 FROM accounts WHERE id = '" + account.ID + "' FOR UPDATE"
	told := make(chan string, 10)
	st := waitingStore(t, url, patience, func(why string) { told <- why })
	telling, end := context.WithCancel(t.Context())
	var teller sync.WaitGroup
	teller.Go(func() { st.TellLocks(telling) })
	defer teller.Wait()
	defer end()

	release := storetest.Hold(t, url, lock)
	done := make(chan error, 1)
	go func() {
		_, err := st.SetAccountStatus(t.Context(), account.ID, models.AccountSuspended)
		done <- err
	}()
	why := <-told
	if !strings.HasPrefix(why, "another session has locked what is needed (process ") || !strings.Contains(why, "SELECT pg_terminate_backend(") {
		t.Errorf("%q", why)
	}
	select {
	case why := <-told:
		t.Errorf("told again: %q", why)
	case <-time.After(4 * patience):
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
