package admin_test

import (
	"strings"
	"testing"
)

// Emails that could not be sent are listed with the reason, and sent when somebody says so.
func TestMails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ada := d.object("accounts", "create", "--email", "ada@example.com")["id"].(string)
	d.run(0, "accounts", "create", "--email", "bob@example.com")
	for _, m := range []string{ // id, name, sent_at, failed_at, last_error
		"1, 'a', '2026-03-01 00:00:00+00:00', NULL, ''", "2, 'b', NULL, '2026-03-02 00:00:00+00:00', 'connection refused'",
		"3, 'c', NULL, '2026-03-02 00:00:00+00:00', 'connection refused'", "4, 'd', NULL, NULL, 'greylisted'",
	} {
		d.exec("INSERT INTO mails (id, once, sent_at, failed_at, last_error, account_id, kind, data, created_at, next_at, attempts) VALUES (" + m +
			", '" + ada + "', 'welcome_pro', '{}', '2026-03-01 00:00:00+00:00', '2026-03-01 00:00:00+00:00', 10)")
	}
	states := func(list []map[string]any) string {
		var all []string
		for _, m := range list {
			if m["account_id"] != ada || (m["next_at"] != nil) != (m["state"] == "waiting") {
				t.Errorf("%v", m)
			}
			all = append(all, m["state"].(string))
		}
		return strings.Join(all, " ")
	}
	if got := states(d.list("mails", "list")); got != "waiting failed failed sent" {
		t.Error(got)
	}
	if got := states(d.list("mails", "list", "--account", "ada@example.com", "--limit", "2")); got != "waiting failed" {
		t.Error(got)
	}
	if got := d.list("mails", "list", "--account", "bob@example.com"); len(got) != 0 {
		t.Error(got)
	}
	d.run(4, "mails", "retry", "1")
	d.run(4, "mails", "retry", "9")
	d.run(2, "mails", "retry", "some")
	d.run(2, "mails", "retry", "0")
	if got := states(d.list("mails", "retry", "2")); got != "waiting" {
		t.Error(got)
	}
	if got := d.list("mails", "list", "--failed"); len(got) != 1 || got[0]["last_error"] != "connection refused" {
		t.Error(got)
	}
	out, said := d.run(0, "mails", "retry", "all", "-o", "csv")
	if !strings.Contains(out, "\n3,"+ada+",welcome_pro,waiting,0,connection refused,") || said != "1 email to be sent by a running server.\n" {
		t.Errorf("%s%s", out, said)
	}
	if _, said := d.run(0, "mails", "retry", "all"); said != "0 emails to be sent by a running server.\n" {
		t.Error(said)
	}
	log, _ := d.run(0, "audit", "list", "-o", "csv")
	if strings.Count(log, ",mails retry,,all,,,done,") != 1 || strings.Count(log, ",mails retry,,2,,,done,") != 1 || strings.Count(log, ",failed: not_found,") != 2 {
		t.Error(log)
	}
}
