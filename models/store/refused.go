package store

import (
	"context"
	"database/sql/driver"
	"sync"
	"time"
)

// refusedFor is how long no new connection is tried after PostgreSQL, or a pooler, did not let its user in.
const refusedFor = time.Second

// backOff makes connections, but seldom while PostgreSQL does not let their user in: each attempt costs it a process and
// a line in its log, servers ask several times in each tenth of a second, and some hosts bar an address after a few.
type backOff struct {
	driver.Connector

	mu      sync.Mutex
	refusal error
	until   time.Time
	let     time.Time // when the user was let in last
}

// Connect implements driver.Connector. Within refusedFor of a refusal it returns that one, unless the user has been let
// in since.
func (b *backOff) Connect(ctx context.Context) (driver.Conn, error) {
	if err := b.refused(); err != nil {
		return nil, err
	}
	began := time.Now()
	conn, err := b.Connector.Connect(ctx)
	b.note(began, err)
	return conn, err
}

// note takes how an attempt ended. A refusal is of the password that was there when the attempt began, so one that began
// before the user was let in says nothing.
func (b *backOff) note(began time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.let, b.until = time.Now(), time.Time{}
		return
	}
	if advice := denied(err); (advice == wrongUser || advice == barred) && began.After(b.let) {
		b.refusal, b.until = err, time.Now().Add(refusedFor)
	}
}

func (b *backOff) refused() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.until) {
		return b.refusal
	}
	return nil
}
