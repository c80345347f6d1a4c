package middleware_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/api/middleware"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// If last uses cannot be written, the log says when that begins and when it ends, not at every attempt. What the database
// has is not written again, neither by the node that wrote it nor by another.
func TestLastUsesThatCannotBeWrittenAreToldOnce(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	k := storetest.Key(t, st, "a@example.com")
	at := time.Now()
	var log bytes.Buffer
	node := func() *middleware.Keys {
		keys, err := middleware.NewKeys(t.Context(), st, models.DefaultPlans(), func() time.Time { return at }, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if got := code(t, keys, k.Secret); got != "" {
			t.Fatal(got)
		}
		return keys
	}
	keys := node()
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	for range 3 {
		keys.Flush(late)
	}
	if n := strings.Count(log.String(), "cannot be written now"); n != 1 || strings.Contains(log.String(), "again") {
		t.Errorf("told %d times:\n%s", n, &log)
	}
	keys.Flush(t.Context())
	if n := strings.Count(log.String(), "last uses of keys can be written again"); n != 1 {
		t.Errorf("its end is told %d times:\n%s", n, &log)
	}
	keys.Flush(late)
	node().Flush(late)
	if n := strings.Count(log.String(), "cannot be written now"); n != 1 {
		t.Errorf("a use is written again:\n%s", &log)
	}
}

// A server that stops while last uses are being written does not blame the database: they are written at its end.
func TestLastUsesThatAreInterruptedAreNotTold(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	k := storetest.Key(t, st, "a@example.com")
	var log lines
	keys, err := middleware.NewKeys(t.Context(), st, models.DefaultPlans(), time.Now, log.logger())
	if err != nil {
		t.Fatal(err)
	}
	if got := code(t, keys, k.Secret); got != "" {
		t.Fatal(got)
	}
	letGo := storetest.Lock(t, url, "api_keys")
	running, stop := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { keys.Run(running) })
	db := storetest.SQL(t, url)
	storetest.UntilBlocked(t, db, 1)
	stop()
	run.Wait()
	letGo()
	keys.Flush(t.Context())
	if told := log.read(t); len(told) != 0 {
		t.Errorf("%v", told)
	}
	var used bool
	if err := db.QueryRowContext(t.Context(), "SELECT last_used_at IS NOT NULL FROM api_keys").Scan(&used); err != nil || !used {
		t.Errorf("the last use is not written: %v", err)
	}
}
