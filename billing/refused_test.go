package billing

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lottery/models"
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

// While Stripe is away, the log does not repeat that for each attempt of each event; other faults are each told.
func TestPostponedEventsAreTold(t *testing.T) {
	t.Parallel()
	now, log := noon, &bytes.Buffer{}
	s := New(Options{Store: storetest.Open(t), Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(log, nil))})
	settle := func(times int, err error) {
		for range times {
			s.settle(t.Context(), &models.StripeEvent{ID: "evt_1", Type: "invoice.paid", Attempts: 1}, "", err)
		}
	}
	away := models.Errorf(models.CodeUnavailable, "Stripe does not respond")
	settle(300, away)
	now = now.Add(tellEvery)
	settle(300, away)
	if n := strings.Count(log.String(), "will be tried again"); n != 2 || !strings.Contains(log.String(), "times=300") {
		t.Errorf("told %d times:\n%s", n, log)
	}
	log.Reset()
	settle(3, errors.New("it is not understood"))
	if n := strings.Count(log.String(), "will be tried again"); n != 3 {
		t.Errorf("told %d times:\n%s", n, log)
	}
}
