package quota

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisHealth is what the operator's health check reports about Redis.
type RedisHealth struct {
	Version  string        // with the program: "redis 7.0.15", "valkey 8.0.1"
	Ahead    time.Duration // how far its clock is ahead of this machine's
	Away     time.Duration // how long the way to Redis and back takes
	Writable error         // why Redis cannot count; nil = it can
	Risks    []string      // settings under which counters may be lost
}

// Health inspects Redis and counts with a trial counter. Settings that it is not allowed to read
// are not reported as risks.
func (r *Redis) Health(ctx context.Context) (RedisHealth, error) {
	var h RedisHealth
	for range 5 { // the first time, a connection is made, and a busy machine may be slow several times
		asked := time.Now()
		now, err := r.client.Time(ctx).Result()
		if err != nil {
			return h, err
		}
		if took := time.Since(asked); h.Away == 0 || took < h.Away {
			h.Ahead, h.Away = now.Sub(asked.Add(took/2)), took
		}
	}
	info, err := r.client.Info(ctx, "server").Result()
	_, refused := errors.AsType[redis.Error](err)
	switch {
	case refused:
		h.Risks = append(h.Risks, "it would not be noticed if it were restarted and had forgotten (INFO is refused)")
	case err != nil:
		return h, err
	}
	tried, _, err := r.apply(ctx, "", redisTrial)
	if h.Writable = err; err == nil { // it expires in about an hour anyway, in case this user may not delete it
		_ = r.client.Del(ctx, fmt.Sprintf("%strial:1:%d", RedisPrefix, tried[0].Start)).Err()
	}
	h.Version = serverInfo(info).version()
	for _, want := range []struct{ setting, value, risk string }{
		{"maxmemory-policy", "noeviction", "counters may be evicted (maxmemory-policy %s)"},
		{"appendonly", "yes", "counters are forgotten when it restarts (appendonly %s)"},
	} {
		got, _ := r.client.ConfigGet(ctx, want.setting).Result() // it may be refused: the risk is unknown then
		if value := got[want.setting]; value != "" && value != want.value {
			h.Risks = append(h.Risks, fmt.Sprintf(want.risk, value))
		}
	}
	return h, nil
}
