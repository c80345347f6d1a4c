package billing

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// Refused events are told once a minute, and at once after the clock was set back.
func TestRefusedEventsAreTold(t *testing.T) {
	t.Parallel()
	now, log := noon, &bytes.Buffer{}
	s := New(Options{Store: storetest.Open(t), Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(log, nil))})
	for _, c := range []struct {
		later time.Duration
		told  int
	}{{0, 1}, {59 * time.Second, 1}, {time.Second, 2}, {-24 * time.Hour, 3}, {59 * time.Second, 3}, {time.Second, 4}} {
		now = now.Add(c.later)
		s.Webhook().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", WebhookPath, strings.NewReader("{}")))
		if n := strings.Count(log.String(), "events were refused"); n != c.told {
			t.Errorf("%v later: told %d times, want %d", c.later, n, c.told)
		}
	}
}
