package quota

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

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

	tried atomic.Bool // the script was, on this server and by this user, since the last error

	mu     sync.Mutex
	server string // run id of the server that is counted with; "" = none yet
	next   string // of the one that has taken its place
}

// RedisPrefix begins every key, and RedisCommands are what is done with them.
const (
	RedisPrefix   = "lottery:quota:"
	RedisCommands = "EVAL, EVALSHA, TIME, INFO, GET, SET, INCRBY, DECRBY and EXPIREAT"
)

// OpenRedis connects to a redis:// or rediss:// URL. Nothing is asked yet: Redis may be away at the start.
// skew is added to Redis's clock, for tests of midnight; nil = none.
func OpenRedis(url string, skew func() time.Duration) (*Redis, error) {
	opts, err := redis.ParseURL(url)
	if err != nil {
		return nil, models.Errorf(models.CodeInvalid, "redis_url must be redis://[:PASSWORD@]HOST:PORT[/DB], rediss:// for TLS, or unix://PATH")
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = time.Second, time.Second, time.Second
	opts.MaxRetries = -1   // a batch that may have been applied must not be applied again
	opts.DialerRetries = 1 // the loop tries again by itself; requests wait for this
	logging.Disable()      // the client would write lines of its own to stderr; its errors come back to us
	opts.ContextTimeoutEnabled = true
	opts.PoolSize = 4 // one loop and a few peeks
	if skew == nil {
		skew = func() time.Duration { return 0 }
	}
	r := &Redis{script: redis.NewScript(redisScript), skew: skew}
	opts.OnConnect = r.recognize
	r.client = redis.NewClient(opts)
	return r, nil
}

// errCluster is what a node of a Redis Cluster gets: it would count single accounts, and refuse several of them at once.
var errCluster = errors.New("it is part of a Redis Cluster, which cannot change the counters of many accounts together: use a Redis of its own")

// recognize refuses connections to a server other than the one that was counted with, until that is known to
// whoever counts (see AcceptCounters): an outage between two contacts would go unseen. A Redis that does not tell its run id is believed.
func (r *Redis) recognize(ctx context.Context, conn *redis.Conn) error {
	info, err := conn.Info(ctx, "server").Result()
	if err != nil {
		return nil // not allowed to ask; if the connection is broken the next command tells
	}
	if strings.Contains(info, "redis_mode:cluster") {
		return errCluster
	}
	_, rest, _ := strings.Cut(info, "run_id:")
	id, _, _ := strings.Cut(rest, "\r\n")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server == "" {
		r.server = id
	}
	if r.next = id; r.server != id {
		return store.ErrQuotaRestarted
	}
	return nil
}

// AcceptCounters counts with the new server from now on. Those who only look at a counter do not: that would hide the
// restart from those who count.
func (r *Redis) AcceptCounters() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = r.next
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// redisKinds is what the script calls the kinds of operation.
var redisKinds = map[store.QuotaKind]string{
	store.QuotaTake: "take", store.QuotaAdd: "add", store.QuotaPeek: "peek", store.QuotaReset: "reset", store.QuotaFloor: "floor",
}

// redisTrial does all that the script can, with a counter that is nobody's: Redis undoes nothing of a script that fails, so
// a user who may only use some of its commands would have the same requests counted at every attempt.
var redisTrial = []store.QuotaOp{
	{Kind: store.QuotaReset, Key: "trial", Period: time.Second},                   // what an attempt that failed has left
	{Kind: store.QuotaTake, Key: "trial", Period: time.Second, Need: 1, Limit: 1}, // INCRBY, EXPIREAT
	{Kind: store.QuotaTake, Key: "trial", Period: time.Second, Need: 1, Limit: 1}, // DECRBY
	{Kind: store.QuotaReset, Key: "trial", Period: time.Second},                   // GET, SET
}

// ApplyQuota implements Ledger.
func (r *Redis) ApplyQuota(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error) {
	if !r.tried.Load() && !onlyLooks(ops) {
		if _, _, err := r.apply(ctx, redisTrial); err != nil {
			return nil, time.Time{}, fmt.Errorf("count requests in Redis: %w", err)
		}
		r.tried.Store(true)
	}
	results, now, err := r.apply(ctx, ops)
	if err != nil {
		r.tried.Store(false)
		return nil, time.Time{}, r.fault(err)
	}
	return results, now, nil
}

func onlyLooks(ops []store.QuotaOp) bool {
	return !slices.ContainsFunc(ops, func(op store.QuotaOp) bool { return op.Kind != store.QuotaPeek })
}

// apply runs the script.
func (r *Redis) apply(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error) {
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
		return nil, time.Time{}, err
	}
	if len(reply) != 1+3*len(ops) {
		return nil, time.Time{}, fmt.Errorf("%d numbers for %d operations", len(reply), len(ops))
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
	if errors.As(err, &said) && undone(said.Error()) || errors.Is(err, store.ErrQuotaRestarted) || errors.Is(err, errCluster) || errors.Is(err, redis.ErrPoolTimeout) {
		return fmt.Errorf("count requests in Redis: %w", err)
	}
	return fmt.Errorf("count requests in Redis: %w: %w", store.ErrQuotaUnclear, err)
}

// undone tells whether Redis refused before it did anything. A script's first command that changes something is refused
// for want of memory, a disk or replicas, or where another server is the primary; what is wrong with a single command may
// come after others.
func undone(said string) bool {
	code, _, _ := strings.Cut(said, " ")
	return code != "WRONGTYPE" && (code != "ERR" || !strings.Contains(said, "script"))
}
