package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// ErrQuotaRestarted is the answer of counters whose server was started anew, or has another in its place: it may have
// forgotten the last requests. Nothing was counted. Whoever counts accepts that server, and tells it what they know.
var ErrQuotaRestarted = errors.New("the counters' server was started anew, or another has taken its place")

// lineage tells the PostgreSQL that requests were counted in from one that may lack the last of them: a standby that took
// over, a backup that was restored.
type lineage struct {
	mu      sync.Mutex
	counted string // of the server that is counted with; "" = none yet
	latest  string // of the one that was asked last
}

// lineageOf is where a connection keeps the lineage of its server.
const lineageOf = "lineage"

// askLineage asks which cluster it is, which timeline of it, and which database: a standby that takes over begins a new
// timeline (https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES), and a database that is
// restored from a dump has an oid of its own. A standby that has not taken over has no answer.
const askLineage = "SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system())," +
	" left(pg_walfile_name(pg_current_wal_lsn()), 8), (SELECT oid FROM pg_database WHERE datname = current_database()))"

// see is an ErrQuotaRestarted unless conn leads to the server that was counted with. A server that does not tell its
// lineage is believed.
func (l *lineage) see(ctx context.Context, conn *sql.Conn) error {
	return conn.Raw(func(driver any) error {
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
		if l.latest = own; own != l.counted {
			return ErrQuotaRestarted
		}
		return nil
	})
}

// readLineage is "" where the server does not tell.
func readLineage(ctx context.Context, c *pgconn.PgConn) (string, error) {
	results, err := c.Exec(ctx, askLineage).ReadAll()
	if said, answered := errors.AsType[*pgconn.PgError](err); answered {
		const notInThisState = "55000" // a standby: what it becomes is asked later
		if said.Code == notInThisState || brokenOff(err) {
			return "", fmt.Errorf("ask for the server's timeline: %w", err)
		}
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask for the server's timeline: %w", err)
	}
	return string(results[0].Rows[0][0]), nil
}

// AcceptCounters counts from now on with the server that ErrQuotaRestarted was about. Those who only look at a counter do
// not: that would hide it from those who count.
func (s *Store) AcceptCounters() {
	s.lineage.mu.Lock()
	defer s.lineage.mu.Unlock()
	s.lineage.counted = s.lineage.latest
}
