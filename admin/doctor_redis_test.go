package admin_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// A Redis that refuses writes or is down, and a wrong clock, are each reported, and the rest is still checked.
func TestDoctorOfRedisAndClock(t *testing.T) {
	t.Parallel()
	redis := storetest.NewRedis(t)
	d := newDesk(t)
	d.redis = redis.URL()
	d.run(0, "db", "migrate")
	examine := func(ahead time.Duration, code int) map[string]string {
		t.Helper()
		d.now = time.Now().Add(ahead)
		out, _ := d.run(code, "doctor", "-o", "json")
		var list []struct{ Check, Status string }
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err, out)
		}
		found := map[string]string{}
		for _, f := range list {
			found[f.Check] = f.Status
		}
		return found
	}
	if found := examine(0, 0); found["redis"] != "ok" && found["redis"] != "warning" || found["clock"] != "ok" {
		t.Errorf("well: %v", found)
	}
	if found := examine(2*time.Hour, 1); found["clock"] != "failed" || found["database"] != "ok" {
		t.Errorf("a clock two hours ahead: %v", found)
	}
	// Reads still work, while every request would be admitted from memory.
	client := redis.Client(t)
	for _, c := range []struct{ takes, heals []any }{
		{[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}},
		{[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}},
		{[]any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}},
	} {
		if err := client.Do(t.Context(), c.takes...).Err(); err != nil {
			t.Fatal(err)
		}
		if found := examine(0, 1); found["redis"] != "failed" {
			t.Errorf("Redis after %v: %v", c.takes, found)
		}
		if err := client.Do(t.Context(), c.heals...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if keys, err := client.Keys(t.Context(), "*").Result(); err != nil || len(keys) > 0 {
		t.Errorf("the doctor left %q, %v", keys, err)
	}
	redis.Stop()
	if found := examine(0, 1); found["redis"] != "failed" || found["database"] != "ok" || found["permissions"] == "" {
		t.Errorf("Redis away: %v", found)
	}
}

// Where the Redis user may not choose a database, the remedy is a right, not a password.
func TestDoctorOfRedisRights(t *testing.T) {
	t.Parallel()
	redis := storetest.NewRedis(t)
	if err := redis.Client(t).Do(t.Context(), "ACL", "SETUSER", "few", "on", ">secret", "+time", "+eval").Err(); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	d.redis = "unix://few:secret@" + redis.Socket() + "?db=1"
	out, said := d.run(1, "doctor", "-o", "csv")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "redis,") {
			if !strings.Contains(line, "its user may SELECT") || strings.Contains(line, "password") {
				t.Error(line)
			}
			return
		}
	}
	t.Errorf("no line about Redis: %s%s", out, said)
}

// A Redis in protected mode, which is how it is delivered, hangs up on other machines. Its reason is not always read: the
// doctor tells what to do without it.
func TestDoctorOfRedisInProtectedMode(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"", "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set\r\n"} {
		d := newDesk(t)
		d.redis = "redis://" + storetest.Listen(t, func(client net.Conn) {
			_, _ = client.Write([]byte(says))
			_ = client.Close()
		})
		if out, said := d.run(1, "doctor", "-o", "json"); !strings.Contains(out, "requirepass") {
			t.Errorf("%q: %s%s", says, out, said)
		}
	}
}

// A Redis that answers, but from far away, is reported like such a database.
func TestDoctorFarFromRedis(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Time{}
	d.run(0, "db", "migrate")
	d.redis = "redis://" + storetest.OverTCP(t, storetest.NewRedis(t).Socket(), far)
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, " ms away") || !strings.Contains(out, "nearer to Redis") || !strings.Contains(out, " 0s from Redis's") {
		t.Error(out)
	}
}
