package admin_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"lottery/admin"
	"lottery/models"
	"lottery/models/store/storetest"
)

// A change that found the disk full is in the audit log as well, if there is room for the entry: what an import wrote
// is gone by then. If there is none, only the disk is reported.
func TestFullDiskIsAudited(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.database = storetest.NewPostgres(t)
	d.run(0, "db", "migrate")
	storetest.Exec(t, d.database, "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$")
	fill := func(table string) {
		t.Helper()
		storetest.Exec(t, d.database, "CREATE TRIGGER full_disk BEFORE INSERT ON "+table+" FOR EACH ROW EXECUTE FUNCTION full_disk()")
	}
	set := func() {
		t.Helper()
		_, said := d.run(1, "draws", "set", "--game", "ny-win-4", "--date", "2007-06-10", "--tod", "Midday", "--number", "0008", "--reason", "test")
		if want := "lotteryadmin: the database's disk is full: free up space\n"; said != want {
			t.Errorf("%q", said)
		}
	}
	fill("draws")
	set()
	if out, _ := d.run(0, "audit", "list", "-o", "csv"); !strings.Contains(out, ",draws set,") || !strings.Contains(out, ",failed: unavailable,") {
		t.Errorf("the audit log has\n%s", out)
	}
	fill("audit_entries")
	set()
	if _, said := d.run(4, "accounts", "resume", "nobody@example.com"); !strings.Contains(said, "there is no account") || !strings.Contains(said, "this attempt could not be written to the audit log") {
		t.Errorf("%q", said)
	}
}

// A change whose result nobody reads is one entry, and no message; so is what leaves no entry of its own.
func TestUnreadIsAuditedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, line := range []string{"accounts create --email ada@example.com", "accounts export ada@example.com"} {
		var said strings.Builder
		if code := admin.Run(t.Context(), strings.Fields(line), d.env(strings.NewReader(""), closed{}, &said)); code != 1 || strings.Contains(said.String(), "lotteryadmin:") {
			t.Errorf("%s: exit code %d: %s", line, code, &said)
		}
		if log := d.list("audit", "list"); !strings.HasPrefix(line, log[0]["action"].(string)) || log[0]["result"] != "done" && log[0]["result"] != "done, not all of it read" {
			t.Errorf("%s: %v", line, log)
		}
	}
	if log := d.list("audit", "list"); len(log) != 2 {
		t.Errorf("%v", log)
	}
}

// A migration that fails is in the audit log, with those that were applied before it.
func TestFailedMigrationIsAudited(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"sqlite:" + t.TempDir() + "/lottery.db", storetest.NewPostgres(t)} {
		d := newDesk(t)
		d.database = database
		d.run(0, "db", "migrate")
		// Of those that are missing now, the first can be applied again and the second cannot: its column is there
		// already.
		storetest.Exec(t, d.database, "DELETE FROM schema_migrations WHERE version_id >= 12", "DROP INDEX links_mailbox", "ALTER TABLE links DROP COLUMN mailbox")
		if _, said := d.run(1, "db", "migrate"); !strings.Contains(said, "Applied 0012_links_mailbox.sql.") {
			t.Error(said)
		}
		var object, result string
		err := storetest.SQL(t, d.database).QueryRowContext(t.Context(), "SELECT object, result FROM audit_entries WHERE action = 'db migrate' AND result <> '' ORDER BY id DESC").Scan(&object, &result)
		if err != nil || object != "0012_links_mailbox.sql" || result != "failed" {
			t.Errorf("the audit log has %q, %q, %v", object, result, err)
		}
	}
}

// A command that is interrupted is in the audit log, although its context has ended by then.
func TestInterruptedIsAudited(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.object("accounts", "create", "--email", "ada@example.com")["id"].(string)
	d.terminal = true
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, said strings.Builder
	asked := readerFunc(func([]byte) (int, error) { // Ctrl-C at the question
		stop()
		return 0, io.EOF
	})
	if code := admin.Run(ctx, []string{"accounts", "suspend", "ada@example.com"}, d.env(asked, &out, &said)); code != 1 || !strings.HasSuffix(said.String(), "lotteryadmin: interrupted\n") {
		t.Errorf("exit code %d: %s", code, &said)
	}
	if log, _ := d.run(0, "audit", "list", "-o", "csv"); !strings.Contains(log, ",accounts suspend,"+id+",,,,interrupted,") {
		t.Errorf("the audit log has\n%s", log)
	}
}

// What was not confirmed is no change; a claimed name that is the user's own is said once; and what SSH says about the
// origin cannot write to the reader's terminal.
func TestWhoIsAudited(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "accounts", "create", "--email", "ada@example.com")
	me := d.list("audit", "list")[0]["who"].(string)
	d.terminal, d.stdin = true, "n\n"
	d.run(1, "accounts", "suspend", "ada@example.com")
	if log := d.list("audit", "list"); len(log) != 1 {
		t.Errorf("not confirmed, but in the audit log: %v", log)
	}
	d.run(0, "accounts", "resume", "ada@example.com", "--as", me)
	if who := d.list("audit", "list")[0]["who"]; who != me {
		t.Errorf("%s claims to be %s: %v", me, me, who)
	}
	d.set = map[string]string{"SSH_CLIENT": "192.0.2.7\x1b[31m 50000 22"}
	d.run(0, "accounts", "resume", "ada@example.com")
	if from := d.list("audit", "list")[0]["from"].(string); !strings.HasSuffix(from, `, from 192.0.2.7\x1b[31m`) {
		t.Errorf("from %q", from)
	}
}

// A refused change of a draw or a game is in the audit log with what it was about.
func TestRefusalsNameTheirObject(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	slot := []string{"--game", "va-pick-3", "--date", "2020-05-04", "--tod", "Day", "--reason", "x"}
	for _, c := range []struct {
		code   int
		args   []string
		object string
	}{
		{4, append([]string{"draws", "unset", "--yes"}, slot...), "va-pick-3 2020-05-04 Day 1"},
		{4, append([]string{"draws", "release", "--sequence", "2"}, slot...), "va-pick-3 2020-05-04 Day 2"},
		{4, []string{"draws", "set", "--number", "123", "--game", "va-pick-9", "--date", "2020-05-04", "--tod", "Day", "--reason", "x"}, "va-pick-9 2020-05-04 Day 1"},
		{5, []string{"games", "add", "--id", "va-pick-3", "--name", "V", "--digits", "3", "--tods", "Day", "--jurisdiction", "VA", "--timezone", "America/New_York"}, "va-pick-3"},
		{5, []string{"games", "set", "va-pick-3", "--name", "V"}, "va-pick-3"},
		{4, []string{"games", "remove", "va-pick-9", "--yes"}, "va-pick-9"},
	} {
		d.run(c.code, c.args...)
		if log := d.list("audit", "list"); log[0]["object"] != c.object || !strings.HasPrefix(log[0]["result"].(string), "failed: ") {
			t.Errorf("%v: %v", c.args, log[0])
		}
	}
}

// A refused change of an account is in the audit log of that account.
func TestRefusalsNameTheirAccount(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.object("accounts", "create", "--email", "ada@example.com", "--name", "Ada")["id"]
	for range models.DefaultPlans()[models.PlanFree].MaxKeys {
		d.run(0, "keys", "create", "--account", "ada@example.com")
	}
	refused := func(code int, args ...string) {
		t.Helper()
		d.run(code, args...)
		if log := d.list("audit", "list"); log[0]["account_id"] != id || !strings.HasPrefix(log[0]["result"].(string), "failed: ") {
			t.Errorf("%v: %v", args, log[0])
		}
	}
	refused(5, "keys", "create", "--account", "Ada@example.com")
	d.run(0, "accounts", "delete", "ada@example.com", "--yes")
	refused(4, "accounts", "set-limit", id.(string), "7")
}
