package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// refusedFor is how long no new connection is tried after PostgreSQL did not let its user in.
const refusedFor = time.Second

// backOff makes connections, but seldom while PostgreSQL does not let their user in: each attempt costs it a process and
// a line in its log, servers ask several times in each tenth of a second, and some hosts bar an address after a few.
type backOff struct {
	driver.Connector

	mu      sync.Mutex
	refusal error
	until   time.Time
}

// Connect implements driver.Connector. Within refusedFor of a refusal it returns that one.
func (b *backOff) Connect(ctx context.Context) (driver.Conn, error) {
	if err := b.refused(); err != nil {
		return nil, err
	}
	conn, err := b.Connector.Connect(ctx)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (remedies[pg.Code] == wrongUser || remedies[pg.Code] == barred) {
		b.mu.Lock()
		b.refusal, b.until = err, time.Now().Add(refusedFor)
		b.mu.Unlock()
	}
	return conn, err
}

func (b *backOff) refused() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.until) {
		return b.refusal
	}
	return nil
}
