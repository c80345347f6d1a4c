package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3/lock"

	"lottery/models"
)

const (
	// startPatience is the multiple of the patience for which startup waits for the answer to a short statement: half a
	// minute, as long as it waits for the next of the draws.
	startPatience = 6
	// againPatience is the multiple of the patience between two messages about the same wait: a minute.
	againPatience = 12
)

// Await runs fn, a part of startup that may take long, and reports to Options.Waiting what it waits for: after 5
// seconds, and then every minute.
func (s *Store) Await(ctx context.Context, fn func(context.Context) error) error {
	return s.await(ctx, 0, fn)
}

// AwaitShort is Await for a few short statements, which are given up after half a minute (CodeUnavailable). SQLite is
// exempt: it bounds waits for locks itself, and may have a lot to read back after a crash.
func (s *Store) AwaitShort(ctx context.Context, fn func(context.Context) error) error {
	if s.dialect == SQLite {
		return s.await(ctx, 0, fn)
	}
	return s.await(ctx, startPatience*s.patience, fn)
}

// await gives up fn after limit; 0 = never.
func (s *Store) await(ctx context.Context, limit time.Duration, fn func(context.Context) error) error {
	working, end := context.WithCancelCause(ctx)
	var teller sync.WaitGroup
	teller.Go(func() {
		if gaveUp := s.tellWaiting(working, limit); gaveUp != nil {
			end(gaveUp)
		}
	})
	err := fn(working)
	end(nil) // no effect if fn was given up
	teller.Wait()
	if gaveUp := context.Cause(working); err != nil && models.ErrorCode(gaveUp) == models.CodeUnavailable {
		return gaveUp
	}
	return err
}

// tellWaiting reports what fn waits for until ctx ends. After limit it returns the error to give up with.
func (s *Store) tellWaiting(ctx context.Context, limit time.Duration) error {
	begun := time.Now()
	next := s.patience
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(next - time.Since(begun)):
		}
		why := s.heldUpBy(ctx)
		select {
		case <-ctx.Done(): // fn went on in the meantime
			return nil
		default:
		}
		switch {
		case limit > 0 && next >= limit:
			return models.Errorf(models.CodeUnavailable, "the database has not responded for too long: %s", why)
		case s.waiting != nil:
			s.waiting(why)
		}
		if next += againPatience * s.patience; limit > 0 {
			next = min(next, limit)
		}
	}
}

// TellLocks reports to Options.Waiting, until ctx ends, when another session's lock blocks a statement of
// this Store for more than a second: which session, and what to do about it, repeated every minute. SQLite
// bounds waits for locks itself.
func (s *Store) TellLocks(ctx context.Context) {
	if s.dialect != Postgres || s.waiting == nil {
		return
	}
	pause := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d):
			return true
		}
	}
	for next := s.patience; pause(next); {
		next = s.patience
		by, locked, err := s.lockHolder(ctx)
		if err != nil || !locked || !pause(s.patience/5) {
			continue
		}
		if still, locked, err := s.lockHolder(ctx); err == nil && locked && still.pid == by.pid {
			s.waiting(still.hasLocked())
			next = againPatience * s.patience
		}
	}
}

// holder is a PostgreSQL session that blocks one of ours.
type holder struct {
	pid               int32
	user, application string
	relation          string // the locked table; "" = a row, or something other than a table
}

func (h holder) String() string {
	text := fmt.Sprintf("process %d of PostgreSQL, user %s", h.pid, h.user)
	if h.application != "" {
		text += ", application " + h.application
	}
	return text
}

// hasLocked says what h has locked, and what to do about it.
func (h holder) hasLocked() string {
	what := "what is needed"
	if h.relation != "" {
		what = "the table " + h.relation
	}
	return fmt.Sprintf("another session has locked %s (%s): end what it does, or say SELECT pg_terminate_backend(%d)", what, h, h.pid)
}

const (
	// Prefer sessions that are not waiting themselves: those are the ones to end.
	holderOfLock = "SELECT b.pid, coalesce(b.usename, ''), coalesce(b.application_name, ''), coalesce((SELECT l.relation::regclass::text " +
		"FROM pg_locks l WHERE l.pid = o.pid AND NOT l.granted AND l.locktype = 'relation' LIMIT 1), '') " +
		"FROM unnest($1::int[]) AS o (pid), unnest(pg_blocking_pids(o.pid)) AS blocking (pid) JOIN pg_stat_activity b ON b.pid = blocking.pid " +
		"ORDER BY cardinality(pg_blocking_pids(b.pid)), b.pid LIMIT 1"
	holderOfMigration = "SELECT b.pid, coalesce(b.usename, ''), coalesce(b.application_name, ''), '' FROM pg_locks l " +
		"JOIN pg_database d ON d.oid = l.database JOIN pg_stat_activity b ON b.pid = l.pid " +
		"WHERE l.locktype = 'advisory' AND l.classid = 0 AND l.objid::bigint = $1 AND l.granted AND d.datname = current_database() LIMIT 1"
)

// heldUpBy says what the statements of this Store wait for, and what to do about it. It asks on another connection.
func (s *Store) heldUpBy(ctx context.Context) string {
	if s.dialect != Postgres {
		return "its file is slow, or another program is writing to it"
	}
	by, locked, err := s.lockHolder(ctx)
	for tries := 0; !locked && err == nil && s.heldUp.Load() && tries < 8; tries++ { // the migration is making room
		time.Sleep(lockPause / 4)
		by, locked, err = s.lockHolder(ctx)
	}
	if locked {
		return by.hasLocked()
	}
	migrating := false
	if err == nil {
		by, migrating, err = s.askHolder(ctx, holderOfMigration, lock.DefaultLockID)
	}
	switch {
	case err != nil:
		return "it does not respond: check PostgreSQL"
	case migrating && slices.Contains(s.backends.list(), by.pid):
		return "it is being upgraded, which may take long: let it finish"
	case migrating:
		return fmt.Sprintf("another program is upgrading it (%s): let it finish", by)
	default:
		return "it is slow, but no lock is blocking it: pg_stat_activity shows what PostgreSQL is doing"
	}
}

// lockHolder returns the session whose lock blocks a statement of this Store.
func (s *Store) lockHolder(ctx context.Context) (h holder, found bool, err error) {
	return s.askHolder(ctx, holderOfLock, s.backends.list())
}

func (s *Store) askHolder(ctx context.Context, query string, argument any) (h holder, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pool, err := s.read.DB()
	if err != nil {
		return h, false, err
	}
	err = pool.QueryRowContext(ctx, query, argument).Scan(&h.pid, &h.user, &h.application, &h.relation)
	if errors.Is(err, sql.ErrNoRows) {
		return h, false, nil
	}
	return h, err == nil, err
}

// backends are the PostgreSQL processes that serve this Store's newest connections.
type backends struct {
	mu   sync.Mutex
	pids []int32
}

// add records a new connection's process. The pools have at most as many connections as are kept here, and during
// startup all of them are new.
func (b *backends) add(conn *pgx.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pids) == MaxConnections {
		b.pids = b.pids[1:]
	}
	b.pids = append(b.pids, int32(conn.PgConn().PID())) // a system's pid, which PostgreSQL too has as an integer
}

func (b *backends) list() []int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.pids)
}
