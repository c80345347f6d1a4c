package middleware_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"lottery/api/middleware"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// If last uses cannot be written, the log says when that begins and when it ends, not at every attempt.
func TestLastUsesThatCannotBeWrittenAreToldOnce(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	k, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "a@example.com", Create: true})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	keys, err := middleware.NewKeys(t.Context(), st, models.DefaultPlans(), time.Now, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if got := code(t, keys, k.Secret); got != "" {
		t.Fatal(got)
	}
	late, end := context.WithCancel(t.Context())
	end()
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
}
