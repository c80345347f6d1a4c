package quota

import (
	"context"
	"log/slog"
	"time"

	"github.com/ulule/limiter/v3"

	"lottery/configs"
	"lottery/models/store"
)

// OpenBackend returns the configured backend: Redis if it has an address, else the database. closer closes what
// OpenBackend opened; the database stays open.
func OpenBackend(cfg configs.Config, st *store.Store, log *slog.Logger) (b Backend, closer func() error, err error) {
	if cfg.RedisURL == "" {
		return st, func() error { return nil }, nil
	}
	r, err := openRedis(cfg.RedisURL, configs.Renewed(cfg.RedisURL, cfg.RedisURLFile, log), nil)
	if err != nil {
		return nil, nil, err
	}
	return r, r.Close, nil
}

// OptionsFor returns the options of a Store on the configured backend. The database grants blocks in advance. Redis is
// exact at every moment but may lose its counts; PostgreSQL loses counts only when another server takes its place.
func OptionsFor(cfg configs.Config, st *store.Store) Options {
	redis := cfg.RedisURL != ""
	return Options{Advance: !redis, Volatile: redis, Replaceable: redis || st.Dialect() == store.Postgres}
}

// Now is the backend's time, as far as this node knows.
func (s *Store) Now() time.Time { return s.clock.now() }

// Used returns how many of limit requests an account has used today, and when the next day begins. Requests that this
// node holds in advance count as unused. The call itself is not counted.
func (s *Store) Used(ctx context.Context, key string, limit int64) (used, remaining int64, resetsAt time.Time, err error) {
	c, used, err := s.ask(ctx, key, limiter.Rate{Period: Day, Limit: limit}, store.QuotaPeek)
	if err != nil {
		return 0, 0, time.Time{}, err
	}
	return used, c.Remaining, time.Unix(c.Reset, 0).UTC(), nil
}
