package quota_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Whichever operation creates a counter in Redis, it belongs to its own day, is never negative, and expires a
// day and an hour after the day's end: if Redis's clock is ahead for a while, the day that runs again is still counted.
func TestRedisCounters(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	srv := storetest.NewRedis(t)
	r := openRedis(t, srv)
	today := models.PeriodStart(time.Now(), quota.Day)
	yesterday := today - int64(quota.Day/time.Second)
	op := func(kind store.QuotaKind, key string, start, n int64) store.QuotaOp {
		return store.QuotaOp{Kind: kind, Key: key, Period: quota.Day, Start: start, N: n, Need: n, Limit: 100}
	}
	ops := []store.QuotaOp{
		op(store.QuotaTake, "taken", 0, 5), op(store.QuotaTake, "taken", 0, 1), op(store.QuotaFloor, "taken", today, 2), op(store.QuotaTake, "once", 0, 4),
		op(store.QuotaAdd, "added", today, 7), op(store.QuotaFloor, "known", today, 9),
		op(store.QuotaFloor, "known of yesterday", yesterday, 50), op(store.QuotaPeek, "known of yesterday", 0, 0),
		op(store.QuotaAdd, "back", today, -3), op(store.QuotaPeek, "back", 0, 0),
	}
	results, _, err := r.ApplyQuota(context.Background(), ops)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{5, 6, 6, 4, 7, 9, 50, 0, 0, 0} {
		if results[i].Used != want {
			t.Errorf("%s: %d used, want %d", ops[i].Key, results[i].Used, want)
		}
	}
	client := srv.Client(t)
	day := models.DateOf(time.Unix(today, 0).UTC())
	for key, ends := range map[string]models.Date{"taken": day + 1, "once": day + 1, "added": day + 1, "known": day + 1} {
		name := quota.RedisPrefix + key + ":" + (ends - 1).String()
		left, err := client.TTL(context.Background(), name).Result()
		if want := time.Until(ends.Time()) + 25*time.Hour; err != nil || (left-want).Abs() > 10*time.Second {
			t.Errorf("%s goes in %s, want %s, %v", name, left, want, err)
		}
	}
}

// A counter's key ends with its UTC day, also in leap years, at the ends of months and of centuries.
func TestRedisKeysOfDays(t *testing.T) {
	t.Parallel()
	srv := storetest.NewRedis(t)
	client := srv.Client(t)
	for _, day := range []string{
		"2027-01-01", "2027-02-28", "2027-03-01", "2027-04-30", "2027-12-31", "2028-02-29", "2028-03-01", "2028-12-31", "2096-02-29", "2100-02-28", "2100-03-01", "2101-01-31",
	} {
		noon, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		skew := time.Until(noon.Add(12 * time.Hour))
		r, err := quota.OpenRedis(srv.URL(), func() time.Duration { return skew })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if _, _, err := r.ApplyQuota(t.Context(), []store.QuotaOp{{Kind: store.QuotaTake, Key: day, Period: quota.Day, Need: 3, Limit: 100}}); err != nil {
			t.Fatal(err)
		}
		if used, err := client.Get(t.Context(), quota.RedisPrefix+day+":"+day).Result(); err != nil || used != "3" {
			keys, _ := client.Keys(t.Context(), "*"+day+":*").Result()
			t.Errorf("%s: %q, %v, but %q", day, used, err, keys)
		}
	}
}

// A Redis that counts a request and whose answer gets lost is not asked to count it again.
func TestRedisCountsOnceWhenAnAnswerIsLost(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	srv := storetest.NewRedis(t)
	var lose atomic.Bool
	address := storetest.Link(t, srv.Socket(), func(net.Conn) (sent, answered func([]byte) bool) {
		return nil, func([]byte) bool { return !lose.CompareAndSwap(true, false) }
	})
	r, err := quota.OpenRedis("redis://"+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	one := []store.QuotaOp{{Kind: store.QuotaTake, Key: "acc", Period: quota.Day, Need: 1, Limit: 100}}
	if _, _, err := r.ApplyQuota(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	lose.Store(true)
	if _, _, err := r.ApplyQuota(t.Context(), one); !errors.Is(err, store.ErrQuotaUnclear) {
		t.Errorf("the answer is lost, and the error is %v", err)
	}
	if got := counted(t, r, "acc"); got != 2 {
		t.Errorf("%d counted, want 2", got)
	}
}
