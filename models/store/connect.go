package store

import (
	"context"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
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
	return gorm.Open(postgres.New(postgres.Config{Conn: stdlib.OpenDB(*config, stdlib.OptionAfterConnect(made))}), quiet)
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
