package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"
)

// A URL without connect_timeout gets a default; an explicit one counts, even 0, which waits forever.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{"": connectFor, "?connect_timeout=7": 7 * time.Second, "?connect_timeout=0": 0} {
		config, err := postgresConfig("postgres://u@127.0.0.1:1/x" + query)
		if err != nil || config.ConnectTimeout != want {
			t.Errorf("%q: %v %v", query, config, err)
		}
	}
}

// InSession lets tests outside this package see a session's settings before, within and after a transaction with
// giveUpDeadClient.
func (s *Store) InSession(ctx context.Context, query string) (before, within, after []string, err error) {
	ask := func(tx *gorm.DB, to *[]string) error { return tx.Raw(query).Scan(to).Error }
	err = errors.Join(ask(s.reader(ctx), &before), s.transaction(ctx, func(tx *gorm.DB) error {
		return errors.Join(giveUpDeadClient(tx), ask(tx, &within))
	}), ask(s.reader(ctx), &after))
	return before, within, after, err
}
