package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

const (
	// connectFor bounds how long one address of PostgreSQL may take to accept a connection, unless the URL has a
	// connect_timeout: a server that accepts and then says nothing would block startup forever.
	connectFor = 5 * time.Second
	// deadAfter is when a connection is given up whose other end has silently gone (a machine that died, a packet
	// filter that forgot it). The operating system would take a quarter of an hour or more.
	deadAfter = 20 * time.Second
)

// connectPostgres makes the pools for databaseURL. It does not connect yet.
func (s *Store) connectPostgres(databaseURL string) error {
	config, err := postgresConfig(databaseURL)
	if err != nil {
		return err
	}
	connector := stdlib.GetConnector(*config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		if config.ConnectTimeout > 0 { // a pooler accepts at once, but answers when it has a session
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, config.ConnectTimeout)
			defer cancel()
		}
		c.PgConn().CustomData()[madeAt] = time.Now()
		s.backends.add(c)
		return s.setUp(ctx, c)
	}), stdlib.OptionBeforeConnect(func(_ context.Context, c *pgx.ConnConfig) error {
		renew(c, s.renewed)
		return nil
	}), stdlib.OptionShouldPing(mayBeBroken),
		stdlib.OptionResetSession(func(_ context.Context, c *pgx.Conn) error {
			if s.lineage.left(c.PgConn()) {
				return driver.ErrBadConn
			}
			return stillReadOnly(c.PgConn())
		}))
	shared := &backOff{Connector: connector}
	s.counters = sql.OpenDB(shared)
	setLimit(s.counters, urgentConnections)
	pool := sql.OpenDB(shared)
	setLimit(pool, MaxConnections-urgentConnections)
	quiet := gormConfig()
	quiet.DisableAutomaticPing = true // it ignores contexts
	s.write, err = gorm.Open(postgres.New(postgres.Config{Conn: pool}), quiet)
	s.read = s.write
	return err
}

// renew sets the user and password of the URL that renewed returns. While that is none, as when its file is being
// written, they stay.
func renew(c *pgx.ConnConfig, renewed func() string) {
	if renewed == nil {
		return
	}
	if now, err := pgx.ParseConfig(renewed()); err == nil {
		c.User, c.Password = now.User, now.Password
	}
}

// mayBeBroken reports whether a connection must be tried before it is used: it was idle for a while. The driver would
// also try each new one.
func mayBeBroken(_ context.Context, p stdlib.ShouldPingParams) bool {
	made, _ := p.Conn.PgConn().CustomData()[madeAt].(time.Time)
	return min(p.IdleDuration, time.Since(made)) > idleFor
}

// setUp prepares a new connection and asks for its server's lineage, in one round trip unless the server does not allow
// all of it.
func (s *Store) setUp(ctx context.Context, c *pgx.Conn) error {
	var err error
	for _, statements := range []string{ours + "; " + giveUpDeadClients + "; " + askLineage, ours + "; " + giveUpDeadClients, ours} {
		var results []*pgconn.Result
		results, err = c.PgConn().Exec(ctx, statements).ReadAll()
		if err == nil && strings.HasSuffix(statements, askLineage) {
			s.lineage.meet(c.PgConn(), string(results[len(results)-1].Rows[0][0]))
		}
		if postgresCode(err) == "" || c.IsClosed() { // done, or broken off
			return err
		}
	}
	return err
}

// ours sets what the store relies on, whatever the settings of the server, database or role. Transactions must see what
// others committed while they waited for a lock: counting on several nodes, leases and account changes depend on it,
// and at a stricter level PostgreSQL fails them (40001), which looks like an outage. Texts are UTF-8, as in this
// program: otherwise PostgreSQL would convert them from another encoding.
const ours = "SET default_transaction_isolation = 'read committed'; SET client_encoding = 'UTF8'"

const (
	// madeAt is the key under which a connection stores when it was made.
	madeAt = "made at"
	// readOnlyFor is how long a connection that cannot write is kept: while there are no others, each
	// is replaced now and then.
	readOnlyFor = time.Second
	// idleFor is how long a connection may be unused before it is tried.
	idleFor = time.Second
)

// stillReadOnly discards a connection that was made while nothing could be written, by default or on a standby. It
// would stay read-only forever, next to others that can write, and its refusals look like an outage of PostgreSQL.
func stillReadOnly(c *pgconn.PgConn) error {
	made, _ := c.CustomData()[madeAt].(time.Time)
	readOnly := c.ParameterStatus("default_transaction_read_only") == "on" || c.ParameterStatus("in_hot_standby") == "on"
	if readOnly && time.Since(made) > readOnlyFor {
		return driver.ErrBadConn
	}
	return nil
}

// giveUpDeadClients lets PostgreSQL notice within deadAfter that this machine is gone, or that this program is stopped
// (a machine that is suspended) within a transaction. By default it keeps the locks of such a transaction, which may be
// those of all changes of keys, for two hours or forever. It leaves an operator's settings alone, and does without what
// a server does not know or allow.
var giveUpDeadClients = "SELECT set_config(name, value, false) FROM (VALUES ('tcp_keepalives_idle', '" + seconds(deadAfter/2) + "'), " +
	"('tcp_keepalives_interval', '" + seconds(deadAfter/4) + "'), ('tcp_keepalives_count', '2'), " +
	"('" + idleInTransaction + "', '" + seconds(deadAfter) + "s')) AS ours (name, value) " +
	"JOIN pg_settings USING (name) WHERE source = 'default'"

const idleInTransaction = "idle_in_transaction_session_timeout"

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// giveUpDeadClient does the same for a machine that dies while PostgreSQL is answering it, which would take a quarter
// of an hour to notice. It applies to one transaction, and must not be used where answers are read slowly: PostgreSQL's
// system disconnects clients that take nothing for that long.
func giveUpDeadClient(tx *gorm.DB) error {
	const query = "SELECT set_config(name, ?, true) FROM pg_settings WHERE name = 'tcp_user_timeout' AND source = 'default'"
	return unavailable(tx.Exec(query, strconv.FormatInt(deadAfter.Milliseconds(), 10)).Error)
}

// postgresConfig parses databaseURL and fills in what it leaves open.
func postgresConfig(databaseURL string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	if u, err := url.Parse(databaseURL); config.ConnectTimeout == 0 && (err != nil || !u.Query().Has("connect_timeout")) {
		config.ConnectTimeout = connectFor
	}
	if config.RuntimeParams["application_name"] == "" { // so that an administrator can tell a server's session from a command's
		config.RuntimeParams["application_name"] = filepath.Base(os.Args[0])
	}
	config.DialFunc = dialer(config.ConnectTimeout).DialContext
	return config, nil
}

// dialer makes connections that notice when the other end is gone: idle ones by keep-alive, waiting
// ones by unacknowledged data.
func dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: deadAfter / 2, Interval: deadAfter / 4, Count: 2},
		Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { giveUpAfter(int(fd), deadAfter) })
		},
	}
}
