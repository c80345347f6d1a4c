// Package store holds every SQL and GORM call of the product, for SQLite and PostgreSQL. Exported methods
// run their own transactions.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"lottery/models"
)

// The dialects.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

const (
	// MaxConnections is how many connections a Store opens to PostgreSQL; urgentConnections of them are for urgent.
	MaxConnections    = 16
	urgentConnections = 6
	// CommandConnections is how many a command needs at most: an import reads versions on an urgent one and merges on
	// another, while a third finds out who holds a lock that it waits for.
	CommandConnections = 3
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	dialect string
	path    string      // of the SQLite file
	opened  os.FileInfo // identity of that file
	read    *gorm.DB    // SQLite: a read-only pool, so that readers never wait for the writer
	write   *gorm.DB    // SQLite: one connection whose transactions are BEGIN IMMEDIATE
	now     func() time.Time
	skew    func() time.Duration

	patience time.Duration    // see Bounded
	waiting  func(why string) // may be nil
	renewed  func() string    // may be nil
	heldUp   atomic.Bool      // a migration had to make room for others
	backends backends         // PostgreSQL

	accountsChanged chan struct{} // see AccountsChanged

	counters *sql.DB   // connections of their own for the counters; see openQuotaLog, and urgent
	lineage  lineage   // PostgreSQL
	quota    *quotaLog // SQLite
}

// Options configures a Store.
type Options struct {
	// Now is the clock for all stored times; nil = time.Now.
	Now func() time.Time
	// Skew is added to PostgreSQL's clock where that one is used (quota periods, see Clock), for tests; nil = none.
	Skew func() time.Duration
	// Patience is how long Bounded and Lasting last, and the unit of Await; 0 = 5 seconds.
	Patience time.Duration
	// Waiting, if not nil, receives what a slow startup waits for, and what to do about it (see Await).
	Waiting func(why string)
	// Renewed returns the URL of PostgreSQL as it is now. New connections use its user and password, which may be changed
	// while the program runs; nil = they stay.
	Renewed func() string
	// Existing refuses a SQLite file that does not exist (CodeNotFound) instead of creating it.
	Existing bool
}

// Open connects to databaseURL: sqlite:PATH (created if it does not exist) or postgres://…. It refuses another
// program's database (CodeConflict). It does not check the state of the schema; Prepare does.
func Open(ctx context.Context, databaseURL string, opts Options) (*Store, error) {
	now := opts.Now
	if now == nil {
		now = time.Now
	}
	s := &Store{now: func() time.Time { return now().UTC().Truncate(time.Microsecond) }, patience: cmp.Or(opts.Patience, patience), waiting: opts.Waiting, renewed: opts.Renewed, accountsChanged: make(chan struct{}, 1)}
	if s.skew = opts.Skew; s.skew == nil {
		s.skew = func() time.Duration { return 0 }
	}
	var err error
	switch {
	case opts.Existing && !Exists(databaseURL):
		return nil, models.Errorf(models.CodeNotFound, "there is no database at %s: give the right one (--config, or database_url), or create it with `lotteryadmin db migrate`", databaseURL)
	case strings.HasPrefix(databaseURL, "sqlite:"):
		err = s.openSQLite(ctx, databaseURL)
	case strings.HasPrefix(databaseURL, "postgres://"), strings.HasPrefix(databaseURL, "postgresql://"):
		if err = s.openPostgres(ctx, databaseURL); err == nil {
			err = s.notForeignSchema(ctx, databaseURL)
		}
	default:
		err = models.Errorf(models.CodeInvalid, "the database URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Dialect is SQLite or Postgres.
func (s *Store) Dialect() string { return s.dialect }

func gormConfig() *gorm.Config {
	return &gorm.Config{
		Logger:                 logger.Discard, // errors are returned, and logged once by the caller, without values
		TranslateError:         true,
		SkipDefaultTransaction: true,
		PrepareStmt:            false,
		QueryFields:            true, // columns that a later release adds do not change what a statement returns
	}
}

func (s *Store) openSQLite(ctx context.Context, databaseURL string) error {
	s.dialect = SQLite
	s.path, _ = SQLiteFile(databaseURL)
	switch {
	case s.path == "" || strings.HasPrefix(s.path, ":memory:") || strings.ContainsAny(s.path, "?#"):
		return models.Errorf(models.CodeInvalid, "the database URL %s does not name a file; use sqlite:data/lottery.db", databaseURL)
	case strings.HasPrefix(s.path, "~"): // only a shell expands it, and not in this place
		return models.Errorf(models.CodeInvalid, "the ~ in the database URL %s is not expanded: write out the folder, as in sqlite:/home/ada/lottery.db", databaseURL)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o750); err != nil {
		return fmt.Errorf("make the folder of the database: %w", err)
	}
	// Created here, so that others can never read it, not even for a moment.
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, syscall.EISDIR) {
		return unopened(s.path, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		return &models.Error{Code: models.CodeUnavailable, Message: s.path + unwritable, Err: err}
	}
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	s.opened, err = file.Stat()
	if err == nil && s.opened.Size() == 0 {
		giveToOwnerOfFolder(file)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	if err := notForeign(ctx, s.path); err != nil {
		return err
	}
	common := url.Values{"_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", logLimit, "synchronous(NORMAL)", "foreign_keys(1)",
	}}
	readers := url.Values{"_pragma": append([]string{"query_only(1)"}, common["_pragma"]...)}
	// Overwrite deleted data: it may be somebody's address.
	writer := url.Values{"_pragma": append([]string{"secure_delete(1)"}, common["_pragma"]...), "_txlock": {"immediate"}}
	if s.write, err = gorm.Open(sqlite.Open(sqliteURI(s.path, writer)), gormConfig()); err != nil {
		return unopened(s.path, err)
	}
	if s.read, err = gorm.Open(sqlite.Open(sqliteURI(s.path, readers)), gormConfig()); err != nil {
		return unopened(s.path, err)
	}
	write, err := s.write.DB()
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	setLimit(write, 1)
	read, err := s.read.DB()
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	setLimit(read, 8)
	if s.quota, err = openQuotaLog(s.path, read, s.now); err != nil {
		return err
	}
	s.counters = s.quota.write
	return nil
}

func (s *Store) openPostgres(ctx context.Context, databaseURL string) error {
	s.dialect = Postgres
	err := s.connectPostgres(databaseURL)
	if err == nil {
		err = s.greet(ctx)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled): // told to stop
		return fmt.Errorf("connect to PostgreSQL: %w", ctx.Err())
	}
	// The driver's text may contain the password; the log gets only host and database.
	slog.DebugContext(ctx, "connect to PostgreSQL", "error", redact(err.Error(), databaseURL))
	why := redact(rootCause(err), databaseURL)
	if errors.Is(err, context.DeadlineExceeded) {
		why = "it does not answer: see that PostgreSQL runs there, that nothing on the way swallows what is sent, and that a pooler has a connection left " +
			"(connect_timeout=SECONDS in the database's URL waits for longer)"
	}
	return &models.Error{Code: models.CodeUnavailable, Message: "cannot connect to " + redact(databaseURL, databaseURL) + ": " + why}
}

// greet makes the first connection.
func (s *Store) greet(ctx context.Context) error {
	pool, err := s.write.DB()
	if err != nil {
		return err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

// setLimit bounds a pool. Idle connections stay open, so that a burst does not reconnect.
func setLimit(pool *sql.DB, open int) {
	pool.SetMaxOpenConns(open)
	pool.SetMaxIdleConns(open)
}

// rootCause returns the driver's message about a connection that could not be made. If TLS is optional the driver tries
// with and without it and reports both, a line each; that the server has no TLS matters only if there is nothing else,
// and repetitions are dropped.
func rootCause(err error) string {
	text := err.Error()
	if _, rest, ok := strings.Cut(text, "`:"); ok && strings.HasPrefix(text, "failed to connect") {
		text = rest
	}
	var causes []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" && !slices.Contains(causes, line) {
			causes = append(causes, line)
		}
	}
	if others := slices.DeleteFunc(slices.Clone(causes), func(cause string) bool { return strings.Contains(cause, "server refused TLS connection") }); len(others) > 0 {
		causes = others
	}
	return strings.Join(causes, "; ")
}

// reader returns a session for queries that change nothing.
func (s *Store) reader(ctx context.Context) *gorm.DB { return s.read.WithContext(ctx) }

// urgent is reader for what requests to the API depend on: keys, their changes, the draws, and the clock by which old
// statistics are deleted. On PostgreSQL it shares connections with the counters, so that these never wait for pages and
// jobs, all of which may hang on a locked table.
func (s *Store) urgent(ctx context.Context) *gorm.DB {
	session := s.reader(ctx)
	if s.dialect == Postgres {
		session.Statement.ConnPool = s.counters
	}
	return session
}

// writer returns a session for changes. SQLite has only one connection for them: do nothing slow on it.
func (s *Store) writer(ctx context.Context) *gorm.DB { return s.write.WithContext(ctx) }

// againAfter is how long a transaction that was in the way of another leaves that one time: it may otherwise take what
// the other waits for before that one wakes up.
const againAfter = 100 * time.Millisecond

// transaction runs fn in one write transaction. It runs fn again if PostgreSQL ended the transaction because it and
// another waited for each other. A connection that had been broken off before is found out when the transaction begins;
// all that are idle may be.
func (s *Store) transaction(ctx context.Context, fn func(tx *gorm.DB) error) error {
	var noted, begun bool
	db := s.writer(context.WithValue(ctx, notedChange{}, &noted))
	work := func(tx *gorm.DB) error {
		begun = true
		return fn(tx)
	}
	err := db.Transaction(work)
	for broken := 0; broken < MaxConnections && !begun && brokenOff(err); broken++ {
		err = db.Transaction(work)
	}
	for again := 0; again < 3 && deadlocked(err); again++ {
		time.Sleep(againAfter)
		err = db.Transaction(work)
	}
	if err == nil && noted {
		select {
		case s.accountsChanged <- struct{}{}:
		default: // a signal is pending already
		}
	}
	return err
}

// Close closes all connections. SQLite then writes its log back into the file.
func (s *Store) Close() error {
	var errs []error
	if s.counters != nil {
		errs = append(errs, s.counters.Close())
	}
	for _, db := range []*gorm.DB{s.read, s.write} {
		if db == nil {
			continue
		}
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// unwritable ends the message about a file that this user may not open, or not write.
const unwritable = " cannot be written: this user needs write access to the file and to its folder, where SQLite keeps its log"

// unopened says why a SQLite file cannot be opened, and what to do about it.
func unopened(path string, err error) error {
	const notADatabase, readOnly = 26, 8
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return models.Errorf(models.CodeUnavailable, "%s is a folder, not a database file: give a file (--database-url, or database_url)", path)
	}
	switch code := sqliteCode(err); {
	case code == 0:
		return fmt.Errorf("open %s: %w", path, err)
	case code&sqlitePrimary == notADatabase:
		return &models.Error{Code: models.CodeUnavailable, Message: path + " is not a SQLite database: give another file (--database-url, or database_url), or replace it with a backup", Err: err}
	case code&sqlitePrimary == readOnly:
		return &models.Error{Code: models.CodeUnavailable, Message: path + unwritable, Err: err}
	default:
		return unavailable(fmt.Errorf("open %s: %w", path, err))
	}
}
