package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"lottery/jobs"
	"lottery/models"
	"lottery/models/catalog"
)

func TestGameFreshness(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(va3, virginia(5, "0,3,4"))
	b.virginia4()
	b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia})
	fresh := func(now time.Time) bool {
		list, err := jobs.GameFreshness(context.Background(), b.store, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if f.Game == "va-pick-3" {
				return f.Fresh
			}
		}
		t.Fatal("va-pick-3 is not there")
		return false
	}
	// The newest draw is of March 19.
	for at, want := range map[string]bool{
		"2026-03-20T12:00:00Z": true, "2026-03-21T10:00:00Z": true, // the 20th's draws have until noon
		"2026-03-21T18:00:00Z": false, "2026-03-25T12:00:00Z": false,
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := fresh(now); got != want {
			t.Errorf("at %s fresh is %v", at, got)
		}
	}
}

// A game is behind if one of its times of day is, even if the others are up to date: in feeds status, in doctor and in
// the metric that the alert uses.
func TestGameFreshnessOfEachTimeOfDay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var lines strings.Builder
	for day := 1; day <= 19; day++ {
		fmt.Fprintf(&lines, "3/%d/2026; Day: 0,3,4", day)
		if day < 11 {
			lines.WriteString("; Night: 2,8,4")
		}
		lines.WriteString("\n")
	}
	for _, test := range []struct {
		more, newest string
		fresh        bool
		overdue      float64
	}{
		{"", "2026-03-10", false, 1},
		{"3/18/2026; Night: 2,8,4\n", "2026-03-18", true, 0}, // the 19th's has until noon of the 20th in New York
	} {
		b.set(va3, lines.String()+test.more)
		b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia})
		list, err := jobs.GameFreshness(t.Context(), b.store, b.now)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(list, func(f jobs.Freshness) bool { return f.Game == "va-pick-3" })
		if f := list[at]; f.Fresh != test.fresh || f.Newest == nil || f.Newest.String() != test.newest || f.Expected.String() != "2026-03-18" {
			t.Errorf("fresh %v, newest %v, expected %v", f.Fresh, f.Newest, f.Expected)
		}
		var live catalog.Live
		if err := (&jobs.Refresher{Store: b.store, Live: &live, Log: quietly}).Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		shown := prometheus.NewRegistry()
		shown.MustRegister(jobs.NewStoredMetrics(b.store, &live, b.sync.Feeds, func() time.Time { return b.now }))
		want := fmt.Sprintf("# HELP lottery_game_overdue 1 if a draw of some time of day should have been published but is missing. Games without any draws are left out.\n"+
			"# TYPE lottery_game_overdue gauge\nlottery_game_overdue{feed=\"va-lottery\",game=\"va-pick-3\"} %v\n", test.overdue)
		if err := testutil.GatherAndCompare(shown, strings.NewReader(want), "lottery_game_overdue"); err != nil {
			t.Error(err)
		}
	}
}
