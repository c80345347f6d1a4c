package admin_test

import (
	"strings"
	"testing"
	"time"
)

// A job that has not finished is running while its lock is held, and was cut off otherwise.
func TestUnfinishedJobs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	d.exec("INSERT INTO job_runs (job, started_at, node) VALUES ('sync', '2026-03-04 05:00:00+00:00', 'a:1'), ('cleanup', '2026-03-04 05:00:00+00:00', 'b:2')")
	if _, mine, err := d.open().TryLease(t.Context(), "job:cleanup", time.Hour); err != nil || !mine {
		t.Fatal(mine, err)
	}
	states := map[string]any{}
	for _, j := range d.list("jobs", "list") {
		states[j["name"].(string)] = j["state"]
	}
	if states["sync"] != "cut_off" || states["cleanup"] != "running" || states["key-expiry"] != "never" || states["outbox"] != "never" {
		t.Errorf("%v", states)
	}
	if _, said := d.run(5, "jobs", "run", "cleanup"); !strings.Contains(said, "cleanup") {
		t.Errorf("%q", said)
	}
}

// With a mail server, the outbox is part of what servers do.
func TestOutboxIsListed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.set = map[string]string{"LOTTERY_SMTP_URL": "smtp://127.0.0.1:1", "LOTTERY_MAIL_FROM": "noreply@example.com"}
	out, said := d.run(0, "jobs", "list", "-o", "csv")
	if !strings.Contains(out, "\noutbox,send mails,\"every 5s, on every node\",,running,,,,\"0 emails waiting, 0 given up\",false,0,\n") {
		t.Errorf("%s%s", out, said)
	}
}
