package quota

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"lottery/models"
	"lottery/models/store"
)

// redisScript does a batch of operations at one moment of Redis's clock. Refused requests are not counted, which
// the library's own script does not offer.
//
//go:embed redis.lua
var redisScript string

// Redis is a Ledger in Redis: exact over all nodes at every moment. A counter's key holds the UTC day (or the
// beginning of another period) and expires an hour after its end. It needs one primary: all keys of a batch are
// changed together.
type Redis struct {
	client *redis.Client
	script *redis.Script
	skew   func() time.Duration
}

// RedisPrefix begins every key.
const RedisPrefix = "lottery:quota:"

// OpenRedis connects to a redis:// or rediss:// URL. Nothing is asked yet: Redis may be away at the start.
// skew is added to Redis's clock, for tests of midnight; nil = none.
func OpenRedis(url string, skew func() time.Duration) (*Redis, error) {
	opts, err := redis.ParseURL(url)
	if err != nil {
		return nil, models.Errorf(models.CodeInvalid, "redis_url must be redis://[:PASSWORD@]HOST:PORT[/DB], rediss:// for TLS, or unix://PATH")
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = time.Second, time.Second, time.Second
	opts.MaxRetries = -1 // a batch that may have been applied must not be applied again
	opts.ContextTimeoutEnabled = true
	opts.PoolSize = 4 // one loop and a few peeks
	if skew == nil {
		skew = func() time.Duration { return 0 }
	}
	return &Redis{client: redis.NewClient(opts), script: redis.NewScript(redisScript), skew: skew}, nil
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// redisKinds is what the script calls the kinds of operation.
var redisKinds = map[store.QuotaKind]string{
	store.QuotaTake: "take", store.QuotaAdd: "add", store.QuotaPeek: "peek", store.QuotaReset: "reset", store.QuotaFloor: "floor",
}

// ApplyQuota implements Ledger.
func (r *Redis) ApplyQuota(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error) {
	args := make([]any, 0, 2+6*len(ops))
	args = append(args, RedisPrefix, r.skew().Microseconds())
	for i := range ops {
		op := &ops[i]
		n := op.N
		if op.Kind == store.QuotaTake {
			n = op.Need
		}
		args = append(args, redisKinds[op.Kind], op.Key, int64(op.Period/time.Second), op.Start, n, op.Limit)
	}
	reply, err := r.script.Run(ctx, r.client, nil, args...).Int64Slice()
	if err != nil {
		return nil, time.Time{}, r.fault(err)
	}
	if len(reply) != 1+3*len(ops) {
		return nil, time.Time{}, fmt.Errorf("count requests in Redis: %w: %d numbers for %d operations", store.ErrQuotaUnclear, len(reply), len(ops))
	}
	results := make([]store.QuotaResult, len(ops))
	for i := range results {
		at := reply[1+3*i:]
		results[i] = store.QuotaResult{Granted: at[0], Used: at[1], Start: at[2]}
	}
	return results, time.UnixMicro(reply[0]).UTC(), nil
}

// fault tells a Redis that was never reached, or refused, from one that may have done its work.
func (r *Redis) fault(err error) error {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return fmt.Errorf("count requests in Redis: %w", err)
	}
	var said redis.Error
	if errors.As(err, &said) || errors.Is(err, redis.ErrPoolTimeout) {
		return fmt.Errorf("count requests in Redis: %w", err)
	}
	return fmt.Errorf("count requests in Redis: %w: %w", store.ErrQuotaUnclear, err)
}

// RedisKey is the key of an account's counter of the day that begins at start (Unix seconds).
func RedisKey(account string, start int64) string {
	return RedisPrefix + account + ":" + time.Unix(start, 0).UTC().Format(time.DateOnly)
}
