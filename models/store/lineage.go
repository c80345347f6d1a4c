package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// ErrQuotaRestarted means that the counters' server was restarted or replaced, and may have lost the last requests.
// Nothing was counted. The caller must accept that server (AcceptCounters), and tell it what it knows.
var ErrQuotaRestarted = errors.New("the counters' server was started anew, or another has taken its place")

// lineage distinguishes the PostgreSQL that requests were counted in from one that may lack the last of them: a standby
// that took over, or a restored backup.
type lineage struct {
	mu      sync.Mutex
	counted string // of the server being counted with; "" = none yet
	asked   string // of the server that the counters were asked of last
	reached string // of the server that the newest connection leads to
}

// lineageOf is the key under which a connection stores its server's lineage.
const lineageOf = "lineage"

// askLineage identifies the cluster, its timeline and the database: a standby that takes over begins a new timeline
// (https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES), and a database restored from a
// dump has an oid of its own. It fails on a standby that has not taken over.
const askLineage = "SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system())," +
	" left(pg_walfile_name(pg_current_wal_lsn()), 8), (SELECT oid FROM pg_database WHERE datname = current_database()))"

// meet stores the lineage that a new connection's server told.
func (l *lineage) meet(c *pgconn.PgConn, own string) {
	c.CustomData()[lineageOf] = own
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reached = own
}

// left reports whether new connections lead to another server than c does: an address has moved to a standby that took
// over, while the old primary goes on answering those that it has. What is written there is lost, and what is read there
// contradicts the other server.
func (l *lineage) left(c *pgconn.PgConn) bool {
	own, _ := c.CustomData()[lineageOf].(string)
	l.mu.Lock()
	defer l.mu.Unlock()
	return own != "" && l.reached != "" && own != l.reached
}

// see returns a number of the server that conn leads to, or ErrQuotaRestarted unless it is the one being counted with.
// A server that does not tell its lineage is trusted, and has no number.
func (l *lineage) see(ctx context.Context, conn *sql.Conn) (server sql.NullInt64, err error) {
	err = conn.Raw(func(driver any) error {
		c := driver.(*stdlib.Conn).Conn().PgConn() //nolint:forcetypeassert // what stdlib.OpenDB makes
		own, known := c.CustomData()[lineageOf].(string)
		if !known {
			var err error
			if own, err = readLineage(ctx, c); err != nil {
				return err
			}
			c.CustomData()[lineageOf] = own
		}
		if own == "" {
			return nil
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.counted == "" {
			l.counted = own
		}
		if l.asked = own; own != l.counted {
			return ErrQuotaRestarted
		}
		server = sql.NullInt64{Int64: numberOf(own), Valid: true}
		return nil
	})
	return server, err
}

// numberOf is a lineage as a number, which takes less of each counter's row.
func numberOf(lineage string) int64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(lineage)) // it never fails
	return int64(sum.Sum64())
}

// readLineage returns "" if the server does not tell.
func readLineage(ctx context.Context, c *pgconn.PgConn) (string, error) {
	results, err := c.Exec(ctx, askLineage).ReadAll()
	if code := postgresCode(err); code != "" {
		const notInThisState = "55000" // a standby: ask again later what it has become
		if code == notInThisState || brokenOff(err) {
			return "", fmt.Errorf("ask for the server's timeline: %w", err)
		}
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask for the server's timeline: %w", err)
	}
	return string(results[0].Rows[0][0]), nil
}

// CountersOf returns the name of the server being counted with; "" if it does not tell, or none has answered yet.
func (s *Store) CountersOf() string {
	s.lineage.mu.Lock()
	defer s.lineage.mu.Unlock()
	if s.lineage.counted == "" {
		return ""
	}
	return strconv.FormatInt(numberOf(s.lineage.counted), 10)
}

// AcceptCounters makes the server that ErrQuotaRestarted was about the one to count with. Callers that only look at a
// counter must not call it: that would hide the change from those that count.
func (s *Store) AcceptCounters() {
	s.lineage.mu.Lock()
	defer s.lineage.mu.Unlock()
	s.lineage.counted = s.lineage.asked
}
