package quota

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisHealth is what an operator's doctor asks of Redis.
type RedisHealth struct {
	Version  string
	Now      time.Time
	Writable error    // why it takes no counters; nil = it does
	Risks    []string // settings under which counters may be forgotten
}

// redisTry writes what is not there: nothing is changed, and a Redis that takes no writes (a replica, one without
// memory, disk or enough replicas) refuses it as it refuses to count. It is a script, as counting is.
const redisTry = "return redis.call('SET', ARGV[1], '0', 'XX')"

// Health looks at Redis and counts nothing. Settings that it may not read are no risks.
func (r *Redis) Health(ctx context.Context) (RedisHealth, error) {
	var h RedisHealth
	now, err := r.client.Time(ctx).Result()
	if err != nil {
		return h, err
	}
	h.Now = now
	info, err := r.client.Info(ctx, "server").Result()
	if err != nil {
		return h, err
	}
	if err := r.client.Eval(ctx, redisTry, nil, RedisPrefix+"doctor").Err(); err != nil && !errors.Is(err, redis.Nil) {
		h.Writable = err
	}
	_, rest, _ := strings.Cut(info, "redis_version:")
	h.Version, _, _ = strings.Cut(rest, "\r\n")
	for _, want := range []struct{ setting, value, risk string }{
		{"maxmemory-policy", "noeviction", "counters may be evicted (maxmemory-policy %s)"},
		{"appendonly", "yes", "counters are forgotten when it restarts (appendonly %s)"},
	} {
		got, err := r.client.ConfigGet(ctx, want.setting).Result()
		if value := got[want.setting]; err == nil && value != "" && value != want.value {
			h.Risks = append(h.Risks, fmt.Sprintf(want.risk, value))
		}
	}
	return h, nil
}
