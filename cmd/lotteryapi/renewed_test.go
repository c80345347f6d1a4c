package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A server finds the new passwords of PostgreSQL and Redis in the files it was given, without a restart: what it counted
// meanwhile is in its memory.
func TestPasswordsAreChanged(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgresServer(t).NewDatabase(t)
	storetest.OpenURL(t, url, store.Options{})
	db := storetest.SQL(t, url)
	var rules string
	if err := db.QueryRowContext(t.Context(), "SHOW hba_file").Scan(&rules); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, url, "COPY (SELECT unnest(ARRAY['local all clerk scram-sha-256', 'local all all trust'])) TO '"+rules+"'",
		"CREATE ROLE clerk SUPERUSER LOGIN PASSWORD 'one'", "SELECT pg_reload_conf()")
	counters := storetest.NewRedis(t)
	admin := counters.Client(t)
	setUser := func(password string) {
		t.Helper()
		if err := admin.Do(t.Context(), "ACL", "SETUSER", "clerk", "reset", "on", ">"+password, "~*", "+@all").Err(); err != nil {
			t.Fatal(err)
		}
	}
	setUser("one")

	files := t.TempDir()
	write := func(password string) {
		t.Helper()
		for name, text := range map[string]string{
			"database": strings.Replace(url, "lottery@", "clerk:"+password+"@", 1),
			"redis":    strings.Replace(counters.URL(), "unix://", "unix://clerk:"+password+"@", 1),
		} {
			if err := os.WriteFile(filepath.Join(files, name), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("one")
	p := startWith(t, []string{"LOTTERY_DATABASE_URL_FILE=" + filepath.Join(files, "database"), "LOTTERY_REDIS_URL_FILE=" + filepath.Join(files, "redis")}, "serve", "--listen", "127.0.0.1:0")
	known := newKey(t, url, "known@example.com")
	status := func(key string) int {
		status, _ := p.get(t, "/v1/games", key)
		return status
	}
	if got := status(known); got != http.StatusOK {
		t.Fatal(got)
	}

	storetest.Exec(t, url, "ALTER ROLE clerk PASSWORD 'two'")
	setUser("two")
	if err := admin.Do(t.Context(), "CLIENT", "KILL", "USER", "clerk").Err(); err != nil {
		t.Fatal(err)
	}
	unknown := newKey(t, url, "unknown@example.com")
	storetest.Until(t, "the server to be refused by both", func() bool {
		// Again, since a session that is just beginning is not listed yet.
		storetest.Exec(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clerk'")
		log := p.stderr.String()
		return status(unknown) == http.StatusServiceUnavailable && strings.Contains(log, "the quota counters do not answer") &&
			strings.Contains(log, "the database refuses the user or password of database_url")
	})
	if got := status(known); got != http.StatusOK {
		t.Errorf("a known key: %d", got)
	}
	for _, name := range []string{"database", "redis"} {
		file := filepath.Join(files, name)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		storetest.Until(t, "the log to say that a file is not there", func() bool {
			return strings.Contains(p.stderr.String(), `"file":"`+file+`"`)
		})
	}
	write("two")
	storetest.Until(t, "the new passwords to be used", func() bool {
		return status(unknown) == http.StatusOK && strings.Contains(p.stderr.String(), "the quota counters answer again")
	})
	if n := strings.Count(p.stderr.String(), "cannot be read from its file"); n != 2 {
		t.Errorf("said %d times", n)
	}
	if code := p.stop(t); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.stderr)
	}
}
