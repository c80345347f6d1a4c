package quota_test

import (
	"slices"
	"testing"

	"lottery/models/store/storetest"
)

// Health names each setting with which Redis may forget counts, and none that does not let it.
func TestRedisSettingsThatForget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ settings, risks []string }{
		{nil, nil},
		{[]string{"--maxmemory-policy", "allkeys-lru"}, []string{"counters may be evicted (maxmemory-policy allkeys-lru)"}},
		{[]string{"--appendonly", "no"}, []string{"counters are forgotten when it restarts (appendonly no)"}},
	} {
		h, err := openRedis(t, storetest.NewRedis(t, c.settings...)).Health(t.Context())
		if err != nil || h.Writable != nil || !slices.Equal(h.Risks, c.risks) {
			t.Errorf("%q: %+v, %v", c.settings, h, err)
		}
	}
}
