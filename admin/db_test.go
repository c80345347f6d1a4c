package admin_test

import (
	"strings"
	"testing"
)

// db status shows even a database that this program refuses, and says that it does.
func TestStatusOfNewerDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	d.exec("UPDATE meta SET value = '9000' WHERE name = 'oldest_schema'")
	_, refused := d.run(5, "accounts", "list")
	stdout, stderr := d.run(5, "db", "status", "-o", "json")
	if !strings.Contains(stdout, `"dialect": "sqlite"`) || stderr != refused || !strings.Contains(stderr, "needs a program that knows schema 9000") {
		t.Errorf("%s%s", stdout, stderr)
	}
}
