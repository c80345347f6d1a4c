package quota

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lottery/models"
	"lottery/models/store"
)

// redisScript applies a batch of operations at one instant of Redis's clock. It does not count refused requests, which
// the limiter library's own script does.
//
//go:embed redis.lua
var redisScript string

// Redis is a Backend in Redis, exact across all nodes at every moment. A counter's key holds the UTC day (or the start
// of another period) and expires an hour after the next period ends. It needs a single primary, because all keys of a
// batch are changed together.
type Redis struct {
	client *redis.Client
	script *redis.Script
	skew   func() time.Duration

	tried atomic.Bool // redisTrial succeeded on this server, as this user, since the last error

	mu     sync.Mutex
	server string // run ID of the server being counted with; "" = none yet, or not told
	next   string // run ID of the server at the latest connection
}

// RedisPrefix begins every key; RedisCommands lists the commands used on them.
const (
	RedisPrefix   = "lottery:quota:"
	RedisCommands = "SELECT, EVAL, EVALSHA, TIME, INFO, GET, SET, INCRBY, DECRBY and EXPIREAT"
)

// OpenRedis prepares a client for a redis://, rediss:// or unix:// URL. It does not connect yet: Redis may be away at
// startup. skew is added to Redis's clock, for tests of midnight; nil = none.
func OpenRedis(url string, skew func() time.Duration) (*Redis, error) {
	return openRedis(url, nil, skew)
}

// openRedis is OpenRedis for a URL whose user and password may be changed while the program runs: new connections use
// those that renewed returns; nil = they stay.
func openRedis(url string, renewed func() string, skew func() time.Duration) (*Redis, error) {
	opts, err := redis.ParseURL(url)
	if err != nil {
		return nil, models.Errorf(models.CodeInvalid, "redis_url must be redis://[:PASSWORD@]HOST:PORT[/DB], rediss:// for TLS, or unix://PATH")
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = time.Second, time.Second, time.Second
	opts.MaxRetries = -1   // a batch that may have been applied must not be applied again
	opts.DialerRetries = 1 // the loop retries by itself, and requests wait for this
	logging.Disable()      // the client would write to stderr by itself; its errors are returned to us anyway
	opts.ContextTimeoutEnabled = true
	opts.PoolSize = 4 // one loop and a few peeks
	// Each of these would take a round trip of a new connection's contact, which may have time for only a few.
	opts.DisableIdentity = true
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if skew == nil {
		skew = func() time.Duration { return 0 }
	}
	if renewed != nil {
		opts.CredentialsProvider = func() (username, password string) {
			if now, err := redis.ParseURL(renewed()); err == nil {
				return now.Username, now.Password
			}
			return opts.Username, opts.Password
		}
	}
	r := &Redis{script: redis.NewScript(redisScript), skew: skew}
	opts.OnConnect = r.recognize
	r.client = redis.NewClient(opts)
	return r, nil
}

// errCluster refuses Redis Cluster: a node would count single accounts, and fail for several at once.
var errCluster = errors.New("it is part of a Redis Cluster, which cannot change the counters of many accounts together: use a Redis of its own")

// recognize refuses connections to a server other than the one being counted with until the Store has
// accepted it (see AcceptCounters); otherwise a restart between two contacts would go unnoticed. A Redis that
// hides its run ID is trusted.
func (r *Redis) recognize(ctx context.Context, conn *redis.Conn) error {
	info, err := conn.Info(ctx, "server").Result()
	if err != nil {
		return nil // not permitted to ask; if the connection is broken, the next command fails
	}
	about := serverInfo(info)
	if about.cluster() {
		return errCluster
	}
	id := about.field("run_id")
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

// CountersOf returns a name of the server being counted with: the beginning of its run ID. "" = none yet, or it does not
// tell.
func (r *Redis) CountersOf() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server[:min(len(r.server), 16)]
}

// AcceptCounters makes the new server the one to count with. Callers that only peek must not call it: that would hide
// the restart from the loop.
func (r *Redis) AcceptCounters() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = r.next
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// redisKinds maps kinds of operation to their names in the script.
var redisKinds = map[store.QuotaKind]string{
	store.QuotaTake: "take", store.QuotaAdd: "add", store.QuotaPeek: "peek", store.QuotaReset: "reset", store.QuotaFloor: "floor",
	store.QuotaRestore: "restore",
}

// redisTrial runs every command of the script on a counter that belongs to nobody. Redis does not roll back a
// script that fails midway, so without the trial a user who lacks some of the commands would have the same requests
// counted at every attempt.
var redisTrial = []store.QuotaOp{
	{Kind: store.QuotaReset, Key: "trial", Period: time.Second},                   // clears what a failed attempt left behind
	{Kind: store.QuotaTake, Key: "trial", Period: time.Second, Need: 1, Limit: 1}, // INCRBY, EXPIREAT
	{Kind: store.QuotaTake, Key: "trial", Period: time.Second, Need: 1, Limit: 1}, // DECRBY
	{Kind: store.QuotaReset, Key: "trial", Period: time.Second},                   // GET, SET
}

// ApplyQuota implements Backend.
func (r *Redis) ApplyQuota(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error) {
	if !r.tried.Load() && !onlyLooks(ops) {
		if _, _, err := r.apply(ctx, "", redisTrial); err != nil {
			return nil, time.Time{}, fmt.Errorf("count requests in Redis: %w", err)
		}
		r.tried.Store(true)
	}
	server := r.CountersOf() // known by now, unless the first contact is a look: the trial made a connection
	results, now, err := r.apply(ctx, server, ops)
	if err != nil {
		// A slow Redis does not refuse more than before, and trying again takes time.
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
			r.tried.Store(false)
		}
		return nil, time.Time{}, r.fault(err)
	}
	return results, now, nil
}

func onlyLooks(ops []store.QuotaOp) bool {
	return !slices.ContainsFunc(ops, func(op store.QuotaOp) bool { return op.Kind != store.QuotaPeek })
}

// apply runs the script. server is the name of the server being counted with; "" if it does not matter.
func (r *Redis) apply(ctx context.Context, server string, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error) {
	args := make([]any, 0, 3+6*len(ops))
	args = append(args, RedisPrefix, r.skew().Microseconds(), server)
	for i := range ops {
		op := &ops[i]
		n, last := op.N, any(op.Limit)
		switch op.Kind {
		case store.QuotaTake:
			n = op.Need
		case store.QuotaRestore:
			known, err := json.Marshal(op.Known)
			if err != nil {
				return nil, time.Time{}, err
			}
			last = known
		case store.QuotaAdd, store.QuotaFloor, store.QuotaPeek, store.QuotaReset:
		}
		args = append(args, redisKinds[op.Kind], op.Key, int64(op.Period/time.Second), op.Start, n, last)
	}
	reply, err := r.script.Run(ctx, r.client, nil, args...).Slice()
	if err != nil {
		return nil, time.Time{}, err
	}
	return readReply(reply, len(ops))
}

// readReply reads the script's reply to so many operations.
func readReply(reply []any, operations int) ([]store.QuotaResult, time.Time, error) {
	numbers := make([]int64, 1+3*operations)
	if len(reply) < len(numbers) {
		return nil, time.Time{}, fmt.Errorf("%d values for %d operations", len(reply), operations)
	}
	for i := range numbers {
		n, ok := reply[i].(int64)
		if !ok {
			return nil, time.Time{}, fmt.Errorf("%T instead of a number", reply[i])
		}
		numbers[i] = n
	}
	results := make([]store.QuotaResult, operations)
	for i := range results {
		at := numbers[1+3*i:]
		results[i] = store.QuotaResult{Granted: at[0], Used: at[1], Start: at[2]}
	}
	for former := reply[len(numbers):]; len(former) >= 2; former = former[2:] {
		i, _ := former[0].(int64)
		counts, _ := former[1].(string)
		if i < 0 || i >= int64(operations) || json.Unmarshal([]byte(counts), &results[i].Former) != nil {
			return nil, time.Time{}, fmt.Errorf("what former servers counted cannot be read: %q", counts)
		}
	}
	return results, time.UnixMicro(numbers[0]).UTC(), nil
}

// fault classifies an error: ErrQuotaUnclear unless Redis was never reached or refused before doing anything.
func (r *Redis) fault(err error) error {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return fmt.Errorf("count requests in Redis: %w", err)
	}
	said, ok := errors.AsType[redis.Error](err)
	if ok && undone(said.Error()) || errors.Is(err, store.ErrQuotaRestarted) || errors.Is(err, errCluster) || errors.Is(err, redis.ErrPoolTimeout) {
		return fmt.Errorf("count requests in Redis: %w", err)
	}
	return fmt.Errorf("count requests in Redis: %w: %w", store.ErrQuotaUnclear, err)
}

// undone reports whether Redis refused before it changed anything. Lack of memory, disk or replicas, or not being the
// primary, is reported at a script's first write (before Redis 7 as an error of the script); an error of a single
// command may come after other writes.
func undone(said string) bool {
	code, _, _ := strings.Cut(said, " ")
	if code == "ERR" && strings.Contains(said, "script") {
		return slices.ContainsFunc([]string{" -OOM ", " -MISCONF ", " -NOREPLICAS ", " -READONLY "}, func(reason string) bool { return strings.Contains(said, reason) })
	}
	return code != "WRONGTYPE"
}
