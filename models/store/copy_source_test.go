package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A source stays byte for byte as it is, even one without a write-ahead log, such as a backup.
func TestCopyChangesNoSource(t *testing.T) {
	t.Parallel()
	from := storetest.EmptyURL(t)
	fillPerson(t, storetest.OpenURL(t, from, store.Options{}), storetest.SQL(t, from))
	backup := filepath.Join(t.TempDir(), "backup.db")
	if _, err := store.Backup(t.Context(), from, backup); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := copyInto(t, "sqlite:"+backup, storetest.EmptyURL(t)); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(backup); err != nil || string(after) != string(before) {
		t.Errorf("the source was changed: %v", err)
	}
	if files, err := os.ReadDir(filepath.Dir(backup)); err != nil || len(files) != 1 {
		t.Errorf("beside the source: %v, %v", files, err)
	}
}

// SQLite accepts any text as a date; PostgreSQL does not, and the error names the row.
func TestCopyOfNoDate(t *testing.T) {
	t.Parallel()
	from, to := storetest.EmptyURL(t), storetest.EmptyPostgres(t)
	storetest.OpenURL(t, from, store.Options{})
	storetest.Exec(t, from, "INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at) VALUES ('va-pick-3', '2020-02-31', 1, 1, '123', 'csv', '2026-01-01 00:00:00+00:00')")
	if _, err := copyInto(t, from, to); err == nil || !strings.Contains(err.Error(), `draws.date of game_id va-pick-3: "2020-02-31" is no date`) {
		t.Errorf("%v", err)
	}
}

// A copy is of one moment: what is written to the source meanwhile is not in it, and nobody can write to the target.
func TestCopyIsOfOneMoment(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, from, to string) {
		fillAll(t, from)
		source, err := store.OpenSource(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		st := storetest.OpenURL(t, to, store.Options{})
		write := func(url string, within time.Duration) error {
			if strings.HasPrefix(url, "sqlite:") {
				url += "?_pragma=busy_timeout(1)"
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			_, err := storetest.SQL(t, url).ExecContext(ctx, "INSERT INTO usage_days (account_id, day, endpoint, class, requests) VALUES ('acc_9', '2026-01-01', '/v1/late', 2, 1)")
			return err
		}
		var once sync.Once
		_, err = st.CopyFrom(t.Context(), source, func(string, int64, int64) {
			once.Do(func() {
				if err := write(from, time.Minute); err != nil {
					t.Errorf("the source cannot be written: %v", err)
				}
				if err := write(to, time.Second); err == nil { // PostgreSQL waits for the lock
					t.Error("the target can be written")
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for url, want := range map[string]string{from: "1", to: "0"} {
			if n := query(t, storetest.SQL(t, url), "SELECT count(*) FROM usage_days WHERE endpoint = '/v1/late'")[0][0]; n != want {
				t.Errorf("%s has %s of the late rows, want %s", url, n, want)
			}
		}
	})
}

// Both sides of a copy may wait for each other, however soon PostgreSQL ends transactions in which nothing happens.
func TestCopyMayWait(t *testing.T) {
	t.Parallel()
	from, to := storetest.EmptyPostgres(t), storetest.EmptyPostgres(t)
	fillAll(t, from)
	storetest.OpenURL(t, to, store.Options{})
	const soon = "&idle_in_transaction_session_timeout=1000" // which a machine under load can keep before the copy begins
	source, err := store.OpenSource(t.Context(), from+soon)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	st, err := store.Open(t.Context(), to+soon, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	wait := sync.OnceFunc(func() { time.Sleep(2500 * time.Millisecond) })
	if _, err := st.CopyFrom(t.Context(), source, func(string, int64, int64) { wait() }); err != nil {
		t.Error(err)
	}
}
