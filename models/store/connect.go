package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

const (
	// connectFor is how long one address of PostgreSQL has to take a connection, unless the URL has a connect_timeout:
	// one that takes it and says nothing would hold up the start for ever.
	connectFor = 5 * time.Second
	// deadAfter is when a connection whose other end has gone without a word (a machine that died, a packet filter that
	// forgot it) is given up. The system's own patience is a quarter of an hour and more.
	deadAfter = 20 * time.Second
)

// connectPostgres is a pool for databaseURL, each connection of which made is told. Nothing is sent yet.
func connectPostgres(databaseURL string, made func(context.Context, *pgx.Conn) error) (*gorm.DB, error) {
	config, err := postgresConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	quiet := gormConfig()
	quiet.DisableAutomaticPing = true // it heeds no context
	return gorm.Open(postgres.New(postgres.Config{Conn: stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		if config.ConnectTimeout > 0 { // a pooler takes a connection at once, and answers when it has one to PostgreSQL
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, config.ConnectTimeout)
			defer cancel()
		}
		c.PgConn().CustomData()[madeAt] = time.Now()
		return errors.Join(made(ctx, c), ours(ctx, c), giveUpDeadClients(ctx, c))
	}), stdlib.OptionResetSession(func(_ context.Context, c *pgx.Conn) error { return stillReadOnly(c.PgConn()) }))}), quiet)
}

// ours says what the store relies on, whatever a server, a database or a role is set to. Transactions see what others
// committed while they waited for a lock: counting on several nodes, leases and changes of accounts are made for that, and
// with a stricter level PostgreSQL refuses them (40001), which looks as if it were away. Texts are UTF-8, as they are here:
// PostgreSQL would take them for texts of another encoding, and keep what they would mean in it.
func ours(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, "SET default_transaction_isolation = 'read committed'; SET client_encoding = 'UTF8'")
	return err
}

const (
	// madeAt is where a connection keeps when it was made.
	madeAt = "made at"
	// readOnlyFor is how long one that cannot write is kept: for as long as there are no others, each is made anew now and
	// then.
	readOnlyFor = time.Second
)

// stillReadOnly gives up a connection that was made when nothing could be written, by default or on a standby: it would go
// on so for ever, beside others that write, and what it refuses looks as if PostgreSQL were away.
func stillReadOnly(c *pgconn.PgConn) error {
	made, _ := c.CustomData()[madeAt].(time.Time)
	readOnly := c.ParameterStatus("default_transaction_read_only") == "on" || c.ParameterStatus("in_hot_standby") == "on"
	if readOnly && time.Since(made) > readOnlyFor {
		return driver.ErrBadConn
	}
	return nil
}

// giveUpDeadClients lets PostgreSQL notice within deadAfter that this machine is gone. Left to itself it keeps what the
// transaction of a machine that died has locked, the draws of an import or all changes of keys, for two hours. What an
// operator has set is left alone; what a server does not know or allow it goes without.
func giveUpDeadClients(ctx context.Context, c *pgx.Conn) error {
	const query = "SELECT set_config(name, value, false) FROM (VALUES ('tcp_keepalives_idle', $1), ('tcp_keepalives_interval', $2), " +
		"('tcp_keepalives_count', '2')) AS ours (name, value) JOIN pg_settings USING (name) WHERE source = 'default'"
	_, err := c.Exec(ctx, query, seconds(deadAfter/2), seconds(deadAfter/4))
	if _, answered := errors.AsType[*pgconn.PgError](err); answered {
		return nil
	}
	return err
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// giveUpDeadClient is giveUpDeadClients where the machine dies while PostgreSQL is answering it, which would be noticed
// after a quarter of an hour. It holds for a transaction, and is none for those that are read slowly: PostgreSQL's system
// gives up whoever takes nothing for as long.
func giveUpDeadClient(tx *gorm.DB) error {
	const query = "SELECT set_config(name, ?, true) FROM pg_settings WHERE name = 'tcp_user_timeout' AND source = 'default'"
	if err := tx.Exec(query, strconv.FormatInt(deadAfter.Milliseconds(), 10)).Error; err != nil {
		return unavailable(err)
	}
	return nil
}

// postgresConfig is what databaseURL says, and what it leaves open.
func postgresConfig(databaseURL string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	if u, err := url.Parse(databaseURL); config.ConnectTimeout == 0 && (err != nil || !u.Query().Has("connect_timeout")) {
		config.ConnectTimeout = connectFor
	}
	config.DialFunc = dialer(config.ConnectTimeout).DialContext
	return config, nil
}

// dialer makes connections that notice when the other end is gone: idle ones by keep-alive, those that wait for an
// answer by how long what was sent is not acknowledged.
func dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: deadAfter / 2, Interval: deadAfter / 4, Count: 2},
		Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { giveUpAfter(int(fd), deadAfter) })
		},
	}
}
