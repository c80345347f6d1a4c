package jobs

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A node whose clock is more than a minute from PostgreSQL's says so once, and again when it is right.
func TestClockThatIsWrongIsTold(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	st := storetest.OpenURL(t, storetest.NewPostgres(t), store.Options{Skew: func() time.Duration { return time.Duration(ahead.Load()) }})
	log := &storetest.Buffer{}
	l := &looker{schedule: &Schedule{Runner: &Runner{Store: st, Log: slog.New(slog.NewTextHandler(log, nil))}}}
	const apart, agree = `level=WARN msg="this machine's clock and another are more than a minute apart; synchronize both`, "agree again"
	for _, c := range []struct {
		ahead, agree int
		theirs       time.Duration
		said         string
	}{{0, 0, 0, ""}, {0, 0, 50 * time.Second, ""}, {1, 0, 48 * time.Hour, "ahead=-48h0m0s"}, {1, 1, 0, ""}, {2, 1, -time.Hour, "ahead=1h0m0s"}, {2, 2, -50 * time.Second, ""}} {
		ahead.Store(int64(c.theirs))
		for range 3 {
			l.look(t.Context())
		}
		if text := log.String(); strings.Count(text, apart) != c.ahead || strings.Count(text, agree) != c.agree || !strings.Contains(text, c.said) {
			t.Fatalf("at %s:\n%s", c.theirs, text)
		}
	}
}
