package quota_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models/store/storetest"
)

// A node says once that its clock is more than a minute from Redis's, whose day the quotas follow.
func TestClockOfRedisThatIsWrongIsTold(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	r, err := quota.OpenRedis(storetest.NewRedis(t).URL(), func() time.Duration { return time.Duration(ahead.Load()) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	ahead.Store(int64(48 * time.Hour))
	n := watch(t, r, quota.Options{Volatile: true, Replaceable: true})
	t.Cleanup(func() { _ = n.Close(context.Background()) })
	said := func(what string) func() bool { return func() bool { return strings.Contains(n.log.String(), what) } }
	storetest.Until(t, "the clocks to be apart", said("ahead=-48h0m0s"))
	ahead.Store(0)
	storetest.Until(t, "the clocks to agree", said(`agree again" other=Redis's`))
	if text := n.log.String(); strings.Count(text, "level=WARN") != 1 {
		t.Error(text)
	}
}
