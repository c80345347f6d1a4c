package admin_test

import (
	"bytes"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// far is more than the doctor calls near.
const far = 100 * time.Millisecond

// A database that answers, but from far away, is reported with the time that the way takes, which is not mistaken for a
// difference of the clocks.
func TestDoctorFarFromTheDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Time{}
	d.database = storetest.NewPostgres(t)
	d.run(0, "db", "migrate")
	d.database = storetest.PostgresAt(t, d.database, storetest.OverTCP(t, storetest.PostgresSocket(t, d.database), far))
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, " ms away") || !strings.Contains(out, " 0s from PostgreSQL's") { // the tests' PostgreSQL has settings to warn of first
		t.Error(out)
	}
}

// A release that runs on the schema of a later one says so: its own migrations did not make that schema.
func TestDoctorOfALaterSchema(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Now() // otherwise the doctor complains about the clock
	d.run(0, "db", "migrate")
	d.exec("INSERT INTO schema_migrations (version_id, is_applied) VALUES (4242, true)")
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, "later ones from a newer release: schema 4242, of which this program knows") {
		t.Error(out)
	}
}

// One node keeps 16 connections, and a command needs up to three: a user who may open fewer is told before anything fails.
func TestDoctorOfFewConnections(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Now() // otherwise the doctor complains about the clock
	d.database = storetest.NewPostgres(t)
	d.run(0, "db", "migrate")
	owner := d.database
	at, err := url.Parse(d.database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(at.Path, "/")
	at.User = url.User("few")
	d.database = at.String()
	for _, c := range []struct{ limits, want string }{
		{"DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN", ""},
		{"ALTER ROLE few CONNECTION LIMIT 19", ""},
		{"ALTER ROLE few CONNECTION LIMIT 18", "lets its user open 18 connections; a node opens 16, and a command 3"},
		{"ALTER ROLE few CONNECTION LIMIT -1; ALTER DATABASE " + name + " CONNECTION LIMIT 9", "lets its user open 9 connections; a node opens 16, and a command 3"},
		{"ALTER ROLE few SUPERUSER", ""},
	} {
		storetest.Exec(t, owner, c.limits, "GRANT ALL ON ALL TABLES IN SCHEMA public TO few")
		out, _ := d.run(0, "doctor")
		if c.want == "" && strings.Contains(out, "lets its user open") || !strings.Contains(out, c.want) {
			t.Errorf("%s: want %q\n%s", c.limits, c.want, out)
		}
	}
}

// A PostgreSQL that is too old is reported: most of the product works with it.
func TestDoctorOfAnOldPostgres(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Now() // otherwise the doctor complains about the clock
	d.database = storetest.NewPostgres(t)
	d.run(0, "db", "migrate")
	var version string
	if err := storetest.SQL(t, d.database).QueryRowContext(t.Context(), "SHOW server_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	const complaint = "it does not tell nodes when it becomes a standby"
	if out, _ := d.run(0, "doctor"); strings.Contains(out, complaint) {
		t.Errorf("of %s:\n%s", version, out)
	}
	old := "13" + version[2:]
	d.database = storetest.PostgresAt(t, d.database, storetest.Link(t, storetest.PostgresSocket(t, d.database), func(net.Conn) (sent, answered func([]byte) bool) {
		return nil, func(piece []byte) bool {
			for at := bytes.Index(piece, []byte(version)); at >= 0; at = bytes.Index(piece, []byte(version)) {
				copy(piece[at:], old)
			}
			return true
		}
	}))
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, "postgres "+old) || !strings.Contains(out, complaint) || !strings.Contains(out, "upgrade PostgreSQL to 14 or newer") {
		t.Errorf("of %s:\n%s", old, out)
	}
}

// A database that nobody has created yet is the usual fault of a new installation.
func TestDoctorWithoutADatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	at, err := url.Parse(storetest.NewPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/nobody_created_it"
	d.database = at.String()
	out, _ := d.run(1, "doctor")
	if !strings.Contains(out, "SQLSTATE 3D000") || !strings.Contains(out, "that it exists (`createdb`)") {
		t.Error(out)
	}
}

// The remedy for a server without a free connection is not only about the password.
func TestDoctorWithoutAFreeConnection(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.database = storetest.NewPostgres(t)
	at, err := url.Parse(d.database)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, d.database, "DROP ROLE IF EXISTS full_up; CREATE ROLE full_up LOGIN CONNECTION LIMIT 0")
	at.User = url.User("full_up")
	d.database = at.String()
	out, _ := d.run(1, "doctor")
	if !strings.Contains(out, "SQLSTATE 53300") || !strings.Contains(out, "that it has connections left (max_connections)") {
		t.Error(out)
	}
}
