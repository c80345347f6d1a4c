package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// installHint is the command that installs what the tests need besides Go.
const installHint = "sudo apt-get install -y postgresql redis-server chromium curl python3 nodejs r-base-core prometheus caddy"

// Missing skips a test whose binary is not installed; with CI=true it fails instead.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed: %s", what, installHint)
	}
	t.Skipf("%s is not installed: %s", what, installHint)
}

// Server is a private PostgreSQL server in a temporary folder. It listens only on a Unix socket.
type Server struct {
	dir  string
	bin  string
	proc *process
}

// shared is the server of NewPostgres, and a connection to it.
var shared = sync.OnceValues(func() (*sharedServer, error) {
	s, err := startPostgres()
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("pgx", s.url("postgres"))
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(context.Background(), "CREATE DATABASE prepared"); err != nil {
		return nil, err
	}
	return &sharedServer{s, db}, prepare(s.url("prepared"))
})

type sharedServer struct {
	*Server
	db *sql.DB
}

// NewPostgres returns the address of a new database on a server that all tests of the package share. It has the schema
// and the product's games, like URL. The server ends with the test process.
func NewPostgres(t testing.TB) string { return onShared(t, "prepared") }

// EmptyPostgres is NewPostgres for an empty database.
func EmptyPostgres(t testing.TB) string { return onShared(t, "template1") }

func onShared(t testing.TB, template string) string {
	t.Helper()
	if pgBin() == "" {
		Missing(t, "PostgreSQL")
	}
	s, err := shared()
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	return s.create(t, s.db, template)
}

// NewPostgresServer starts a server for one test, which may stop and start it.
func NewPostgresServer(t testing.TB) *Server {
	t.Helper()
	if pgBin() == "" {
		Missing(t, "PostgreSQL")
	}
	s, err := startPostgres()
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	t.Cleanup(s.remove)
	return s
}

// pgBin returns the folder of PostgreSQL's binaries, or "".
func pgBin() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(target)
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

func startPostgres() (*Server, error) {
	dir, err := makeFolder()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: pgBin()}
	OnExit(s.remove)
	if err := ownedByUnprivileged(dir); err != nil {
		return nil, err
	}
	// Make ids sort differently from their bytes, as with the locale of most servers.
	if err := s.initdb("--locale=C", "--locale-provider=icu", "--icu-locale=en-u-ka-shifted"); err != nil {
		if err := s.initdb("--no-locale"); err != nil { // before 15, or built without ICU
			return nil, err
		}
	}
	return s, s.start()
}

func (s *Server) initdb(locale ...string) error {
	args := append([]string{"-D", filepath.Join(s.dir, "data"), "-U", "lottery", "-A", "trust", "-E", "UTF8", "--no-sync"}, locale...)
	cmd := exec.Command(filepath.Join(s.bin, "initdb"), args...)
	cmd.Dir = s.dir
	if err := unprivileged(cmd); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) start(settings ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), append([]string{"-D", filepath.Join(s.dir, "data"), "-k", s.dir,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300",
		"-c", "shared_buffers=64MB", "-c", "max_wal_size=1GB",
		"-c", "DateStyle=SQL,DMY", "-c", "TimeZone=Asia/Kathmandu", // a server's settings are the operator's
		"-c", "default_transaction_isolation=serializable", "-c", "IntervalStyle=iso_8601", "-c", "bytea_output=escape",
		"-c", "extra_float_digits=0", "-c", "standard_conforming_strings=off"}, settings...)...)
	cmd.Dir = s.dir
	proc, err := startProcess(cmd)
	if err != nil {
		return err
	}
	s.proc = proc
	return waitFor(10*time.Second, func() error {
		db, err := sql.Open("pgx", s.url("postgres"))
		if err != nil {
			return err
		}
		defer db.Close()
		return db.PingContext(context.Background())
	})
}

func (s *Server) url(database string) string {
	return fmt.Sprintf("postgres://lottery@/%s?host=%s", database, s.dir)
}

// databases counts those that were made, whose names must differ.
var databases atomic.Int64

// NewDatabase returns the address of a new, empty database on s.
func (s *Server) NewDatabase(t testing.TB) string {
	t.Helper()
	db, err := sql.Open("pgx", s.url("postgres"))
	if err != nil {
		t.Fatalf("connect to PostgreSQL: %v", err)
	}
	defer db.Close()
	return s.create(t, db, "template1")
}

// create makes a database as a copy of another, and returns its address.
func (s *Server) create(t testing.TB, db *sql.DB, template string) string {
	t.Helper()
	name := fmt.Sprintf("test%d", databases.Add(1))
	if _, err := db.ExecContext(context.Background(), "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("make a database: %v", err)
	}
	return s.url(name)
}

// Stop kills the server, like a crash; its data stays.
func (s *Server) Stop() { s.proc.quit() }

// Start starts the server again.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
}

// Keep saves the server's current data, like a standby that receives nothing from then on. The
// server is stopped meanwhile.
func (s *Server) Keep(t testing.TB) {
	t.Helper()
	s.Stop()
	cmd := exec.Command("cp", "-a", filepath.Join(s.dir, "data"), filepath.Join(s.dir, "kept"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("keep the data: %v\n%s", err, out)
	}
	s.Start(t)
}

// TakeOver kills the server and replaces its data with what Keep saved: everything since is lost,
// and a new timeline begins.
func (s *Server) TakeOver(t testing.TB) {
	t.Helper()
	s.Stop()
	data, kept := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "kept")
	err := errors.Join(os.RemoveAll(data), os.Rename(kept, data), os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o644))
	if err == nil {
		err = s.start("-c", "restore_command=false")
	}
	if err != nil {
		t.Fatalf("take the place of PostgreSQL: %v", err)
	}
}

// Split returns another server that takes over with what Keep saved, on a new timeline, while s goes on.
func (s *Server) Split(t testing.TB) *Server {
	t.Helper()
	dir, err := makeFolder()
	if err != nil {
		t.Fatal(err)
	}
	other := &Server{dir: dir, bin: s.bin}
	t.Cleanup(other.remove)
	data := filepath.Join(dir, "data")
	err = errors.Join(ownedByUnprivileged(dir), os.Rename(filepath.Join(s.dir, "kept"), data), os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o644))
	if err == nil {
		err = other.start("-c", "restore_command=false", "-c", "hot_standby=off") // nobody connects before it takes changes
	}
	if err != nil {
		t.Fatalf("take over from PostgreSQL: %v", err)
	}
	return other
}

// Socket is where the server listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// StandBy starts the server again as a hot standby, which only reads.
func (s *Server) StandBy(t testing.TB) {
	t.Helper()
	s.Stop()
	if err := os.WriteFile(filepath.Join(s.dir, "data", "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
}

func (s *Server) remove() {
	if s.proc != nil {
		s.proc.quit()
	}
	_ = os.RemoveAll(s.dir)
}
