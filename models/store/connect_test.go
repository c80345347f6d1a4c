package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"
)

// A URL without a connect_timeout has one all the same; its own counts, 0 included, which waits for ever.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{"": connectFor, "?connect_timeout=7": 7 * time.Second, "?connect_timeout=0": 0} {
		config, err := postgresConfig("postgres://u@127.0.0.1:1/x" + query)
		if err != nil || config.ConnectTimeout != want {
			t.Errorf("%q: %v %v", query, config, err)
		}
	}
}

// InSession is for tests outside of this package: what a session of s is set to, and one that gives up dead clients.
func (s *Store) InSession(ctx context.Context, query string) (before, within, after []string, err error) {
	ask := func(tx *gorm.DB, to *[]string) error { return tx.Raw(query).Scan(to).Error }
	err = errors.Join(ask(s.reader(ctx), &before), s.transaction(ctx, func(tx *gorm.DB) error {
		return errors.Join(giveUpDeadClient(tx), ask(tx, &within))
	}), ask(s.reader(ctx), &after))
	return before, within, after, err
}
