package store_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Connections that somebody ends (pg_terminate_backend) while PostgreSQL is well do not look like a backend that is
// away: nodes that admit from memory would together exceed a limit.
func TestQuotaOverBrokenConnections(t *testing.T) {
	t.Parallel()
	address := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, address, store.Options{})
	db := storetest.SQL(t, address)
	take := taking("acc_a", 1, 100)
	const connections = 5
	want := int64(0)
	for range 3 {
		release := storetest.Lock(t, address, "quota_counters")
		var asking sync.WaitGroup
		for range connections {
			asking.Go(func() { applyQuota(t, st, take) })
		}
		storetest.UntilBlocked(t, db, connections)
		release()
		asking.Wait()
		if _, err := db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
			t.Fatal(err)
		}
		want += connections + 1
		if got := applyQuota(t, st, take)[0]; got.Granted != 1 || got.Used != want {
			t.Errorf("%+v, %d were asked for", got, want)
		}
	}
}

// What is asked on a connection that somebody ends before it is answered is asked again, and counted once.
func TestQuotaIsAskedAgain(t *testing.T) {
	t.Parallel()
	address := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, address, store.Options{})
	db := storetest.SQL(t, address)
	take := taking("acc_a", 1, 100)
	release := storetest.Lock(t, address, "quota_counters")
	answer := make(chan store.QuotaResult, 1)
	go func() { answer <- applyQuota(t, st, take)[0] }()
	ended := 0
	storetest.Until(t, "the connection that waits", func() bool {
		if err := db.QueryRowContext(t.Context(), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&ended); err != nil {
			t.Fatal(err)
		}
		return ended > 0
	})
	release()
	if got := <-answer; got.Granted != 1 || got.Used != 1 {
		t.Errorf("%+v", got)
	}
}

// If the answer is lost on its way, it is unclear whether the requests were counted, so they are not counted again; if
// the server refused, it is clear.
func TestQuotaAnswerIsLost(t *testing.T) {
	t.Parallel()
	address := storetest.NewPostgres(t)
	var lose, reset atomic.Bool // the answer to what names the counter does not arrive; the connection is reset, not closed
	link := storetest.Link(t, storetest.PostgresSocket(t, address), func(client net.Conn) (sent, answered func([]byte) bool) {
		var lost atomic.Bool
		return func(piece []byte) bool {
				if lose.Load() && bytes.Contains(piece, []byte("acc_a")) {
					lost.Store(true)
				}
				return true
			}, func([]byte) bool {
				if lost.Load() && reset.Load() {
					_ = client.(*net.TCPConn).SetLinger(0)
				}
				return !lost.Load()
			}
	})
	st := storetest.OpenURL(t, storetest.PostgresAt(t, address, link), store.Options{})
	take := taking("acc_a", 1, 100)
	applyQuota(t, st, take)

	want := int64(1)
	for _, how := range []bool{true, false} {
		reset.Store(how)
		lose.Store(true)
		if _, _, err := st.ApplyQuota(t.Context(), []store.QuotaOp{take}); !errors.Is(err, store.ErrQuotaUnclear) {
			t.Errorf("the answer was lost: %v", err)
		}
		lose.Store(false)
		want += 2
		if got := applyQuota(t, st, take)[0]; got.Used != want {
			t.Errorf("%d were counted, %d were asked for", got.Used, want)
		}
	}
	storetest.Exec(t, address, "ALTER TABLE quota_counters RENAME TO gone")
	if _, _, err := st.ApplyQuota(t.Context(), []store.QuotaOp{take}); err == nil || errors.Is(err, store.ErrQuotaUnclear) {
		t.Errorf("the server refused: %v", err)
	}
}

// A server that has no right to tell its lineage is trusted. One that cannot tell it yet, since it is a standby, or that
// is being stopped, does not count, and is asked again.
func TestQuotaWithoutALineage(t *testing.T) {
	t.Parallel()
	for code, counts := range map[string]bool{"42501": true, "55000": false, "57P01": false} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			address := storetest.NewPostgres(t)
			storetest.OpenURL(t, address, store.Options{})
			db := storetest.SQL(t, address)
			var name string
			if err := db.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
				t.Fatal(err)
			}
			storetest.Exec(t, address,
				"CREATE FUNCTION public.pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS 'BEGIN RAISE SQLSTATE ''"+code+"''; END'",
				"ALTER DATABASE "+name+" SET search_path = public, pg_catalog")
			st := storetest.OpenURL(t, address, store.Options{})
			take := taking("acc_a", 1, 100)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if _, _, err := st.ApplyQuota(ctx, []store.QuotaOp{take}); (err == nil) != counts || ctx.Err() != nil {
				t.Errorf("%v, %v", err, ctx.Err())
			}
			storetest.Exec(t, address, "DROP FUNCTION public.pg_current_wal_lsn()")
			if got := applyQuota(t, st, take)[0]; got.Used != 1+map[bool]int64{true: 1}[counts] {
				t.Errorf("afterwards %+v", got)
			}
		})
	}
}
