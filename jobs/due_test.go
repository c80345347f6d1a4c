package jobs

import (
	"testing"
	"time"

	"lottery/models"
)

func TestDue(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		parsed, err := time.Parse("15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.AddDate(2026, 0, 0)
	}
	done := func(from, to string) *models.JobRun {
		end := at(to)
		return &models.JobRun{StartedAt: at(from), FinishedAt: &end}
	}
	failed := func(from, to string, failures int) *models.JobRun {
		r := done(from, to)
		r.Failed, r.Failures = true, failures
		return r
	}
	hourly := Job{When: "15 * * * *"}
	for name, c := range map[string]struct {
		job  Job
		last *models.JobRun
		now  string
		want bool
	}{
		"it is off":                             {Job{}, nil, "12:15:00", false},
		"it never ran":                          {hourly, nil, "12:00:00", true},
		"it ran in this hour":                   {hourly, done("12:15:00", "12:15:01"), "13:14:59", false},
		"its hour has come":                     {hourly, done("12:15:00", "12:15:01"), "13:15:00", true},
		"hours were missed":                     {hourly, done("02:15:00", "02:15:01"), "12:00:00", true},
		"by hand, shortly before":               {hourly, done("12:14:50", "12:14:51"), "12:15:00", true},
		"the other node's clock is ahead":       {hourly, done("12:15:00", "12:15:01"), "12:14:50", false},
		"it took longer than an hour":           {hourly, done("10:15:00", "11:20:00"), "11:20:01", true},
		"it failed":                             {hourly, failed("12:15:00", "12:16:00", 1), "12:25:59", false},
		"it failed, ten minutes ago":            {hourly, failed("12:15:00", "12:16:00", 1), "12:26:00", true},
		"it failed twice, ten minutes ago":      {hourly, failed("12:15:00", "12:16:00", 2), "12:26:00", false},
		"it failed twice, twenty minutes ago":   {hourly, failed("12:15:00", "12:16:00", 2), "12:36:00", true},
		"it fails and fails, and its hour came": {hourly, failed("12:15:00", "12:16:00", 99), "13:15:00", true},
		"it was cut off":                        {hourly, &models.JobRun{StartedAt: at("12:15:00")}, "12:15:01", true},
		"it was cut off again and again":        {hourly, &models.JobRun{StartedAt: at("12:15:00"), Failures: 3, CutOffs: 3}, "12:16:00", false},
		"it failed often and was cut off":       {hourly, &models.JobRun{StartedAt: at("12:15:00"), Failures: 9}, "12:16:00", true},
		"again and again, and its hour came":    {hourly, &models.JobRun{StartedAt: at("12:15:00"), Failures: 3, CutOffs: 3}, "13:15:00", true},
		"the other node's clock is far ahead":   {hourly, done("13:15:50", "13:15:51"), "12:20:00", false},
		"noted after the next hour":             {hourly, done("13:16:10", "13:16:11"), "12:20:00", true},
		"cut off and noted for later":           {hourly, &models.JobRun{StartedAt: at("23:00:00"), Failures: 3, CutOffs: 3}, "12:20:00", true},
		"it failed and is noted for later":      {hourly, failed("23:00:00", "23:00:01", 1), "12:20:00", true},
	} {
		if got := c.job.due(c.last, at(c.now)); got != c.want {
			t.Errorf("%s: due %v", name, got)
		}
	}
}

// A time zone in front of a schedule is kept over the changes of daylight saving time.
func TestNextInZone(t *testing.T) {
	t.Parallel()
	j := Job{When: "TZ=America/New_York 30 7 * * *"}
	for after, want := range map[string]string{
		"2026-10-31T12:00:00Z": "2026-11-01T12:30:00Z", // the clocks are set back in that night
		"2026-10-30T12:00:00Z": "2026-10-31T11:30:00Z",
		"2027-03-13T13:00:00Z": "2027-03-14T11:30:00Z", // and forward in that one
		"2027-03-12T13:00:00Z": "2027-03-13T12:30:00Z",
	} {
		at, err := time.Parse(time.RFC3339, after)
		if err != nil {
			t.Fatal(err)
		}
		if got := j.Next(at).UTC().Format(time.RFC3339); got != want {
			t.Errorf("after %s: %s, want %s", after, got, want)
		}
	}
}

// Another node takes over from a killed one within half a minute, as docs/operations.md promises.
func TestFollowedInTime(t *testing.T) {
	t.Parallel()
	if leaseFor+lookEvery >= 30*time.Second {
		t.Errorf("a lease of %s, looked at every %s", leaseFor, lookEvery)
	}
}

// Every job has a description, a limit, and either a schedule or the reason why it is off.
func TestAllJobs(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, j := range All(Deps{}) {
		if names[j.Name] || j.Name == "" || j.What == "" || j.Limit <= 0 || j.Run == nil || (j.When == "") == (j.Off == "") {
			t.Errorf("%+v", j)
		}
		names[j.Name] = true
		if j.When != "" && j.Next(time.Now()).IsZero() {
			t.Errorf("%s never runs: %q", j.Name, j.When)
		}
	}
}

// The outcome of a reconcile that fails for thousands of accounts is still one short line.
func TestNamedIDs(t *testing.T) {
	t.Parallel()
	for want, ids := range map[string][]string{
		"a": {"a"}, "a, b, c, d, e": {"a", "b", "c", "d", "e"}, "a, b, c, d, e and 2 more": {"a", "b", "c", "d", "e", "f", "g"},
	} {
		if got := namedIDs(ids); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
